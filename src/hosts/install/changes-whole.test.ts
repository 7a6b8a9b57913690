import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { performChanges, planInstall, planUninstall, wholeFileMark } from './changes.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'untildone-whole-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const path = (): string => join(root, 'plugin', 'untildone.js');

function change(action: typeof planInstall, project: string, version: string): void {
  const text = `${wholeFileMark} ${version}\n`;
  const target = { path: path(), format: 'whole', isOurs: true, edits: [{ kind: 'whole', text }] } as const;
  const identity = { host: 'a-host', scope: 'project', project, version } as const;
  const state = join(root, 'state');
  expect(performChanges([action(target, identity, state)], state)).toBeNull();
}

describe('a file that is ours as a whole', () => {
  it('C1: is that of the newest install, whichever project made it, and goes with the last one', () => {
    const versionNow = (): string => readFileSync(path(), 'utf8').slice(wholeFileMark.length).trim();
    change(planInstall, '/one', '1.0.0');
    change(planInstall, '/other', '2.0.0');
    change(planInstall, '/one', '3.0.0');
    expect(versionNow()).toBe('3.0.0');
    change(planUninstall, '/other', '3.0.0');
    expect(versionNow()).toBe('3.0.0');
    change(planUninstall, '/one', '3.0.0');
    expect(existsSync(join(root, 'plugin')), 'with the folder that was made for it').toBe(false);
  });
});

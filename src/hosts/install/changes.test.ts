import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FileChange,
  type FileTarget,
  performChanges,
  planInstall,
  planUninstall,
  readRecord,
  readRecords,
} from './changes.ts';

let root: string;
let state: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'untildone-perform-'));
  state = join(root, 'state');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const identity = { host: 'claude-code', scope: 'user', project: null, version: '1.0.0' } as const;

function targetAt(name: string): FileTarget {
  return { path: join(root, name), format: 'json', edits: [{ kind: 'member', path: ['a'], value: 1 }] };
}

function plan(name: string, action: typeof planInstall = planInstall): FileChange {
  return action(targetAt(name), identity, state);
}

describe('carrying out changes', () => {
  it('V5: when a file changed under our hands, it stays, and those written before go back with their records', () => {
    writeFileSync(join(root, 'first.json'), '{}');
    const changes = [plan('first.json'), plan('made/here/second.json'), plan('third.json')];
    writeFileSync(join(root, 'third.json'), 'somebody else');
    expect(performChanges(changes, state)).toBe(
      `${join(root, 'third.json')} was changed by another program in this moment; try again. Nothing was changed.`,
    );
    expect(readFileSync(join(root, 'first.json'), 'utf8')).toBe('{}');
    expect(existsSync(join(root, 'made'))).toBe(false);
    expect(readFileSync(join(root, 'third.json'), 'utf8')).toBe('somebody else');
    expect(readRecords(state)).toEqual([]);
  });

  it('V5: a failed uninstall keeps what it needs to try again', () => {
    expect(performChanges([plan('first.json'), plan('second.json')], state)).toBeNull();
    const changes = [plan('first.json', planUninstall), plan('second.json', planUninstall)];
    writeFileSync(join(root, 'second.json'), '{ "a": 1, "b": 2 }');
    expect(performChanges(changes, state)).toContain('second.json was changed');
    expect(JSON.parse(readFileSync(join(root, 'first.json'), 'utf8'))).toEqual({ a: 1 });
    expect(readRecord(state, join(root, 'first.json'))).not.toBeNull();
    const again = [plan('first.json', planUninstall), plan('second.json', planUninstall)];
    expect(performChanges(again, state)).toBeNull();
    expect(existsSync(join(root, 'first.json'))).toBe(false);
    expect(readFileSync(join(root, 'second.json'), 'utf8')).toBe('{ "b": 2 }');
    expect(readRecords(state)).toEqual([]);
  });

  it('V5: a folder that somebody put something into stays', () => {
    expect(performChanges([plan('made/here/x.json')], state)).toBeNull();
    mkdirSync(join(root, 'made/other'));
    expect(performChanges([plan('made/here/x.json', planUninstall)], state)).toBeNull();
    expect(existsSync(join(root, 'made/here'))).toBe(false);
    expect(existsSync(join(root, 'made/other'))).toBe(true);
  });
});

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { processIo } from './io.ts';
import { withoutProjectVariables } from './project-environment.ts';

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'untildone-environment-'));
});

describe('V10: a program of ours that a host starts', () => {
  const environmentWith = (env: Record<string, string>) =>
    withoutProjectVariables({ ...processIo(), cwd: project, env });

  it('V10: ignores what the project sets for any host', async () => {
    mkdirSync(join(project, '.claude'));
    writeFileSync(
      join(project, '.claude/settings.json'),
      '{"env":{"UNTILDONE_MODE":"off","DATABASE_URL":"x"}}',
    );
    writeFileSync(join(project, '.env'), 'UNTILDONE_HOME=/theirs\nGEMINI_CLI=1\n');
    const env = {
      UNTILDONE_MODE: 'off',
      UNTILDONE_HOME: '/theirs',
      DATABASE_URL: 'x',
      TMPDIR: '/mine',
    };
    const { own, warning } = await environmentWith({ ...env, GEMINI_CLI: '1' });
    expect(own.env).toEqual({ DATABASE_URL: 'x', TMPDIR: '/mine' });
    expect(warning).toContain(
      'set UNTILDONE_MODE, UNTILDONE_HOME, GEMINI_CLI: that is ignored',
    );
  });

  it('V10: keeps its environment as it is if the project sets nothing', async () => {
    const env = { UNTILDONE_HOME: '/mine', PATH: '/bin' };
    expect(await environmentWith(env)).toMatchObject({ own: { env }, warning: null });
  });
});

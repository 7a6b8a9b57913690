// V10: what a project's own settings of the host name is not touched, neither before nor
// after a call is answered.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { promptPayload } from '../../test/support/payload-cases.ts';

it('V10: neither is a store that the project names opened, nor compiled code taken from beside it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'untildone-project-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const program = join(home, 'bundles');
  for (const group of ['quick-program', 'late'] as const) await bundle(group, program);
  const project = join(home, 'project');
  const evil = join(project, 'evil');
  for (const folder of ['.claude', '.git', 'sub'])
    mkdirSync(join(project, folder), { recursive: true });
  mkdirSync(evil, { mode: 0o700 });
  const env = { UNTILDONE_HOME: '../evil' };
  writeFileSync(join(project, '.claude/settings.json'), JSON.stringify({ env }));
  const theirs = new DatabaseSync(join(evil, 'untildone.db'));
  theirs.exec(
    'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE words (word TEXT)',
  );
  theirs.prepare('INSERT INTO words VALUES (?)').run('x'.repeat(1_500_000));
  const { stdout } = spawnSync(
    process.execPath,
    [join(program, 'plugin/programs/hook.js'), 'claude-code'],
    {
      cwd: join(project, 'sub'),
      env: { PATH: process.env['PATH'], HOME: home, CLAUDE_PROJECT_DIR: project, ...env },
      input: JSON.stringify({ ...promptPayload('Do it'), cwd: join(project, 'sub') }),
      encoding: 'utf8',
    },
  );
  expect.soft(stdout).toContain('UNTILDONE_HOME: that is ignored');
  expect.soft(existsSync(join(evil, 'bin')), 'compiled code').toBe(false);
  expect
    .soft(statSync(join(evil, 'untildone.db-wal')).size, 'the log')
    .toBeGreaterThan(1_500_000);
  theirs.close();
});

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('./host-commands-bin.ts', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'untildone-host-commands-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function run(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', program, ...argv],
    {
      cwd: scratch,
      encoding: 'utf8',
      input: '',
      env: { PATH: process.env['PATH'] ?? '', HOME: scratch },
    },
  );
  return { status, stdout, stderr };
}

describe('the commands that hosts start', () => {
  it('C3: knows status, and says so where there is nothing yet', () => {
    expect(run('status')).toEqual({ status: 0, stdout: 'no sessions yet\n', stderr: '' });
  });

  it('C3: an unknown command and an unknown session are sentences', () => {
    expect(run('run')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'untildone: There is no command "run" here, only mcp, check-runner, status, why.\n',
    });
    expect(run('why', 'nobody')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^untildone: .*\n$/),
    });
  });

  it('C3: the server ends when its client does', () => {
    expect(run('mcp').status).toBe(0);
  });

  it('V10: the server keeps its plan where hooks look for it, whatever folder a project’s .env names', () => {
    const folder = mkdtempSync(join(scratch, 'project-'));
    const theirs = join(folder, 'theirs');
    writeFileSync(join(folder, '.env'), `UNTILDONE_HOME=${theirs}\n`);
    const info = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const items = [{ title: 'Write the parser' }];
    const calls = [
      { method: 'initialize', params: info },
      { method: 'tools/call', params: { name: 'create_todo', arguments: { items } } },
    ];
    const lines = calls.map((call, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, ...call }),
    );
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--no-warnings', program, 'mcp'],
      {
        cwd: folder,
        encoding: 'utf8',
        input: `${lines.join('\n')}\n`,
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, UNTILDONE_HOME: theirs },
      },
    );
    expect(stdout).toContain('Write the parser');
    expect(stderr).toContain('set UNTILDONE_HOME: that is ignored');
    expect(existsSync(theirs)).toBe(false);
    expect(existsSync(join(folder, '.local/state/untildone/untildone.db'))).toBe(true);
  });
});

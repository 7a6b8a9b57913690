import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findProcessTree, startCommand } from './process.ts';

const source = fileURLToPath(new URL('./process.ts', import.meta.url));

describe('startCommand', () => {
  it.runIf(process.platform === 'linux')(
    'V5: kill -9 of our own process ends the command and its children',
    async () => {
      const mark = `TEST_MARK=guardian-${process.pid}`;
      const program = `
      import { startCommand } from ${JSON.stringify(source)};
      startCommand({ command: 'sleep 100 & sleep 100 & wait', directory: '/', endGraceMs: 100, onOutput() {},
        environment: { PATH: process.env.PATH, TEST_MARK: ${JSON.stringify(mark.slice('TEST_MARK='.length))} } });
      setTimeout(() => console.log('started'), 200);
      setTimeout(() => {}, 60_000);`;
      const ours = spawn(
        process.execPath,
        ['--input-type=module-typescript', '--no-warnings', '-e', program],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      await once(ours.stdout, 'data');
      await expect.poll(() => findProcessTree({ group: -1, mark }).length).toBe(3);
      ours.kill('SIGKILL');
      await expect
        .poll(() => findProcessTree({ group: -1, mark }), { timeout: 10_000 })
        .toEqual([]);
    },
  );

  it('keeps letters whole when a program writes them in pieces', async () => {
    let output = '';
    const { ended } = startCommand({
      command: "printf '\\303'; sleep 0.1; printf '\\244'",
      directory: '/',
      environment: { PATH: process.env['PATH'] ?? '' },
      endGraceMs: 100,
      onOutput: (text) => {
        output += text;
      },
    });
    expect((await ended).exitCode).toBe(0);
    expect(output).toBe('ä');
  });

  it('a folder that is gone is a result', async () => {
    const settings = {
      command: 'true',
      environment: {},
      endGraceMs: 100,
      onOutput: () => undefined,
    };
    const { ended } = startCommand({ ...settings, directory: '/no/such/folder' });
    expect((await ended).startError).toContain('ENOENT');
  });
});

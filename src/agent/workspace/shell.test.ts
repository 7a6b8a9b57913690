import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryWorkspace,
  errorOf,
  outputOf,
  type TemporaryWorkspace,
} from '../../../test/support/temporary-workspace.ts';
import {
  endMarkedProcesses,
  findProcessTree,
  sessionVariable,
} from '../../checks/process.ts';

/** Every process of this workspace's session that still lives. */
function survivors({ context }: TemporaryWorkspace): number[] {
  return findProcessTree({
    group: -1,
    mark: `${sessionVariable}=${context.environment[sessionVariable]}`,
  });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

describe('shell', () => {
  it('runs in the workspace root and answers exit code and both outputs', async () => {
    const { root, call } = createTemporaryWorkspace();
    const output = outputOf(await call('shell', { command: 'pwd; echo problem >&2' }));
    expect(output).toContain('Exit code 0.');
    expect(output).toContain(root);
    expect(output).toContain('problem');
  });

  it('S6: a non-zero exit and an end by a signal are results, not errors', async () => {
    const { call } = createTemporaryWorkspace();
    expect(outputOf(await call('shell', { command: 'exit 3' }))).toBe(
      'Exit code 3.\n(no output)',
    );
    expect(outputOf(await call('shell', { command: 'kill -SEGV $$' }))).toContain(
      'Ended by signal SIGSEGV',
    );
    expect(outputOf(await call('shell', { command: 'no-such-program-xyz' }))).toContain(
      'Exit code 127',
    );
  });

  it('has no input to wait for and no terminal', async () => {
    const { call } = createTemporaryWorkspace();
    expect(
      outputOf(
        await call('shell', {
          command: 'cat; read answer; echo "$? $TERM"; test -t 0 || echo none',
        }),
      ),
    ).toBe('Exit code 0.\n1 dumb\nnone');
  });

  it('gives commands a short list of variables and none of our secrets', async () => {
    const workspace = createTemporaryWorkspace();
    const output = outputOf(await workspace.call('shell', { command: 'env' }));
    expect(output).toContain('PATH=');
    expect(output).toContain(`${sessionVariable}=test-`);
    expect(output).not.toMatch(/^(?:VITEST|NODE_OPTIONS|npm_|.*(?:KEY|TOKEN|SECRET))/mu);
  });

  it('keeps the head and the tail of 50 MB', async () => {
    const { call } = createTemporaryWorkspace({ outputCharacters: 2000 });
    const before = process.memoryUsage().rss;
    const output = outputOf(
      await call('shell', {
        command: 'echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last',
      }),
    );
    expect(output).toMatch(
      /^Exit code 0\.\nfirst\nx+\n… 4999\d{4} characters left out …\nx+\nlast$/u,
    );
    expect(output.length).toBeLessThan(2100);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('Must hold 6: breakOut sequences in the output reach nobody', async () => {
    const { call } = createTemporaryWorkspace();
    const command = `printf '\\033]52;c;ZXZpbA==\\007\\033[31mred\\033[0m\\r\\nover\\rwritten'`;
    expect(outputOf(await call('shell', { command }))).toBe(
      'Exit code 0.\nred\nover\nwritten',
    );
  });

  it('ends at its time limit with all 200 children', async () => {
    const workspace = createTemporaryWorkspace({ commandMs: 1500 });
    const command =
      'i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done; echo started; wait';
    const took = await seconds(async () => {
      const error = errorOf(await workspace.call('shell', { command }));
      expect(error).toMatch(/did not end within 1\.5 s.*start_job.*started/su);
    });
    expect(took).toBeLessThan(10);
    expect(survivors(workspace)).toEqual([]);
  });

  it('ends a command that ignores SIGTERM, after the grace', async () => {
    const workspace = createTemporaryWorkspace({ commandMs: 300 });
    const command = 'trap "" TERM; echo ready; while :; do sleep 0.05; done';
    const took = await seconds(async () =>
      expect(errorOf(await workspace.call('shell', { command }))).toContain('ready'),
    );
    expect(took).toBeGreaterThan(0.55);
    expect(took).toBeLessThan(8);
    expect(survivors(workspace)).toEqual([]);
  });

  it('gives a command that heeds SIGTERM the time to tidy up', async () => {
    const workspace = createTemporaryWorkspace({ commandMs: 300, endGraceMs: 5000 });
    const command =
      'trap "sleep 0.2; echo tidy > tidy.txt; exit" TERM; while :; do sleep 0.05; done';
    errorOf(await workspace.call('shell', { command }));
    expect(readFileSync(join(workspace.root, 'tidy.txt'), 'utf8')).toBe('tidy\n');
  });

  it.runIf(process.platform === 'linux')(
    'ends what moved to a session of its own and was orphaned, at the time limit and at a normal end',
    async () => {
      const workspace = createTemporaryWorkspace({ commandMs: 1000 });
      const breakOut =
        'setsid sh -c "(trap \'\' TERM; echo x > escaped; exec sleep 100) & exit" >/dev/null 2>&1';
      errorOf(await workspace.call('shell', { command: `${breakOut}; sleep 100` }));
      expect(existsSync(join(workspace.root, 'escaped'))).toBe(true);
      expect(survivors(workspace)).toEqual([]);
      const output = outputOf(await workspace.call('shell', { command: breakOut }));
      expect(output).toMatch(
        /left 1 process running, which were stopped: use start_job/u,
      );
      expect(survivors(workspace)).toEqual([]);
    },
  );

  it('does not wait for what a command left in the background', async () => {
    const workspace = createTemporaryWorkspace();
    const took = await seconds(async () => {
      expect(
        outputOf(await workspace.call('shell', { command: 'sleep 100 & echo done' })),
      ).toContain('left 1 process');
    });
    expect(took).toBeLessThan(8);
    expect(survivors(workspace)).toEqual([]);
  });

  it('ends with the signal, and does not start after it', async () => {
    const controller = new AbortController();
    const workspace = createTemporaryWorkspace({}, controller.signal);
    const running = workspace.call('shell', { command: 'echo begun; sleep 100' });
    setTimeout(() => controller.abort(), 400);
    expect(errorOf(await running)).toMatch(/interrupted and stopped.*begun/su);
    expect(survivors(workspace)).toEqual([]);
    expect(errorOf(await workspace.call('shell', { command: 'touch never' }))).toContain(
      'not started',
    );
    expect(existsSync(join(workspace.root, 'never'))).toBe(false);
  });

  it('says why a command could not be started', async () => {
    const { call } = createTemporaryWorkspace();
    expect(errorOf(await call('shell', { command: 'echo \0' }))).toContain(
      'could not be started',
    );
    expect(errorOf(await call('shell', { command: '' }))).toContain(
      'must be a text of 1 to 30000 characters',
    );
  });

  it.runIf(process.platform === 'linux')(
    'what a killed session left behind is found by its mark',
    async () => {
      const workspace = createTemporaryWorkspace();
      workspace.context.jobs.start('exec sleep 100', 'left behind');
      await expect.poll(() => survivors(workspace).length).toBe(1);
      const mark = `${sessionVariable}=${workspace.context.environment[sessionVariable]}`;
      expect(await endMarkedProcesses(mark, 500)).toEqual({ found: 1, left: 0 });
    },
  );
});

// Commands that fork, flee, flood, hang and print secrets, as real processes.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { commandCheck, contextFor } from '../../test/support/check-cases.ts';
import { createTemporaryFolder } from '../../test/support/temporary-repository.ts';
import { findProcessTree } from './process.ts';
import { runCheck } from './run-check.ts';

/**
 * Every process of the command has this mark, whatever happened to its parent and its
 * group.
 */
function createMark() {
  const value = randomUUID();
  return {
    environment: { PATH: process.env['PATH'], TEST_MARK: value },
    passedOn: { environment: ['TEST_MARK'] },
    alive: () => findProcessTree({ group: -1, mark: `TEST_MARK=${value}` }).length,
  };
}

const flock = 'i=0; while [ $i -lt 200 ]; do sleep 300 & i=$((i+1)); done';
/** Leaves its group, its session and its parent. */
const fugitive = "setsid sh -c 'setsid sleep 301 >/dev/null 2>&1 &' &";

describe.runIf(process.platform === 'linux')('V1: a hostile command', () => {
  it('that outlives its time is ended with 200 children and one that fled', async () => {
    const { root } = createTemporaryFolder();
    const mark = createMark();
    const check = commandCheck(
      { shell: `${fugitive} ${flock}; echo started; wait` },
      { ...mark.passedOn, timeoutMs: 2500 },
    );
    const running = runCheck(check, contextFor(root, { environment: mark.environment }));
    await expect.poll(mark.alive, { timeout: 10_000 }).toBeGreaterThan(100);
    const result = await running;
    expect(result).toMatchObject({ result: 'failed', timedOut: true, exitCode: null });
    expect(result.sentence).toContain('did not end within 2.5 s and was stopped');
    expect(mark.alive()).toBe(0);
  });

  it('that ends by itself takes everything with it that it left behind', async () => {
    const { root } = createTemporaryFolder();
    const mark = createMark();
    const check = commandCheck(
      { shell: `${fugitive} sleep 300 & sleep 0.3; echo done` },
      mark.passedOn,
    );
    const result = await runCheck(
      check,
      contextFor(root, { environment: mark.environment }),
    );
    expect(result).toMatchObject({ result: 'passed', tail: 'done' });
    expect(result.sentence).toMatch(/It left 2 processes running, which were stopped\.$/);
    expect(mark.alive()).toBe(0);
  });

  it('that ignores every request to end is ended all the same', async () => {
    const { root } = createTemporaryFolder();
    const mark = createMark();
    const check = commandCheck(
      { shell: "trap '' TERM INT HUP; while :; do sleep 0.1; done" },
      { ...mark.passedOn, timeoutMs: 300 },
    );
    const result = await runCheck(
      check,
      contextFor(root, { environment: mark.environment }),
    );
    expect(result).toMatchObject({ result: 'failed', timedOut: true });
    expect(result.milliseconds).toBeLessThan(15_000);
    expect(mark.alive()).toBe(0);
  });

  it('ends with the signal of its caller, and was not even started after it', async () => {
    const { root } = createTemporaryFolder();
    const mark = createMark();
    const stop = new AbortController();
    const context = contextFor(root, {
      environment: mark.environment,
      signal: stop.signal,
    });
    const check = commandCheck({ shell: 'sleep 300 & sleep 300' }, mark.passedOn);
    const running = runCheck(check, context);
    await expect.poll(mark.alive, { timeout: 10_000 }).toBeGreaterThan(1);
    stop.abort();
    expect(await running).toMatchObject({ result: 'failed', timedOut: false });
    expect(mark.alive()).toBe(0);
    expect((await runCheck(check, context)).sentence).toContain('was not started');
  });

  it('that prints a gigabyte costs no memory, and its last line is kept', async () => {
    const { root } = createTemporaryFolder();
    const before = process.memoryUsage.rss();
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 50);
    const flood = 'head -c 1000000000 /dev/zero | tr "\\0" "x"; echo; echo the last line';
    const result = await runCheck(
      commandCheck({ shell: flood }, { timeoutMs: 60_000, expectOutput: 'last line' }),
      contextFor(root),
    );
    clearInterval(sampling);
    expect(result.result).toBe('passed');
    expect(result.tail).toHaveLength(8192);
    expect(result.tail.endsWith('x\nthe last line')).toBe(true);
    expect(most - before).toBeLessThan(300 * 1024 * 1024);
  }, 60_000);
});

describe('V1: a secret of the environment', () => {
  const secret = 'sk-live-0123456789abcdef';
  const environment = { PATH: process.env['PATH'], PAYMENT_API_KEY: secret };
  const printing = (script: string) =>
    commandCheck({ shell: script }, { environment: ['PAYMENT_API_KEY'], expectExit: 1 });

  it.each([
    ['at once', 'echo "key: $PAYMENT_API_KEY."; exit 1', 'key: [masked].'],
    [
      'in pieces',
      'printf "key: sk-live-0123"; sleep 0.2; echo "456789abcdef."; exit 1',
      'key: [masked].',
    ],
    [
      'on both outputs',
      'echo "$PAYMENT_API_KEY"; echo "$PAYMENT_API_KEY" >&2; exit 1',
      '[masked]\n[masked]',
    ],
    [
      'with colours in it',
      'printf "sk-live-\\033[1m0123456789\\033[0mabcdef\\n"; exit 1',
      '[masked]',
    ],
  ])('never reaches the evidence, printed %s', async (_how, script, tail) => {
    const { root } = createTemporaryFolder();
    expect(
      await runCheck(printing(script), contextFor(root, { environment })),
    ).toMatchObject({
      result: 'passed',
      tail,
    });
  });

  it('never reaches the evidence where the tail begins inside it', async () => {
    const { root } = createTemporaryFolder();
    for (const padding of [8180, 8168, 8192]) {
      const script = `echo "$PAYMENT_API_KEY"; head -c ${padding} /dev/zero | tr "\\0" "."; exit 1`;
      const { tail } = await runCheck(
        printing(script),
        contextFor(root, { environment }),
      );
      expect(tail).not.toMatch(/[0-9]/);
    }
  });

  it('never reaches the evidence by the sentence either', async () => {
    const { root } = createTemporaryFolder();
    const checks = [
      commandCheck(['sh', '-c', `echo ${secret}; exit 2`]),
      commandCheck([`no-such-program-${secret}`]),
      commandCheck(['echo', 'x'], { expectOutput: `^${secret}$` }),
      commandCheck(['echo', 'x'], { directory: secret }),
      commandCheck({ shell: `${'true; '.repeat(31)} echo ${secret}` }),
    ];
    for (const check of checks) {
      const result = await runCheck(check, contextFor(root, { environment }));
      expect(JSON.stringify(result)).not.toMatch(/sk-live|abcdef|0123/);
    }
  });
});

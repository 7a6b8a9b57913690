import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  killedAsker,
  killedGroup,
  manyAskers,
  manyHooks,
} from '../../test/evidence/queue-proofs.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { type CheckSpec, createCommandCheck } from '../core/check-specs.ts';
import type { CheckAsker, CheckRun } from '../engine/host.ts';
import { systemClock } from '../engine/system.ts';
import { createSequentialIdentifiers } from '../simulated/simulated-clock.ts';
import {
  askForChecks,
  type CheckQuestion,
  cancelChecks,
  type QueuePlace,
  runQueue,
} from './checker.ts';
import { findProcessTree } from './process.ts';

function createQueue() {
  const directory = mkdtempSync(join(tmpdir(), 'untildone-queue-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = createMemoryStore();
  const place = {
    store,
    clock: systemClock,
    identifiers: createSequentialIdentifiers(),
    directory,
  };
  const run = (
    holder: string,
    environment: Record<string, string | undefined> = process.env,
  ) => runQueue({ store, clock: systemClock, directory, holder, environment });
  const runOf = (id: string): Promise<CheckRun | null> =>
    (async () => (await store.checkRuns({ id }))[0] ?? null)();
  return { directory, store, place, run, runOf };
}

/** The holder of a new lease; null: someone works through the queue. */
const reviveQueue = async (place: QueuePlace) => (await askForChecks(place, [])).start;
const shell = (line: string): CheckSpec => createCommandCheck('check', { shell: line });
const asker = (sessionId: string, changes: Partial<CheckAsker> = {}): CheckAsker => ({
  sessionId,
  todoId: null,
  final: true,
  writes: 0,
  ...changes,
});
const question = (spec: CheckSpec, ...askers: CheckAsker[]): CheckQuestion => ({
  spec,
  askers,
  fingerprint: 'tree',
  exclude: [],
});

describe('asking for a check', () => {
  it('V1: the same check on the same files is one run for all who ask, and one runner is started', async () => {
    const { place } = createQueue();
    const sessions = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const asked = await Promise.all(
      sessions.map((id) => askForChecks(place, [question(shell('true'), asker(id))])),
    );
    expect(new Set(asked.flatMap(({ runs }) => runs)).size).toBe(1);
    expect(asked.filter(({ start }) => start !== null)).toHaveLength(1);
  });

  it('V2: another command, another state of the files or files that count otherwise are another run', async () => {
    const { place } = createQueue();
    const first = question(shell('true'), asker('a'));
    const others = [
      question(shell('false'), asker('a')),
      { ...first, fingerprint: 'other tree' },
      { ...first, exclude: ['PLAN.md'] },
      { ...first, fingerprint: null },
      { ...first, fingerprint: null },
    ];
    const { runs } = await askForChecks(place, [first, ...others]);
    expect(new Set(runs).size).toBe(6);
  });

  it('V2: a stop does not share the run of a claim; M8: a question in between shares the run of a stop', async () => {
    const { place, runOf } = createQueue();
    const ask = async (...askers: CheckAsker[]): Promise<string> =>
      (await askForChecks(place, [question(shell('true'), ...askers)])).runs[0] ?? '';
    const claim = await ask(asker('a', { final: false }));
    const stop = await ask(asker('a'));
    expect(stop).not.toBe(claim);
    const { place: fresh, runOf: freshRun } = createQueue();
    const first =
      (await askForChecks(fresh, [question(shell('true'), asker('a'))])).runs[0] ?? '';
    const again = await askForChecks(fresh, [
      question(shell('true'), asker('a', { final: false, writes: 7 })),
    ]);
    expect(again.runs).toEqual([first]);
    // The session that asked at its stop still counts as stopped.
    expect((await freshRun(first))?.askers).toEqual([asker('a')]);
    expect((await runOf(claim))?.askers).toEqual([asker('a', { final: false })]);
  });

  it('V1: the session that asks no longer is taken off; the run is cancelled only when nobody is left', async () => {
    const { place, runOf } = createQueue();
    const { runs } = await askForChecks(place, [
      question(shell('true'), asker('a'), asker('b')),
    ]);
    await cancelChecks(place, 'a');
    expect(await runOf(runs[0] ?? '')).toMatchObject({
      state: 'asked',
      askers: [asker('b')],
    });
    await cancelChecks(place, 'b');
    expect(await runOf(runs[0] ?? '')).toMatchObject({ state: 'cancelled', askers: [] });
  });

  it('V1: a queue whose runner is silent for too long is taken over, and not before', async () => {
    const { place } = createQueue();
    await askForChecks(place, [question(shell('true'), asker('a'))]);
    expect(await reviveQueue(place)).toBeNull();
    const later = {
      ...place,
      clock: { ...systemClock, now: () => systemClock.now() + 16_000 },
    };
    expect(await reviveQueue(later)).not.toBeNull();
  });
});

describe('working through the queue', () => {
  it('V1: what a dead runner had begun is begun again by the next one', async () => {
    const { place, store, run, runOf, directory } = createQueue();
    const { runs, start } = await askForChecks(place, [
      question(shell('echo x >> ran'), asker('a')),
    ]);
    const [id = ''] = runs;
    const begun = await runOf(id);
    if (begun === null) throw new Error('There is no run.');
    await store.changeChecks(begun.directory, null, () => ({
      result: null,
      runs: [{ ...begun, state: 'running' }],
    }));
    await run(start ?? '');
    expect(await runOf(id)).toMatchObject({
      state: 'finished',
      finding: { result: 'passed' },
    });
    expect(readFileSync(join(directory, 'ran'), 'utf8')).toBe('x\n');
    // The lease is given back, so the next asker starts a runner.
    expect(await reviveQueue(place)).not.toBeNull();
  });

  it('V1: a runner that does not hold the lease does nothing', async () => {
    const { place, run, runOf } = createQueue();
    const { runs } = await askForChecks(place, [question(shell('true'), asker('a'))]);
    await run('somebody else');
    expect(await runOf(runs[0] ?? '')).toMatchObject({ state: 'asked' });
  });

  it('V1: one that has lost its lease ends its check and leaves the result to the other', async () => {
    const { place, store, run, runOf, directory } = createQueue();
    const { runs, start } = await askForChecks(place, [
      question(shell('sleep 30'), asker('a')),
    ]);
    const running = run(start ?? '');
    await expect.poll(async () => (await runOf(runs[0] ?? ''))?.state).toBe('running');
    const now = systemClock.now();
    await store.lease(`checks ${directory}`, start ?? '', now, null);
    await store.lease(`checks ${directory}`, 'other', now, now + 60_000);

    await running;
    expect(await runOf(runs[0] ?? '')).toMatchObject({ state: 'running', finding: null });
  });

  it('V1: a cancelled check is ended with its whole process tree', async () => {
    const { place, run, runOf } = createQueue();
    const mark = `QUEUE_MARK=${Math.random()}`;
    const [name = '', value = ''] = mark.split('=');
    const spec = {
      ...createCommandCheck('check', { shell: 'sleep 300 & setsid sleep 300 & wait' }),
      environment: [name],
    };
    const { runs, start } = await askForChecks(place, [question(spec, asker('a'))]);
    const alive = (): number => findProcessTree({ group: -1, mark }).length;
    const running = run(start ?? '', { ...process.env, [name]: value });
    await expect.poll(alive, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    await cancelChecks(place, 'a');
    await running;
    expect(alive()).toBe(0);
    expect(await runOf(runs[0] ?? '')).toMatchObject({
      state: 'cancelled',
      finding: null,
    });
  });

  it('V1: everyone who asked hears of it, also who came while it ran', async () => {
    const { place, store, run, runOf } = createQueue();
    const { runs, start } = await askForChecks(place, [
      question(shell('sleep 0.5'), asker('a')),
    ]);
    const running = run(start ?? '');
    await expect.poll(async () => (await runOf(runs[0] ?? ''))?.state).toBe('running');
    await askForChecks(place, [
      question(shell('sleep 0.5'), asker('b', { todoId: 'todo' })),
    ]);
    await running;
    for (const [sessionId, todoId] of [
      ['a', null],
      ['b', 'todo'],
    ] as const) {
      const inbox = (await store.events({ sessionId, waiting: true })).map(
        ({ event }) => event,
      );
      expect(inbox).toMatchObject([{ type: 'check-finished', result: 'passed', todoId }]);
      const evidence = await store.evidence(sessionId, 9);
      expect(evidence).toMatchObject([{ result: 'passed', todoId }]);
    }
  });
});

describe.runIf(process.platform === 'linux')('with real processes', () => {
  it.each([
    ['processes that ask for the same check start it once', manyAskers(6)],
    ['hooks that stop at once start it once', manyHooks(4)],
    [
      'when the asker is killed, the result still reaches the inbox of its session',
      killedAsker,
    ],
    [
      'the runner survives the end of the whole process group of its starter',
      killedGroup,
    ],
  ])('V1: %s', async (_what, prove) => {
    expect(await prove()).toEqual([]);
  });
});

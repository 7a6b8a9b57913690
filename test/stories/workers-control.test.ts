// The human's hand on a worker, and a run that dies while one is at work (C3, P19, V5).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { noAsking } from '../../src/agent/loop/tool-calls.ts';
import type { HumanControl } from '../../src/agent/run-agent.ts';
import type { Event } from '../../src/core/events.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import {
  complete,
  firstOf,
  listTodos,
  plan,
  repeat,
  runCommand,
  say,
  stall,
  when,
  whenToolFailed,
  writeFile,
} from '../../src/scripted-model/index.ts';
import type { Happening } from '../properties/core-driver.ts';
import { briefOf, delegate, report, workerSessions } from './delegating.ts';
import { createMortalStore, type Death } from './mortal-store.ts';
import { type Played, type Stage, setStage } from './play.ts';
import { protocols } from './protocols.ts';
import { ending, eventsOf, lastResults, statuses } from './seen.ts';

const protocol = protocols[2]!;
const alpha = { title: 'Write alpha', agentType: 'coder' };
const retried = repeat(
  Number.POSITIVE_INFINITY,
  whenToolFailed(listTodos(), delegate('Write alpha')),
);
const supervisor = [
  plan(alpha),
  delegate('Write alpha'),
  retried,
  complete('Write alpha'),
  say('Done.'),
];

/** What another terminal does: an event for the session, through an engine of its own. */
async function fromElsewhere({ store, sessionId }: Stage, event: Happening) {
  const identifiers = createIdentifiers(systemClock);
  const policy = () => {
    throw new Error('the session has a policy of its own');
  };
  const runtime = createRuntime({
    store,
    clock: systemClock,
    identifiers,
    hash: sha256,
    policy,
  });
  await runtime.handle({
    ...event,
    id: identifiers.next(),
    sessionId,
    at: Date.now(),
  } as Event);
}

/** Runs until the worker's command has started, then lets `act` happen. */
async function interrupted(
  act: (stage: Stage, control: HumanControl) => Promise<void>,
  coder = [runCommand('sleep 30'), report()],
): Promise<Played & { readonly tookMs: number }> {
  let control: HumanControl | null = null;
  let reached = (): void => {};
  const atWork = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const stage = await setStage({
    protocol,
    steps: supervisor,
    workers: { coder },
    onControl: (given) => {
      control = given;
    },
    watch: (event) => {
      if (event.type === 'tool-started' && event.tool === 'shell') reached();
    },
  });
  const running = stage.run();
  await atWork;
  const before = performance.now();
  if (control === null) throw new Error('nobody got the control');
  await act(stage, control);
  const played = await running;
  return { ...played, tookMs: performance.now() - before };
}

describe('an interrupt while a worker is at work', () => {
  it('C3 P19: stop from another terminal reaches it at once, and nothing is sent any more', async () => {
    const played = await interrupted((stage) =>
      fromElsewhere(stage, { type: 'human-aborted', how: 'stop' }),
    );
    expect(ending(played)).toMatchObject({ outcome: 'aborted', exitCode: 130 });
    expect(played.tookMs).toBeLessThan(5000);
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'interrupted' }]);
    expect(played.session.delegation?.ended?.result).toBe('interrupted');
    expect(played.todos[0]).toMatchObject({ status: 'in_progress', attempts: 0 });
  });

  it('C3: the second Ctrl-C ends it at once', async () => {
    const played = await interrupted(async (_stage, control) => {
      await control.stopAfterStep();
      control.stopNow();
    });
    expect(ending(played)).toMatchObject({ outcome: 'aborted' });
    expect(played.tookMs).toBeLessThan(5000);
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'interrupted' }]);
  });

  it('C3: the first Ctrl-C lets its step finish and begins no other', async () => {
    const played = await interrupted(
      (_stage, control) => control.stopAfterStep(),
      [runCommand('sleep 0.3; echo finished'), writeFile('alpha.txt', 'a'), report()],
    );
    expect(ending(played)).toMatchObject({ outcome: 'aborted' });
    const calls = played.events.filter(
      (event) => event.type === 'tool-ended' && event.tool !== 'create_todo',
    );
    expect(calls).toMatchObject([{ tool: 'shell', ok: true }, { tool: 'delegate' }]);
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'interrupted' }]);
  });

  it('C3: a pause ends it, and after resume the agent hears that it was interrupted and delegates again', async () => {
    const played = await interrupted(
      async (stage) => {
        await fromElsewhere(stage, { type: 'human-paused', reason: null });
        while ((await workerSessions(stage))[0]?.lastStop == null) await sleep(10);
        await fromElsewhere(stage, { type: 'human-resumed' });
      },
      [
        firstOf(
          when(
            (situation) => !briefOf(situation).includes('started before'),
            runCommand('sleep 30'),
          ),
          writeFile('alpha.txt', 'a'),
        ),
        report(),
      ],
    );
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(eventsOf(played, 'worker-ended').map(({ result }) => result)).toEqual([
      'interrupted',
      'done',
    ]);
    const told = played.requests.flatMap((request) =>
      lastResults(request).map(({ text }) => text),
    );
    expect(told.find((text) => text.includes('interrupted'))).toContain(
      'can be delegated again',
    );
    expect(statuses(played)).toEqual({ 'Write alpha': 'completed' });
  });

  it('C3: a model that does not answer is left as well', async () => {
    const played = await interrupted(
      (stage) => fromElsewhere(stage, { type: 'human-aborted', how: 'stop' }),
      [runCommand('true'), stall()],
    );
    expect(ending(played)).toMatchObject({ outcome: 'aborted' });
    expect(played.tookMs).toBeLessThan(5000);
  });
});

describe('a worker that must ask', () => {
  const coder = [runCommand('echo asked > asked.txt'), report()];

  it.each(['ask', 'allow-list'] as const)(
    'S7: nobody answers: the run ends paused; answered meanwhile, it goes on after resume (%s) and does not ask again',
    async (mode) => {
      const stage = await setStage({
        protocol,
        steps: supervisor,
        workers: { coder },
        permissions: { mode: 'ask', shellAllow: [] },
      });
      const first = await stage.run();
      expect(ending(first)).toMatchObject({ outcome: 'paused', exitCode: 7 });
      expect(eventsOf(first, 'worker-ended')).toMatchObject([
        {
          result: 'interrupted',
          sentence: 'It asked for a permission, and nobody has answered yet.',
        },
      ]);
      expect(first.todos[0]).toMatchObject({ status: 'in_progress', attempts: 0 });
      const requestId = first.session.permissions?.requests[0]?.requestId ?? '';
      await fromElsewhere(stage, {
        type: 'wait-ended',
        wait: { kind: 'permission', requestId, granted: true, remembered: 'once' },
      });
      const second = await stage.run({
        resume: true,
        goal: null,
        permissions: { mode, shellAllow: [] },
      });
      expect(ending(second)).toMatchObject({ outcome: 'claimed' });
      expect(readFileSync(join(stage.root, 'asked.txt'), 'utf8')).toBe('asked\n');
      expect(eventsOf(second, 'permission-asked')).toEqual([]);
    },
  );

  it('S7: its time stands still while the human thinks', async () => {
    let control: HumanControl | null = null;
    const stage = await setStage({
      protocol,
      steps: supervisor,
      workers: { coder },
      permissions: { mode: 'ask', shellAllow: [] },
      asking: { ...noAsking, here: true },
      settings: { workers: { coder: { timeoutSeconds: 40 } } },
      onControl: (given) => {
        control = given;
      },
      watch: (event) => {
        // Forty seconds of the worker are one second here.
        if (event.type === 'permission-asked')
          setTimeout(() => void control?.answer(event.requestId, 'once'), 1300);
      },
    });
    const played = await stage.run();
    expect(eventsOf(played, 'worker-ended')).toMatchObject([{ result: 'done' }]);
  });
});

describe('a run that dies while a worker is at work', () => {
  const coder = [
    writeFile('alpha.txt', 'a'),
    repeat(2, whenToolFailed(writeFile('alpha.txt', 'a'))),
    report(),
  ];

  async function dies(at: number, death: Death) {
    const stage = await setStage({ protocol, steps: supervisor, workers: { coder } });
    const mortal = createMortalStore(stage.store, at, death);
    const first = stage.run({ store: mortal }).then(() => 'ended');
    const how = await Promise.race([first, mortal.died.then(() => 'died')]);
    const played = how === 'ended' ? null : await stage.run({ resume: true, goal: null });
    return { stage, played };
  }

  it('V5: a worker whose report was written down before the crash is not sent again', async () => {
    // Which write that is depends on how a run begins: the first death that leaves just
    // that state behind.
    for (let at = 18; ; at += 1) {
      const stage = await setStage({ protocol, steps: supervisor, workers: { coder } });
      const mortal = createMortalStore(stage.store, at, 'after');
      const running = stage.run({ store: mortal }).then(() => 'ended');
      expect(await Promise.race([running, mortal.died.then(() => 'died')])).toBe('died');
      const [worker] = await workerSessions(stage);
      const session = await stage.store.state(stage.sessionId);
      if (worker?.lastStop == null || session?.delegation?.ended !== null) continue;
      const played = await stage.run({ resume: true, goal: null });
      expect(ending(played)).toMatchObject({ outcome: 'claimed' });
      expect(await workerSessions(stage)).toHaveLength(1);
      expect(played.session.delegation?.ended?.result).toBe('done');
      return;
    }
  });

  // Between them these writes hit the delegation's start, the worker's session, its
  // calls, its end and its report.
  it.each([
    ['before', 10],
    ['after', 10],
    ['after', 16],
    ['after', 24],
    ['before', 27],
    ['after', 27],
  ] as const)(
    'V5: %s write %i: resumed, the same end, each worker with an end on the record, no call left over',
    async (death, at) => {
      const { stage, played } = await dies(at, death);
      if (played === null) throw new Error(`the run ended before write ${at}`);
      expect(ending(played)).toEqual({
        outcome: 'claimed',
        reason: 'nothing-open',
        exitCode: 3,
      });
      expect(statuses(played)).toEqual({ 'Write alpha': 'completed' });
      expect(played.todos[0]?.attempts).toBe(0);
      expect(played.session.delegation?.ended?.result).toBe('done');
      const workers = await workerSessions(stage);
      for (const { id } of [played.session, ...workers])
        expect((await stage.store.transcript(id, 0)).calls).toEqual([]);
      const ledger = await stage.store.ledger(played.session.planId);
      const count = (change: string) =>
        ledger.filter((entry) => entry.change === change).length;
      expect(count('worker-ended')).toBe(count('delegated'));
    },
  );
});

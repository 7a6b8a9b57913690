import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import { countPlan } from '../core/state.ts';
import {
  createScriptedHost,
  type ScriptedHostOptions,
} from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import type { Engine } from './engine.ts';
import type { Checker } from './host.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

function setUp(
  overrides: Partial<ScriptedHostOptions> & {
    settings?: Partial<Settings>;
    goalChecks?: string[];
    sharedStore?: Store;
  } = {},
) {
  const clock = createSimulatedClock();
  const store = overrides.sharedStore ?? createMemoryStore();
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({
      settings: { ...defaultSettings, ...overrides.settings },
      goalChecks: overrides.goalChecks ?? [],
    }),
    ...overrides,
  });
  return { clock, store, host };
}

const stopAttempt = (sessionId: string, at: number) =>
  ({
    type: 'stop-attempted',
    end: 'normal',
    question: false,
    fingerprint: null,
    background: null,
    toolError: null,
    id: 'stop-1',
    sessionId,
    at,
  }) as const;

const passing: Checker = {
  async run(session, { checks, stop }, report) {
    for (const { todoId, check } of checks) {
      await report({
        type: 'check-finished',
        id: `${check}-${todoId}-${session.epoch}-${session.updatedAt}`,
        sessionId: session.id,
        at: session.updatedAt + 1,
        todoId,
        check,
        result: 'passed',
        flaky: false,
        tail: null,
        fingerprint: 'tree-1',
        final: true,
        writes: null,
      });
    }
    if (stop === null) return;
    const base = {
      id: `end-${stop}-${session.updatedAt}`,
      sessionId: session.id,
      at: session.updatedAt + 1,
    };
    await report({ ...base, type: 'final-run-ended', stop, edited: [] });
  },
};

describe('the runtime with an asked host', () => {
  it('P1: an agent that says done with todos open is continued with the next one named', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('build it');
    const [first] = await host.plans('write the parser', 'write the tests');
    await host.works();
    await host.completes(first ?? '');
    const { answer, decision } = await host.stops();
    expect(answer?.answer).toBe('continue');
    expect(answer?.text).toContain('write the tests');
    expect(answer?.text).toContain('1/2 completed, 1 remaining');
    expect(decision?.reason).toBe('continue');
  });

  it('P29: a finished plan is let go without a continuation, honestly as claimed when nothing proves it', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('build it');
    const ids = await host.plans('write the parser', 'write the tests');
    await host.works();
    for (const id of ids) await host.completes(id);
    const { answer, state: session } = await host.stops();
    expect(answer?.answer).toBe('let-go');
    expect(session.settled?.outcome).toBe('claimed');
    expect(session.counters.total).toBe(0);
  });

  it('P30: a plan of 100 todos drains at one per stop', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('all of it');
    const ids = await host.plans(
      ...Array.from({ length: 100 }, (_, index) => `todo ${index}`),
    );
    for (const id of ids.slice(0, -1)) {
      await host.works();
      await host.completes(id);
      expect((await host.stops()).answer?.answer).toBe('continue');
    }
    await host.completes(ids.at(-1) ?? '');
    expect((await host.stops()).state.settled?.outcome).toBe('claimed');
  });

  it('G7: three reminders without progress, each firmer, then the turn ends stagnant', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('build it');
    await host.plans('write the parser');
    const levels: (number | null | undefined)[] = [];
    for (let stop = 0; stop < 3; stop++)
      levels.push((await host.stops()).decision?.level);
    const { decision } = await host.stops();
    expect(levels).toEqual([1, 2, 3]);
    expect(decision).toMatchObject({
      answer: 'let-go',
      reason: 'stagnant',
      outcome: 'stagnant',
    });
  });

  it('V1: goal checks are run at the final stop, and a pass settles the turn as done', async () => {
    const { host, clock } = setUp({ goalChecks: ['tests'], checker: passing });
    await host.open();
    await host.says('build it');
    const ids = await host.plans('write the parser');
    await host.works();
    await host.completes(ids[0] ?? '');
    const stop = stopAttempt(host.sessionId, clock.now());
    const handled = await host.runtime.ask(stop, clock.now() + 10_000);
    expect(handled.state.settled?.outcome).toBe('done');
    expect(handled.answer?.answer).toBe('let-go');
  });

  it('M8: checks that outlast the deadline continue the agent, counted against the ceiling alone', async () => {
    const never: Checker = { run: () => new Promise(() => {}) };
    const { host, clock } = setUp({ goalChecks: ['tests'], checker: never });
    await host.open();
    await host.says('build it');
    const ids = await host.plans('write the parser');
    await host.works();
    await host.completes(ids[0] ?? '');
    const stop = stopAttempt(host.sessionId, clock.now());
    const asking = host.runtime.ask(stop, clock.now() + 10_000);
    await clock.advance(10_000);
    const handled = await asking;
    expect(handled.decision?.textKind).toBe('checks-running');
    expect(handled.answer?.text).toContain('todo_verify');
    expect(handled.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 1 });
  });

  it('G4: after an abort nothing is continued until the human speaks', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('build it');
    await host.plans('write the parser');
    await host.happens({ type: 'human-aborted', how: 'ESC' });
    expect((await host.stops()).decision).toMatchObject({
      answer: 'let-go',
      reason: 'aborted',
      outcome: 'aborted',
    });
    await host.says('continue');
    expect((await host.stops()).answer?.answer).toBe('continue');
  });

  it('V5: an event delivered twice is applied once', async () => {
    const { host } = setUp();
    await host.open();
    await host.says('build it');
    // Its tokens are added up, so that a second time would be seen.
    const event = {
      type: 'usage-reported' as const,
      id: 'same',
      sessionId: host.sessionId,
      at: 5,
      actor: 'host' as const,
      inputTokens: 70,
      outputTokens: 30,
      cost: null,
      contextTokens: null,
      contextLimit: null,
    };
    expect((await host.runtime.handle(event)).applied).toBe(true);
    const again = await host.runtime.handle(event);
    expect(again.applied).toBe(false);
    expect(again.state.usage.tokens).toBe(100);
  });

  it('V5: events that wait in the inbox are folded, in the order of their arrival, before the stop is decided', async () => {
    const { host, clock } = setUp();
    await host.open();
    await host.says('build it');
    const at = clock.now();
    await clock.advance(100);
    const base = { sessionId: host.sessionId, actor: 'agent' as const };
    await host.runtime.append({
      ...base,
      type: 'todos-created',
      id: 'first',
      at: at + 20,
      items: [
        { id: 'todo-1', title: 'write the parser' },
        { id: 'todo-2', title: 'write the tests' },
      ],
    });
    await host.runtime.append({
      ...base,
      type: 'todo-completed',
      id: 'second',
      at: at + 10,
      todoId: 'todo-1',
      status: 'completed',
      outcome: 'done',
    });
    const { state: session, answer } = await host.stops();
    expect(countPlan(session.plan)).toMatchObject({ completed: 1, pending: 1 });
    expect(answer?.text).toContain('write the tests');
    const [done] = session.plan;
    expect(
      done?.completedAt,
      'what says that it is older happened when the one before it did',
    ).toBe(at + 20);
  });
});

describe('the runtime with a told host', () => {
  async function idleWithOpenTodo(overrides: Parameters<typeof setUp>[0] = {}) {
    const made = setUp({ mode: 'told', ...overrides });
    await made.host.open();
    await made.host.runtime.attach();
    await made.host.says('build it');
    await made.host.plans('write the parser', 'write the tests');
    await made.clock.advance(5000);
    await made.host.stops();
    return made;
  }

  it('E1: idle with open todos counts down for two seconds, then injects', async () => {
    const { host, clock } = await idleWithOpenTodo();
    await clock.advance(1999);
    expect(host.injected).toHaveLength(0);
    await clock.advance(1);
    expect(host.injected).toHaveLength(1);
    expect(host.injected[0]?.session.injection?.epoch).toBe(host.injected[0]?.epoch);
  });

  it('E4: duplicate idle events give one countdown and one injection', async () => {
    const { host, clock } = await idleWithOpenTodo();
    await clock.advance(1000);
    await host.stops();
    await clock.advance(1000);
    await host.stops();
    await clock.advance(10_000);
    expect(host.injected).toHaveLength(1);
  });

  it('E2: a human message during the countdown cancels it', async () => {
    const { host, clock } = await idleWithOpenTodo();
    await clock.advance(1000);
    await host.says('wait, something else');
    await clock.advance(10_000);
    expect(host.injected).toHaveLength(0);
  });

  it('E2: tool activity during the countdown cancels it', async () => {
    const { host, clock } = await idleWithOpenTodo();
    await host.works();
    await clock.advance(10_000);
    expect(host.injected).toHaveLength(0);
  });

  it('G9: a send that fails is tried again with backoff under the same epoch', async () => {
    let tries = 0;
    const { host, clock } = await idleWithOpenTodo({ takes: () => ++tries > 2 });
    await clock.advance(20_000);
    expect(tries).toBe(3);
    expect(host.injected).toHaveLength(1);
  });

  it('G9: a send that fails three times ends the turn as failed', async () => {
    const { host, clock, store } = await idleWithOpenTodo({ takes: () => false });
    await clock.advance(60_000);
    const session = await store.state(host.sessionId);
    expect(session?.settled).toMatchObject({
      outcome: 'failed',
      reason: 'delivery-failed',
    });
    expect(host.injected).toHaveLength(0);
  });

  it('V5: a countdown survives a restart and fires once, at once when it is late', async () => {
    const { host, clock, store } = await idleWithOpenTodo();
    await host.runtime.detach();
    await clock.advance(60_000);
    expect(host.injected).toHaveLength(0);
    const second = createScriptedHost({
      mode: 'told',
      store,
      clock,
      identifiers: createSequentialIdentifiers('second'),
      hash: sha256,
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    });
    expect(await second.runtime.attach()).toBe(true);
    await clock.advance(1);
    expect(second.injected).toHaveLength(1);
    await clock.advance(60_000);
    expect(second.injected).toHaveLength(1);
  });

  it('V5: a text on its way moves with its session into the instance that opens it next', async () => {
    const { host, clock, store } = await idleWithOpenTodo({ takes: () => false });
    await clock.advance(2000);
    await host.runtime.detach();
    const second = createScriptedHost({
      mode: 'told',
      instance: 'another',
      store,
      clock,
      identifiers: createSequentialIdentifiers('second'),
      hash: sha256,
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    });
    await second.open();
    const rows = await store.outbox({ sessionId: host.sessionId });
    expect(rows.map(({ instance, state }) => ({ instance, state }))).toEqual([
      { instance: 'another', state: 'intended' },
    ]);
  });

  it('V5: a countdown older than ten minutes parks the session as paused instead', async () => {
    const { host, clock, store } = await idleWithOpenTodo();
    await host.runtime.detach();
    await clock.advance(11 * 60_000);
    await host.runtime.attach();
    await clock.advance(1);
    const session = await store.state(host.sessionId);
    expect(host.injected).toHaveLength(0);
    expect(session?.settled).toMatchObject({
      outcome: 'paused',
      reason: 'timer-expired',
    });
  });

  it('V5: only one process is attached to a host instance', async () => {
    const { host, clock, store } = await idleWithOpenTodo();
    const rival = createScriptedHost({
      mode: 'told',
      store,
      clock,
      identifiers: createSequentialIdentifiers('rival'),
      hash: sha256,
      policy: () => ({ settings: defaultSettings, goalChecks: [] }),
    });
    expect(await rival.runtime.attach()).toBe(false);
    await clock.advance(3000);
    expect(rival.injected).toHaveLength(0);
    expect(host.injected).toHaveLength(1);
  });

  it('P9: a pending permission holds the continuation without a timer, and its grant releases it', async () => {
    const { host, clock } = setUp({ mode: 'told' });
    await host.open();
    await host.runtime.attach();
    await host.says('build it');
    await host.plans('write the parser');
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'p1' },
    });
    expect((await host.stops()).decision?.reason).toBe('permission-pending');
    await clock.advance(3_600_000);
    expect(host.injected).toHaveLength(0);
    await host.happens({
      type: 'wait-ended',
      wait: { kind: 'permission', requestId: 'p1', granted: true },
    });
    await clock.advance(3000);
    expect(host.injected).toHaveLength(1);
  });

  it('G4: resume after an abort takes the idle session up again, without fresh budgets', async () => {
    const { host, clock, store } = await idleWithOpenTodo();
    await clock.advance(3000);
    await host.happens({ type: 'activity-seen' });
    await host.happens({ type: 'human-aborted', how: 'ESC' });
    await host.stops({ end: 'cancelled' });
    await clock.advance(60_000);
    expect(host.injected).toHaveLength(1);
    await host.happens({ type: 'human-resumed' });
    await clock.advance(3000);
    expect(host.injected).toHaveLength(2);
    const session = await store.state(host.sessionId);
    expect(session?.counters.total).toBe(2);
  });
});

describe('checks that several processes hear of', () => {
  /** Tells another runtime first, as the runner of the checks does through the inbox. */
  function toldElsewhereFirst(other: () => Promise<Pick<Engine, 'handle'>>): Checker {
    return {
      run: (session, request, report) =>
        passing.run(session, request, async (event) => {
          await (await other()).handle(event);
          await report(event);
        }),
    };
  }

  it.each([
    ['let go', [] as string[], { answer: 'let-go', text: null }],
    [
      'continue',
      ['one more'],
      { answer: 'continue', text: expect.stringContaining('one more') },
    ],
  ])(
    'V5: a stop attempt that another process decided is answered with its decision: %s',
    async (_name, more, answer) => {
      const sharedStore = createMemoryStore();
      const { host: other } = setUp({ sharedStore, goalChecks: ['unit'] });
      const checker = toldElsewhereFirst(async () => {
        if (more.length > 0) {
          const items = more.map((title) => ({ id: title, title }));
          await other.happens({ type: 'todos-created', actor: 'human', items });
        }
        return other.runtime;
      });
      const { host, clock } = setUp({ sharedStore, goalChecks: ['unit'], checker });
      await host.open();
      await host.says('build it');
      const [first = ''] = await host.plans('parse');
      await host.works();
      await host.completes(first);
      const event = stopAttempt(host.sessionId, clock.now());
      const handled = await host.runtime.ask(event, clock.now() + 60_000);
      expect(handled.answer).toMatchObject(answer);
      expect(handled.decision?.answer).toBe(answer.answer);
    },
  );

  it('V1: one load that folds two claims waits for the checks of both', async () => {
    const finish: (() => void)[] = [];
    const checker: Checker = {
      run: async (session, request, report) => {
        await new Promise<void>((resolve) => finish.push(resolve));
        await passing.run(session, request, report);
      },
    };
    const { host, store, clock } = setUp({ checker });
    await host.open();
    await host.says('build it');
    const items = ['one', 'two'].map((id) => ({ id, title: id, checks: ['unit'] }));
    await host.happens({ type: 'todos-created', actor: 'agent', items });
    const base = {
      sessionId: host.sessionId,
      at: clock.now(),
      actor: 'agent',
      outcome: 'it works',
    } as const;
    for (const id of ['one', 'two']) {
      await host.runtime.append({
        ...base,
        type: 'todo-completed',
        id: `c-${id}`,
        todoId: id,
        status: 'completed',
      });
    }
    const handled = await host.happens({ type: 'activity-seen' });
    let ended = false;
    const both = handled.checks?.then(() => {
      ended = true;
    });
    finish[1]?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ended, 'the first one still runs').toBe(false);
    finish[0]?.();
    await both;
    const todos = await store.todos({ planId: host.sessionId });
    expect(todos.map(({ verification }) => verification)).toEqual(['passed', 'passed']);
  });
});

// Several hooks that a host starts about one stop, in every order in which their calls
// can reach the store (V5).
import { describe, expect, it } from 'vitest';
import {
  continuationOf,
  createHookCase,
  type HookCaseOptions,
} from '../../test/support/hook-case.ts';
import {
  createPayload,
  promptPayload,
  stopPayload,
  toolPayload,
  updatePayload,
} from '../../test/support/payload-cases.ts';
import type { Store } from '../engine/store.ts';

async function planned(options: HookCaseOptions = {}) {
  const hooks = createHookCase(options);
  await hooks.send(promptPayload('Please do it'));
  await hooks.send(createPayload('1', 'A'));
  await hooks.send(toolPayload('Write', 'work-1', {}, {}));
  return hooks;
}
type Hooks = Awaited<ReturnType<typeof planned>>;

function intercepted(store: Store, before: () => unknown): Store {
  return new Proxy(store, {
    get:
      (target, name: keyof Store) =>
      async (...values: never[]) => {
        await before();
        return (target[name] as (...values: never[]) => unknown)(...values);
      },
  });
}

/**
 * Hooks about one stop; each call of one to the store waits until it is let through, and
 * a steady clock counts them.
 */
function createRace(hooks: Hooks) {
  let ticks = 0;

  async function start(payload: object = stopPayload()) {
    const waiting: (() => void)[] = [];
    const since = ++ticks;
    let lastCall = since;
    let lastPass = since;
    const store = intercepted(hooks.store, () => {
      lastCall = ticks;
      return new Promise<void>((resolve) => waiting.push(resolve));
    });
    let answer: object | null = null;
    const sent = hooks
      .send(payload, null, { store, steady: () => ticks })
      .then((given) => {
        answer = given;
      });
    const settle = async () => {
      for (let round = 1; answer === null && waiting.length === 0; round++) {
        await new Promise((resolve) => setImmediate(resolve));
        // A wait that is slept.
        if (round % 100 === 0) await hooks.clock.advance(100);
      }
    };
    await settle();
    return {
      since,
      answersAt: () => lastCall,
      lastPass: () => lastPass,
      answer: () => answer ?? {},
      /** False: the hook has ended. */
      async pass(): Promise<boolean> {
        if (answer !== null) return false;
        lastPass = ++ticks;
        waiting.shift()?.();
        await settle();
        return true;
      },
      async finish(): Promise<void> {
        while (await this.pass());
        await sent;
      },
    };
  }
  return start;
}

/** All orders of so many calls of one hook and of the other. */
function* orders(first: number, second: number): Generator<string> {
  if (first === 0 && second === 0) yield '';
  if (first > 0) for (const rest of orders(first - 1, second)) yield `A${rest}`;
  if (second > 0) for (const rest of orders(first, second - 1)) yield `B${rest}`;
}

/** Some of the orders of more calls, always the same ones. */
function* someOrders(names: string, length: number, count: number): Generator<string> {
  let seed = 1;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return names[seed % names.length] ?? '';
  };
  for (let order = 0; order < count; order++) yield Array.from({ length }, next).join('');
}

const continues = (answer: object) => continuationOf(answer) !== null;
const isSilent = (answer: object) => Object.keys(answer).length === 0;

type Racer = Awaited<ReturnType<ReturnType<typeof createRace>>>;

/** Fails its only check after two calls to the store, as a runner does. */
const failing: HookCaseOptions = {
  policy: { goalChecks: ['slow'] },
  checker: {
    async run({ id: sessionId }, { checks, stop }, report) {
      const base = () => ({
        id: `event-${Math.random()}`,
        sessionId,
        at: 1_800_000_000_000,
      });
      const result = {
        result: 'failed',
        flaky: false,
        tail: 'no',
        fingerprint: null,
        writes: null,
      } as const;
      for (const asked of checks)
        await report({
          ...base(),
          ...asked,
          ...result,
          type: 'check-finished',
          final: stop !== null,
        });
      if (stop !== null)
        await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
    },
  },
};

async function checked() {
  const hooks = await planned(failing);
  await hooks.send(updatePayload('1', 'completed', 'u1'));
  return hooks;
}

/** The agent may be continued in 1.4 seconds: such a wait is slept. */
async function limited() {
  const hooks = await planned();
  await hooks.send(stopPayload({ hook_event_name: 'StopFailure', error: 'rate_limit' }));
  await hooks.clock.advance(28_600);
  return hooks;
}

/** A stop has this many calls to the store where nothing is waited for. */
const callsOfOneStop = 7;
const allOrders = [...orders(callsOfOneStop, callsOfOneStop)];

describe('hooks that are asked about one stop', () => {
  it.each([
    // The other half is the same, with the hooks swapped.
    ['a todo is open', planned, allOrders.filter((order) => order.startsWith('A'))],
    ['a check fails', checked, [...someOrders('AB', 16, 100)]],
    ['a wait is slept', limited, [...someOrders('AB', 16, 100)]],
    ['there are three', planned, [...someOrders('ABC', 18, 200)]],
  ])(
    'V5: where %s, one continues the agent in any order of their calls, and the next stop is answered',
    async (_what, prepare, given) => {
      for (const order of given) {
        const hooks = await prepare();
        const start = createRace(hooks);
        const racers = new Map<string, Racer>();
        for (const name of new Set(order)) racers.set(name, await start());
        for (const name of order) await racers.get(name)?.pass();
        for (const one of racers.values()) await one.finish();
        const answers = Array.from(racers.values(), (one) => one.answer());
        expect(answers.filter(continues), order).toHaveLength(1);
        expect(answers.filter(isSilent), order).toHaveLength(answers.length - 1);
        expect((await hooks.session())?.counters.total, order).toBe(1);
        const next = await start();
        await next.finish();
        expect(continues(next.answer()), order).toBe(true);
      }
    },
    120_000,
  );

  it('V5: one that starts before the other has answered is asked about the same stop, one that starts later about the next', async () => {
    for (const order of allOrders.filter((one) => one.startsWith('A'))) {
      const start = createRace(await planned());
      const early = await start();
      let late: Racer | null = null;
      for (const name of order) {
        if (name === 'B') late ??= await start();
        await (name === 'A' ? early : late)?.pass();
      }
      for (const one of [early, late]) await one?.finish();
      // The answer is on its way to the store: how long that takes, the hook cannot know
      // when it writes it.
      if (
        late === null ||
        (late.since > early.answersAt() && late.since <= early.lastPass())
      )
        continue;
      const answers = [early.answer(), late.answer()];
      expect(answers.filter(continues), order).toHaveLength(
        late.since > early.lastPass() ? 2 : 1,
      );
    }
  }, 120_000);

  it('V5: a hook that dies between its decision and its answer takes no continuation with it', async () => {
    for (let calls = 0; calls < callsOfOneStop; calls++) {
      const hooks = await planned();
      const start = createRace(hooks);
      const dying = await start();
      for (let call = 0; call < calls; call++) await dying.pass();
      const next = await start();
      await next.finish();
      expect(continues(next.answer()), `after ${calls} calls`).toBe(true);
      expect((await hooks.session())?.counters.total).toBe(1);
    }
  });

  it('G4: nor does its decision outlive an abort of the human', async () => {
    const hooks = await planned();
    const start = createRace(hooks);
    const dying = await start();
    for (let call = 0; call < callsOfOneStop - 1; call++) await dying.pass();
    expect((await hooks.session())?.injection?.state).toBe('intended');
    await hooks.send(stopPayload(), 1000);
    const next = await start();
    await next.finish();
    expect(next.answer()).toEqual({});
  });
});

import { describe, expect, it } from 'vitest';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
  type Happening,
  injectionOf,
} from '../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };
const error = {
  signature: 'socket closed',
  message: 'the socket was closed',
  retryAt: null,
};

function planned(options: DriverOptions = {}) {
  const driver = createCoreDriver(options);
  driver.says();
  driver.plans('write the parser', 'write the tests');
  return driver;
}

describe('the countdown', () => {
  it('E1: an idle host is told after the countdown', () => {
    const driver = planned(told);
    expect(driver.stops().commands).toEqual([]);
    expect(driver.state.timer).toMatchObject({
      purpose: 'due',
      dueAt: driver.now + 2000,
    });
    expect(injectionOf(driver.fires())?.text).toContain('write the parser');
  });

  const cancelling: readonly Happening[] = [
    { type: 'activity-seen' },
    { type: 'tool-started', tool: 'edit', access: 'write' },
    { type: 'tool-ended', tool: 'edit', access: 'write', error: null },
    { type: 'error-occurred', kind: 'other', ...error },
    { type: 'error-occurred', kind: 'rate-limit', ...error },
    { type: 'error-occurred', kind: 'overflow', ...error },
    { type: 'session-closed' },
    { type: 'session-deleted' },
    { type: 'model-paused', reason: 'a human has to decide' },
  ];
  for (const happening of cancelling) {
    const kind = 'kind' in happening ? ` (${happening.kind})` : '';
    it(`E2: ${happening.type}${kind} cancels it, and a timer on its way is void`, () => {
      const driver = planned(told);
      driver.stops();
      const { timer, epoch } = driver.state;
      driver.happens(happening);
      expect(driver.state).toMatchObject({ timer: null, parked: null });
      expect(driver.state.epoch).toBeGreaterThan(epoch);
      driver.now += 2000;
      const fired = driver.happens({
        type: 'timer-fired',
        epoch: timer?.epoch ?? 0,
        dueAt: timer?.dueAt ?? 0,
      });
      expect(fired).toMatchObject({ commands: [], decision: null });
    });
  }

  it('G9: an error does not cancel a text that waits to be sent again: it may be why the host did not take it', () => {
    const driver = planned(told);
    driver.stopsFully();
    const { epoch } = driver.state;
    driver.happens({
      type: 'delivery-reported',
      news: 'failed',
      epoch,
      error: 'no such agent',
    });
    const { timer } = driver.state;
    expect(timer?.purpose).toBe('resend');
    driver.happens({ type: 'error-occurred', kind: 'other', ...error });
    expect(driver.state.timer).toEqual(timer);
    expect(driver.fires().commands).toEqual([{ type: 'inject', epoch, text: null }]);
  });

  it('E2: what does not concern it leaves it running', () => {
    const driver = planned(told);
    driver.stops();
    const { timer } = driver.state;
    driver.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
    driver.happens({ type: 'workspace-seen', fingerprint: 'tree-1' });
    driver.plans('one more');
    expect(driver.state.timer).toEqual(timer);
  });

  it('design: activity without a countdown does not raise the epoch', () => {
    const driver = planned(told);
    const { epoch } = driver.state;
    driver.works();
    driver.happens({ type: 'activity-seen' });
    expect(driver.state.epoch).toBe(epoch);
  });
});

describe('work', () => {
  it('V4: calls of other tools are counted, calls of the todo tools are not', () => {
    const driver = planned();
    for (const access of ['read', 'write', 'unknown', 'todo'] as const)
      driver.works(access);
    expect(driver.state.work).toMatchObject({ calls: 3, writes: 2 });
  });

  it('V1: only a call that can write touches the workspace', () => {
    const driver = planned();
    driver.works('read');
    expect(driver.state.turn?.touchedWorkspace).toBe(false);
    driver.works('unknown');
    expect(driver.state.turn?.touchedWorkspace).toBe(true);
    const alone = createCoreDriver();
    alone.works();
    expect(alone.state.turn).toBeNull();
  });

  it('V5: work of an asked host shows that it took the answer', () => {
    const driver = planned();
    driver.stops();
    expect(driver.state.injection?.state).toBe('intended');
    driver.happens({ type: 'activity-seen' });
    expect(driver.state.injection?.state).toBe('observed');
  });
});

describe('a told host at work', () => {
  it('V5: shows that it took the continuation which was sent, so that a restart does not repeat it', () => {
    const driver = planned(told);
    driver.stopsFully();
    const { epoch } = driver.state;
    driver.works();
    expect(driver.state.injection?.state, 'nothing was sent yet').toBe('intended');
    driver.happens({ type: 'delivery-reported', news: 'sent', error: null, epoch });
    driver.works();
    expect(driver.state.injection?.state).toBe('observed');
    expect(
      driver.happens({ type: 'delivery-reported', news: 'lost', error: null, epoch })
        .commands,
    ).toEqual([]);
  });
});

describe('errors', () => {
  it('P21: a rate limit waits for its reset and is neither a failure nor stagnation', () => {
    const driver = planned(told);
    driver.happens({
      type: 'error-occurred',
      kind: 'rate-limit',
      ...error,
      retryAt: driver.now + 60_000,
    });
    const stopped = driver.stops({ end: 'error' });
    expect(stopped.decision).toMatchObject({
      answer: 'wait',
      reason: 'rate-limited',
      dueAt: driver.now + 60_000,
    });
    expect(injectionOf(driver.fires())).not.toBeNull();
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 1 });
    expect(driver.state.circuit).toBeNull();
    expect(driver.state.rateLimitedUntil).toBeNull();
  });

  it('P21: an overload without a reset is waited for half a minute', () => {
    const driver = planned();
    driver.happens({ type: 'error-occurred', kind: 'overload', ...error });
    const { decision, commands } = driver.stops({ end: 'error' });
    expect(decision?.dueAt).toBe(driver.now + 30_000);
    expect(commands).toContainEqual(
      expect.objectContaining({ type: 'answer', answer: 'wait' }),
    );
  });

  it('G2: a limit that is over does not excuse a later error', () => {
    const driver = planned();
    driver.happens({
      type: 'error-occurred',
      kind: 'rate-limit',
      ...error,
      retryAt: driver.now + 1000,
    });
    driver.now += 500;
    driver.works();
    expect(driver.state.rateLimitedUntil).not.toBeNull();
    driver.now += 500;
    driver.works();
    expect(driver.stops({ end: 'error' }).decision).toMatchObject({
      reason: 'ended-abnormally',
      outcome: 'failed',
    });
    for (const kind of ['other', 'overflow'] as const) {
      driver.happens({ type: 'error-occurred', kind: 'overload', ...error });
      driver.happens({ type: 'error-occurred', kind, ...error });
      expect(driver.stops({ end: 'error' }).decision?.reason).toBe('ended-abnormally');
    }
  });

  it('G2: a message of the human after the reset ends the limit too', () => {
    const driver = planned();
    driver.happens({
      type: 'error-occurred',
      kind: 'rate-limit',
      ...error,
      retryAt: driver.now + 1000,
    });
    driver.says('hello');
    expect(driver.state.rateLimitedUntil).toBe(driver.now + 1000);
    driver.now += 1000;
    driver.says('hello again');
    expect(driver.state.rateLimitedUntil).toBeNull();
  });

  it('P22: the same error three times opens the circuit, another one starts the count anew', () => {
    const driver = planned();
    const fail = (signature: string) =>
      driver.happens({ type: 'error-occurred', kind: 'other', ...error, signature });
    fail('a');
    fail('a');
    fail('b');
    expect(driver.state.circuit).toEqual({ signature: 'b', count: 1 });
    expect(driver.stops({ end: 'error' }).decision?.reason).toBe('ended-abnormally');
    fail('b');
    fail('b');
    expect(driver.stops({ end: 'error' }).decision).toMatchObject({
      reason: 'circuit-open',
      outcome: 'failed',
    });
  });

  it('P22: a call that ended breaks the row; a circuit that is open waits for the human', () => {
    const driver = planned();
    const fail = () =>
      driver.happens({ type: 'error-occurred', kind: 'other', ...error });
    fail();
    fail();
    driver.works();
    expect(driver.state.circuit).toBeNull();
    fail();
    fail();
    fail();
    driver.works();
    expect(driver.stops().decision?.reason).toBe('circuit-open');
    driver.says('try again');
    expect(driver.state.circuit).toBeNull();
  });

  it('P23: two overflows that compaction could not cure end the turn, one that shrank is forgiven', () => {
    const driver = planned();
    const overflow = () =>
      driver.happens({ type: 'error-occurred', kind: 'overflow', ...error });
    overflow();
    driver.happens({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } });
    overflow();
    driver.happens({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: false } });
    expect(driver.state.overflows).toBe(1);
    overflow();
    expect(driver.stops({ end: 'error' }).decision).toMatchObject({
      reason: 'overflowing',
      outcome: 'stagnant',
    });
  });

  it('E4: an error of a told host makes its next idle a new stop', () => {
    const driver = planned(told);
    driver.stopsFully();
    for (const kind of ['other', 'rate-limit', 'overflow'] as const) {
      driver.state = { ...driver.state, activeSinceAnswer: false };
      driver.happens({ type: 'error-occurred', kind, ...error });
      expect(driver.state.activeSinceAnswer).toBe(true);
    }
  });
});

describe('budgets and alarms', () => {
  it('G8: usage adds up, failing turns included, and the last known context holds', () => {
    const driver = planned({ settings: { maxTokens: 250 } });
    const usage = { inputTokens: 100, outputTokens: 20, cost: 0.5 };
    driver.happens({
      type: 'usage-reported',
      ...usage,
      contextTokens: 800,
      contextLimit: 1000,
    });
    driver.happens({ type: 'error-occurred', kind: 'other', ...error });
    expect(driver.stops().decision?.answer).toBe('continue');
    driver.happens({
      type: 'usage-reported',
      ...usage,
      outputTokens: 30,
      cost: null,
      contextTokens: null,
      contextLimit: null,
    });
    expect(driver.state.usage).toMatchObject({
      tokens: 250,
      cost: 0.5,
      contextTokens: 800,
      contextLimit: 1000,
    });
    expect(driver.stops().decision).toMatchObject({
      reason: 'token-budget',
      outcome: 'exhausted',
    });
  });

  it('G8: cost and time are budgets too', () => {
    const driver = planned({ settings: { maxCost: 1, maxMinutes: 10 } });
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      contextTokens: null,
      contextLimit: null,
    };
    driver.happens({ type: 'usage-reported', ...usage, cost: 1 });
    expect(driver.stops().decision?.reason).toBe('cost-budget');
    driver.says('more');
    driver.now += 600_000;
    driver.plans('another');
    expect(driver.stops().decision?.reason).toBe('time-budget');
  });

  it('G8: a compaction that shrank the context makes room again', () => {
    const driver = planned();
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      cost: null,
      contextTokens: 950,
      contextLimit: 1000,
    };
    driver.happens({ type: 'usage-reported', ...usage });
    expect(driver.stops().decision).toMatchObject({
      reason: 'context-full',
      outcome: 'exhausted',
    });
    driver.happens({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: false } });
    expect(driver.stops().decision?.reason).toBe('context-full');
    driver.happens({ type: 'wait-ended', wait: { kind: 'compaction', shrunk: true } });
    expect(driver.stops().decision?.answer).toBe('continue');
  });

  it('P25: the first alarm changes the text, alarms before it are forgiven, the next one ends the turn', () => {
    const driver = planned();
    driver.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
    driver.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
    expect(driver.stops().decision?.textKind).toBe('loop');
    driver.works();
    expect(driver.stops().decision).toMatchObject({
      answer: 'continue',
      textKind: 'standard',
    });
    driver.happens({ type: 'loop-alarmed', pattern: 'A B A B' });
    expect(driver.stops().decision).toMatchObject({
      reason: 'looping',
      outcome: 'stagnant',
    });
  });

  it('M6: a pause of the model is honoured at once and told to an asked host', () => {
    const driver = planned();
    const { epoch } = driver.state;
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    expect(driver.state).toMatchObject({
      pause: { by: 'model', reason: 'I need a key' },
      epoch: epoch + 1,
    });
    expect(answerOf(driver.stops())).toMatchObject({
      answer: 'let-go',
      message:
        'not done: 2 of 2 todos open (paused). The agent paused: I need a key. Open: “write the parser”, “write the tests”.',
    });
  });
});

describe('a limit of the provider that lasts', () => {
  it('G9: however often it is waited for, it is neither stagnation nor a spent continuation', () => {
    const driver = createCoreDriver({
      settings: { maxStagnant: 2, maxContinuations: 2 },
    });
    driver.says();
    driver.plans('parse');
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const limit = {
        kind: 'rate-limit',
        signature: '429',
        message: 'slow down',
      } as const;
      driver.happens({ type: 'error-occurred', ...limit, retryAt: driver.now + 1000 });
      expect(driver.stops({ end: 'error' }).decision).toMatchObject({
        answer: 'wait',
        reason: 'rate-limited',
      });
      driver.now += 2000;
      expect(driver.stops({ end: 'error' }).decision?.answer, `attempt ${attempt}`).toBe(
        'continue',
      );
      expect(driver.state.counters).toEqual({
        stagnant: 0,
        continuations: 0,
        total: attempt,
      });
    }
  });
});

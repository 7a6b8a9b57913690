// What holds the enforcer back, and what follows when it ends: a new countdown with
// toasts.
import { describe, expect, it } from 'vitest';
import {
  type ProgramStage,
  stopped,
  theSession,
} from '../../test/support/program-stage.ts';

const sessionId = theSession;
const minute = 60_000;

describe('causes of waiting', () => {
  it('E3: markRecovering ends countdown and toasts at once, markRecoveryComplete begins a new one', async () => {
    const stage = await stopped();
    await stage.clock.advance(500);
    expect(seconds(stage)).toEqual([2]);
    await stage.enforcer.markRecovering(sessionId);
    await stage.clock.advance(minute);
    expect([stage.injected, seconds(stage)]).toEqual([[], [2]]);
    await stage.enforcer.markRecoveryComplete(sessionId);
    await countsDownAnew(stage, [2]);
  });

  it('E3 E2: a session that is recovered and goes on by itself is not counted down', async () => {
    const stage = await stopped();
    await stage.enforcer.markRecovering(sessionId);
    await stage.works();
    await stage.enforcer.markRecoveryComplete(sessionId);
    await stage.clock.advance(minute);
    expect([stage.injected, seconds(stage)]).toEqual([[], [2]]);
  });

  const waits: readonly [
    string,
    (stage: ProgramStage) => Promise<void>,
    (stage: ProgramStage) => Promise<void>,
  ][] = [
    [
      'a permission',
      (stage) =>
        stage.emits({ type: 'permission.asked', sessionId, requestId: 'request-1' }),
      (stage) =>
        stage.emits({
          type: 'permission.answered',
          sessionId,
          requestId: 'request-1',
          granted: true,
        }),
    ],
    [
      'a question',
      (stage) =>
        stage.emits({ type: 'question.asked', sessionId, requestId: 'request-1' }),
      (stage) =>
        stage.emits({ type: 'question.answered', sessionId, requestId: 'request-1' }),
    ],
    [
      'a compaction',
      (stage) => stage.emits({ type: 'compaction.started', sessionId }),
      (stage) => stage.emits({ type: 'compaction.ended', sessionId }),
    ],
  ];
  for (const [what, begins, ends] of waits) {
    it(`G3: ${what} ends countdown and toasts at once; when it ends, a new one begins`, async () => {
      const stage = await stopped();
      await stage.clock.advance(500);
      await begins(stage);
      await stage.clock.advance(minute);
      expect([stage.injected, seconds(stage)]).toEqual([[], [2]]);
      await ends(stage);
      await countsDownAnew(stage, [2]);
    });
  }

  it('G3 P18: background work that ends is followed by a countdown with toasts', async () => {
    let count = 1;
    const stage = await stopped({ backgroundCount: () => count });
    await stage.clock.advance(minute);
    expect(seconds(stage)).toEqual([]);
    count = 0;
    await stage.clock.advance(2000);
    await countsDownAnew(stage, []);
  });

  it('P9: a question or a permission that is open holds it back, a rejection pauses', async () => {
    const stage = await stopped();
    await stage.emits({ type: 'question.asked', sessionId, requestId: 'request-1' });
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
    await stage.emits({ type: 'question.answered', sessionId, requestId: 'request-1' });
    await stage.clock.advance(2000);
    expect(stage.injected).toHaveLength(1);
    const rejected = await stopped();
    await rejected.emits({ type: 'permission.asked', sessionId, requestId: 'request-1' });
    await rejected.emits({
      type: 'permission.answered',
      sessionId,
      requestId: 'request-1',
      granted: false,
    });
    await rejected.idles();
    await rejected.clock.advance(minute);
    expect(rejected.injected).toEqual([]);
  });

  it('P18: background work is waited for, also when it begins in mid-countdown, and its end is noticed', async () => {
    let count = 1;
    const stage = await stopped({ backgroundCount: () => count });
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
    count = 0;
    await stage.clock.advance(4000);
    expect(stage.injected).toHaveLength(1);
    count = 0;
    const later = await stopped({ backgroundCount: () => count });
    count = 1;
    await later.clock.advance(minute);
    expect(later.injected).toEqual([]);
  });

  it('G2: a step that ended in an error is not continued', async () => {
    const stage = await stopped();
    await stage.emits({
      type: 'session.error',
      sessionId,
      error: new Error('the server hung up'),
    });
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toEqual([]);
    expect(stage.toasts.at(-1)?.message).toContain('open (failed).');
  });

  it('P21: a rate limit is waited for', async () => {
    const stage = await stopped();
    const error = { name: 'APIError', status: 429, retryAfterMs: 30_000 };
    await stage.emits({ type: 'session.error', sessionId, error });
    await stage.idles();
    await stage.clock.advance(29_000);
    expect(stage.injected).toEqual([]);
    await stage.clock.advance(1000);
    expect(stage.injected).toHaveLength(1);
  });

  it('P8: a question in the text is answered once, then it is the human’s turn', async () => {
    const stage = await stopped();
    await stage.answers('Shall I go on?');
    await stage.idles();
    await stage.clock.advance(2000);
    expect(stage.injected[0]?.text).toContain('question');
    await stage.answers('Really?');
    await stage.idles();
    await stage.clock.advance(minute);
    expect(stage.injected).toHaveLength(1);
  });
});

describe('usage that the program reports', () => {
  const reports = (stage: ProgramStage, more: object) =>
    stage.emits({
      type: 'usage.reported',
      sessionId,
      inputTokens: 900,
      outputTokens: 100,
      ...more,
    });

  it('G8: budgets of tokens and cost end a turn, calls of a turn that failed included', async () => {
    for (const [settings, reason] of [
      [{ maxTokens: 2000 }, 'The budget of 2000 tokens is spent.'],
      [{ maxCost: 0.5 }, 'The budget of 0.5 dollars is spent.'],
    ] as const) {
      const stage = await stopped({ settings });
      await reports(stage, { cost: 0.25 });
      await stage.emits({
        type: 'session.error',
        sessionId,
        error: new Error('the server hung up'),
      });
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(2000);
      expect(stage.injected).toHaveLength(1);
      await reports(stage, { cost: 0.25 });
      await stage.answers();
      await stage.idles();
      await stage.clock.advance(minute);
      expect(stage.injected).toHaveLength(1);
      expect(stage.toasts.at(-1)?.message).toMatch(/^not done: .*\(exhausted\)/u);
      expect(stage.toasts.at(-1)?.message).toContain(reason);
      expect(stage.errors).toEqual([]);
    }
  });

  it('G8: nothing is sent into a context that is 90 % full; one that is not known is not watched', async () => {
    const full = await stopped();
    await reports(full, { contextTokens: 90_000, contextLimit: 100_000 });
    await full.clock.advance(minute);
    expect([full.injected, full.toasts.at(-1)?.message]).toEqual([
      [],
      expect.stringContaining('90 % full'),
    ]);
    for (const context of [
      { contextTokens: 90_000 },
      { contextTokens: 90_000, contextLimit: 0 },
      { contextTokens: 'many', contextLimit: Number.NaN },
    ]) {
      const stage = await stopped();
      await reports(stage, context);
      await stage.clock.advance(2000);
      expect([stage.injected.length, stage.errors]).toEqual([1, []]);
    }
  });
});

/** The seconds of the countdown's toasts. */
const seconds = (stage: ProgramStage) =>
  stage.toasts.flatMap(
    ({ message }) => /Resuming in (\d+) s/u.exec(message)?.slice(1).map(Number) ?? [],
  );

async function countsDownAnew(stage: ProgramStage, before: readonly number[]) {
  await stage.clock.advance(1999);
  expect([stage.injected, seconds(stage)]).toEqual([[], [...before, 2, 1]]);
  await stage.clock.advance(1);
  expect(stage.injected).toHaveLength(1);
}

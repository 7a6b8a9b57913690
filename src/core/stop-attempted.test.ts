import { describe, expect, it } from 'vitest';
import {
  createCoreDriver,
  type DriverOptions,
  injectionOf,
  textOf,
} from '../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };

function planned(options: DriverOptions = {}) {
  const driver = createCoreDriver(options);
  driver.says();
  driver.plans('write the parser', 'write the tests');
  return driver;
}

describe('idling twice', () => {
  it('E4 P24: duplicate idle events give one countdown and one injection', () => {
    const driver = planned(told);
    driver.stops();
    const { timer } = driver.state;
    driver.now += 1500;
    const again = driver.stops();
    expect(again.commands, 'no second notice').toEqual([]);
    expect(driver.state.timer).toEqual(timer);
    expect(injectionOf(driver.fires())).not.toBeNull();
    const late = driver.stops();
    expect(late.decision).toMatchObject({ answer: 'wait', reason: 'already-answered' });
    expect(late.commands).toEqual([]);
    expect(driver.state).toMatchObject({ parked: null, timer: null });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stops().decision?.reason).toBe('not-yet');
  });

  it('E4: an idle that comes when the countdown is over is the injection, and the timer finds nothing to do', () => {
    const driver = planned(told);
    driver.stops();
    const timer = driver.state.timer ?? { epoch: 0, dueAt: 0 };
    driver.now = timer.dueAt;
    expect(injectionOf(driver.stops())).not.toBeNull();
    expect(driver.happens({ type: 'timer-fired', ...timer }).commands).toEqual([]);
  });

  it('E4: a repeated idle is not a second question, empty answer or tool error', () => {
    const driver = planned(told);
    for (let idle = 0; idle < 3; idle++) driver.stops({ question: true, end: 'empty' });
    expect(driver.state).toMatchObject({ questions: 1, emptyAnswers: 1 });
    driver.fires();
    driver.stops({ question: true });
    expect(driver.state.questions).toBe(1);
  });
});

describe('questions in the text', () => {
  it('P8 P10: the first gets one continuation, the second in a row waits for the human', () => {
    const driver = planned();
    const first = driver.stops({ question: true });
    expect(first.decision?.textKind).toBe('text-question');
    expect(textOf(first)).toContain('call todo_pause');
    expect(driver.stops({ question: true }).decision).toMatchObject({
      answer: 'wait',
      reason: 'repeated-question',
    });
  });

  it('G11: without a terminal the second one pauses', () => {
    const driver = planned({ descriptor: { headless: true } });
    driver.stops({ question: true });
    expect(driver.stops({ question: true }).decision).toMatchObject({
      answer: 'let-go',
      outcome: 'paused',
    });
  });

  it('G11: a tool call or an answer without a question in between starts the count anew', () => {
    const driver = planned({ settings: { maxStagnant: 10 } });
    driver.stops({ question: true });
    driver.happens({ type: 'tool-started', tool: 'read', access: 'read' });
    expect(driver.stops({ question: true }).decision?.answer).toBe('continue');
    driver.happens({ type: 'tool-ended', tool: 'read', access: 'read', error: null });
    expect(driver.stops({ question: true }).decision?.answer).toBe('continue');
    driver.stops();
    expect(driver.stops({ question: true }).decision?.answer).toBe('continue');
  });

  it('G11: a told host that waits for the human is not continued by anything else', () => {
    const driver = planned(told);
    driver.stopsFully({ question: true });
    driver.happens({ type: 'activity-seen' });
    driver.stops({ question: true });
    expect(driver.state).toMatchObject({
      parked: { cause: 'repeated-question' },
      timer: null,
    });
    expect(
      driver.happens({ type: 'wait-ended', wait: { kind: 'recovery' } }).decision?.reason,
    ).toBe('repeated-question');
  });
});

describe('how a step ended', () => {
  it('P14: an empty answer gets one retry of its own, then the ordinary reminders', () => {
    const driver = planned();
    expect(driver.stops({ end: 'empty' }).decision?.textKind).toBe('empty-answer');
    expect(driver.stops({ end: 'empty' }).decision).toMatchObject({
      textKind: 'standard',
      level: 2,
    });
    driver.works('read');
    expect(driver.stops({ end: 'empty' }).decision?.textKind).toBe('empty-answer');
  });

  it('P13: the output limit resumes the same todo and is no stagnation', () => {
    const driver = planned();
    const stopped = driver.stops({ end: 'length' });
    expect(stopped.decision?.textKind).toBe('output-limit');
    expect(textOf(stopped)).toContain('“write the parser”');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 1, total: 1 });
  });

  it('S2: a cut of the tool calls is answered, with a plan and without one', () => {
    const driver = createCoreDriver();
    driver.says();
    driver.works();
    const without = driver.stops({ end: 'iteration-budget' });
    expect(without.decision?.textKind).toBe('iteration-budget');
    expect(textOf(without)).toContain('without a plan');
    driver.plans('write the parser');
    expect(textOf(driver.stops({ end: 'iteration-budget' }))).toContain(
      'bring the todo list up to date',
    );
  });

  it('P15 G2: refusals, filters, cancellations and errors are never pressed', () => {
    const driver = planned();
    const ends = ['refusal', 'content-filter', 'cancelled', 'error'] as const;
    expect(ends.map((end) => driver.stops({ end }).decision?.outcome)).toEqual([
      'failed',
      'failed',
      'aborted',
      'failed',
    ]);
    expect(driver.state.counters.total).toBe(0);
  });
});

describe('the first stop of a session', () => {
  it('T3: makes a turn where no human was seen, and marks it as stopped in', () => {
    const driver = createCoreDriver();
    driver.stops();
    expect(driver.state.turn).toMatchObject({ number: 1, stopSeen: true, ended: true });
  });

  it('V5: shows that an asked host took the answer before', () => {
    const driver = planned();
    driver.stops();
    const { injection } = driver.state;
    driver.stops({ end: 'refusal' });
    expect(driver.state.injection).toEqual({ ...injection, state: 'observed' });
  });
});

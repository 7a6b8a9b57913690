import { describe, expect, it } from 'vitest';
import {
  answerOf,
  createCoreDriver,
  type DriverOptions,
} from '../../test/properties/core-driver.ts';

const told: DriverOptions = { descriptor: { mode: 'told' } };

describe('letting go', () => {
  it('C4: an asked host gets the reason as a message, except where there is nothing to tell', () => {
    const driver = createCoreDriver();
    driver.says();
    expect(answerOf(driver.stops()), 'no outcome').toMatchObject({
      answer: 'let-go',
      message: null,
    });
    const [todo] = driver.plans('a');
    driver.works();
    driver.completes(todo ?? '');
    expect(answerOf(driver.stops())?.message).toBe(
      "claimed, not proved. Nothing is open; 1 todo rests on the agent's word alone. For `done` give this project a check: untildone config init.",
    );
    driver.says('And b.');
    driver.works();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(answerOf(driver.stops())?.message, 'an abort they made themselves').toMatch(
      /^not done \(aborted\)\./u,
    );
  });

  it('C4: a told host is notified of the outcome, except where there is nothing to tell', () => {
    const driver = createCoreDriver(told);
    driver.says();
    expect(driver.stops().commands).toEqual([]);
    driver.happens({ type: 'activity-seen' });
    driver.plans('a');
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    expect(driver.stops().commands).toEqual([
      {
        type: 'notify',
        level: 'info',
        title: 'untildone',
        message:
          'not done: 1 of 1 todo open (paused). The agent paused: I need a key. Open: “a”.',
      },
    ]);
  });

  it('V8: settles the turn with its outcome and reason, and ends it', () => {
    const driver = createCoreDriver(told);
    driver.says();
    driver.plans('a');
    driver.happens({ type: 'activity-seen' });
    driver.stops({ end: 'refusal' });
    expect(driver.state).toMatchObject({
      settled: { outcome: 'failed', reason: 'refused', at: driver.now },
      turn: { ended: true },
      activeSinceAnswer: false,
      lastStop: { end: 'refusal' },
    });
  });

  it('C2: a skip settles nothing and says nothing', () => {
    const driver = createCoreDriver({ settings: { mode: 'off' } });
    driver.says();
    driver.plans('a');
    const step = driver.stops();
    expect(step.decision).toMatchObject({
      answer: 'let-go',
      reason: 'disabled',
      outcome: null,
    });
    expect(answerOf(step)).toMatchObject({ answer: 'let-go', text: null, message: null });
    expect(driver.state.settled).toBeNull();
  });

  it('C2: observing settles, parks, notifies and schedules nothing, whatever the rule', () => {
    const driver = createCoreDriver({ ...told, settings: { mode: 'observe' } });
    driver.says();
    driver.plans('a');
    driver.happens({ type: 'wait-started', wait: { kind: 'recovery' } });
    expect(driver.stops()).toMatchObject({
      decision: { reason: 'recovering', observed: true },
      commands: [],
    });
    driver.happens({ type: 'wait-ended', wait: { kind: 'recovery' } });
    driver.happens({ type: 'model-paused', reason: 'x' });
    expect(driver.stops()).toMatchObject({
      decision: { reason: 'paused-by-model', observed: true },
      commands: [],
    });
    expect(driver.state).toMatchObject({
      settled: null,
      parked: null,
      timer: null,
      lastStop: null,
    });
    const asked = createCoreDriver({ settings: { mode: 'observe' } });
    asked.says();
    asked.plans('a');
    asked.happens({ type: 'wait-started', wait: { kind: 'recovery' } });
    expect(answerOf(asked.stops())).toMatchObject({ answer: 'let-go', message: null });
  });

  it('C1: the settings of the agent at work hold', () => {
    const driver = createCoreDriver({
      settings: { agents: { build: { maxStagnant: 1 } } },
    });
    driver.says();
    driver.plans('a');
    driver.stops();
    expect(driver.stops().decision?.reason).toBe('stagnant');
  });
});

describe('waiting', () => {
  it('E1, E4: a countdown has one due time, however often the host idles, and a new one after activity', () => {
    const driver = createCoreDriver({ ...told, settings: { countdownSeconds: 5 } });
    driver.says();
    driver.plans('a', 'b', 'c');
    expect(driver.stops().decision?.sentence).toBe('Resuming in 5 s.');
    const { timer } = driver.state;
    driver.now += 3000;
    expect(driver.stops().commands, 'toasts are not the business of the state').toEqual(
      [],
    );
    expect(driver.state.timer).toEqual(timer);
    driver.happens({ type: 'activity-seen' });
    driver.stops();
    expect(driver.state.timer?.dueAt).toBe(driver.now + 5000);
  });

  it('P18: a told host that waits for background work has a timer for its end', () => {
    const driver = createCoreDriver(told);
    driver.says();
    driver.plans('a');
    driver.stops({
      background: [{ id: 'job-1', kind: 'subagent', description: 'explore' }],
    });
    expect(driver.state.timer).toMatchObject({
      purpose: 'due',
      dueAt: driver.now + 30 * 60_000,
    });
    expect(driver.state.backgroundSince).toBe(driver.now);
    expect(driver.fires().decision?.reason).toBe('not-yet');
    driver.fires();
    expect(driver.state.counters.total).toBe(1);
  });

  it('V6: a decision keeps what its rule looked at', () => {
    const driver = createCoreDriver({ ...told });
    driver.says();
    driver.plans('a');
    expect(driver.stops().decision).toMatchObject({
      reason: 'not-yet',
      inputs: { at: driver.now, dueAt: driver.now + 2000 },
      dueAt: driver.now + 2000,
      epoch: driver.state.epoch,
    });
  });

  it('S8: a let-go with open todos names the first five to the human, and how many more, in both kinds of hosts', () => {
    for (const mode of ['asked', 'told'] as const) {
      const driver = createCoreDriver({
        descriptor: { mode, immediate: true },
        settings: { maxStagnant: 1 },
      });
      driver.says();
      driver.plans('a', 'b', 'c', 'd', 'e\u001b[2J', 'f', 'g');
      driver.stopsFully();
      const ended = driver.stopsFully();
      const said =
        answerOf(ended)?.message ?? ended.commands.find(({ type }) => type === 'notify');
      expect(JSON.stringify(said)).toContain('Open: “a”, “b”, “c”, “d”, “e');
      expect(JSON.stringify(said)).toContain('and 2 more.');
      expect(JSON.stringify(said)).not.toContain('u001b');
    }
  });
});

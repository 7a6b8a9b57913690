// A stop or a pause after the end of a turn silences the session and does not change how
// the turn ended (V12).
import { describe, expect, it } from 'vitest';
import { ends, reports } from '../../test/properties/check-story.ts';
import {
  createCoreDriver,
  type DriverOptions,
  type Happening,
} from '../../test/properties/core-driver.ts';
import { isGoalProved } from './state.ts';

/**
 * After a turn that ended as done: its check on the goal failed before the work and
 * passes now.
 */
function afterDone(options: DriverOptions) {
  const driver = createCoreDriver({ goalChecks: ['unit'], ...options });
  driver.says();
  driver.happens({
    type: 'baseline-seen',
    fingerprint: 'tree-0',
    checks: [{ check: 'unit', result: 'failed' }],
  });
  const [todo = ''] = driver.plans('write the parser');
  driver.works();
  driver.completes(todo);
  driver.stops();
  reports(driver, null, 'passed');
  ends(driver);
  expect(driver.state).toMatchObject({
    settled: { outcome: 'done' },
    turn: { number: 1, ended: true },
  });
  driver.now += 60_000;
  return driver;
}

const hosts = [
  { name: 'a host that asks', options: {} },
  {
    name: 'a host that tells',
    options: { descriptor: { mode: 'told', immediate: true } },
  },
  { name: 'a run', options: { descriptor: { judgesGoal: true } } },
] as const;

describe.each(hosts)('in $name', ({ options }) => {
  it('V12: a stop after the end silences the session; outcome and proofs stay, also at a later stop attempt', () => {
    const driver = afterDone(options);
    const { settled, goal } = driver.state;
    driver.happens({ type: 'human-aborted', how: 'untildone stop' });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stops().decision).toMatchObject({
      answer: 'let-go',
      reason: 'aborted',
      outcome: null,
    });
    expect(driver.decisions.at(-1)?.sentence).toContain('Its outcome stays done.');
    const latch = { how: 'untildone stop', at: driver.now };
    expect(driver.state).toMatchObject({ settled, goal, latch });
    expect(isGoalProved(driver.state)).toBe(true);
  });

  it('V12: a pause after the end does the same', () => {
    const driver = afterDone(options);
    const { settled } = driver.state;
    driver.happens({ type: 'human-paused', reason: 'lunch' });
    driver.happens({ type: 'activity-seen' });
    const { decision } = driver.stops();
    expect(decision).toMatchObject({
      answer: 'let-go',
      reason: 'paused-by-human',
      outcome: null,
    });
    expect(driver.state).toMatchObject({
      settled,
      pause: { by: 'human', reason: 'lunch' },
    });
    expect(isGoalProved(driver.state)).toBe(true);
  });

  it('V12: the agent pauses itself after the end: a host that asks it once more gets no second outcome', () => {
    const driver = afterDone(options);
    const { settled } = driver.state;
    driver.happens({ type: 'model-paused', reason: '', byCommand: true });
    driver.happens({ type: 'activity-seen' });
    const { decision } = driver.stops();
    expect(decision).toMatchObject({
      answer: 'let-go',
      reason: 'paused-by-model',
      outcome: null,
    });
    expect(driver.state).toMatchObject({ settled, pause: { by: 'model' } });
    expect(isGoalProved(driver.state)).toBe(true);
  });

  it('V12: to resume it afterwards lifts the stop or the pause, and decides nothing anew', () => {
    for (const type of ['human-aborted', 'human-paused'] as const) {
      const driver = afterDone(options);
      const { settled } = driver.state;
      driver.happens(
        type === 'human-aborted'
          ? { type, how: 'untildone stop' }
          : { type, reason: null },
      );
      driver.now += 1000;
      expect(driver.happens({ type: 'human-resumed' })).toMatchObject({
        decision: null,
        commands: [],
      });
      expect(driver.state).toMatchObject({
        settled,
        latch: null,
        pause: null,
        parked: null,
      });
    }
  });

  it('V12: a stop word after the end begins no turn and gets no outcome of its own', () => {
    const driver = afterDone(options);
    const { settled, turn } = driver.state;
    driver.says('stop');
    expect(driver.state).toMatchObject({
      settled,
      turn,
      latch: { how: 'told to stop', at: driver.now },
    });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stops().decision).toMatchObject({ reason: 'aborted', outcome: null });
    expect(driver.state).toMatchObject({ settled, turn: { number: 1 } });
    expect(isGoalProved(driver.state)).toBe(true);
  });

  it('V12: the next message lifts it and begins a turn, which a stop ends as aborted', () => {
    const driver = afterDone(options);
    driver.says('stop');
    driver.says('now the docs');
    expect(driver.state).toMatchObject({
      settled: null,
      latch: null,
      turn: { number: 2, ended: false },
    });
    driver.plans('write the docs');
    driver.works();
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(driver.state).toMatchObject({
      settled: { outcome: 'aborted' },
      turn: { ended: true },
    });
  });

  it('V12: a plan that is moved after the end leaves the outcome as it was', () => {
    const driver = afterDone(options);
    driver.happens({ type: 'plan-moved', to: 'OpenCode' });
    expect(driver.state).toMatchObject({
      settled: { outcome: 'done' },
      latch: { movedTo: 'OpenCode' },
    });
    driver.happens({ type: 'activity-seen' });
    expect(driver.stops().decision).toMatchObject({ reason: 'aborted', outcome: null });
  });
});

/** As the hook of a host tells of a call of the agent itself. */
const call = { tool: 'Bash', access: 'read', error: null } as const;
const own = { source: { kind: 'work', promptId: null } } as const;
const wakes: readonly (readonly [string, DriverOptions, Happening])[] = [
  ['its own message to the agent', {}, { type: 'activity-seen', wakes: true }],
  ['a call that is told when it begins', {}, { type: 'tool-started', ...call, ...own }],
  ['a todo tool that is told when it ends', {}, { type: 'tool-ended', ...call, ...own }],
  [
    'a call in a host that tells live',
    { descriptor: { mode: 'told', immediate: true } },
    { type: 'tool-started', ...call },
  ],
];

describe('a turn whose host wakes the agent after the end', () => {
  it.each(wakes)(
    'V12: runs again by %s, and its next stop is judged anew',
    (_, options, wake) => {
      const driver = afterDone(options);
      const before = driver.state;
      driver.happens(wake);
      expect(driver.state).toMatchObject({
        settled: null,
        turn: { number: 1, ended: false },
      });
      expect(driver.state.counters, 'only the human zeroes them').toEqual(
        before.counters,
      );
      expect(isGoalProved(driver.state)).toBe(false);
      driver.now += 1000;
      driver.happens({ type: 'activity-seen' });
      expect(driver.stops().decision?.answer, 'the check runs once more').toBe('wait');
      reports(driver, null, 'failed');
      ends(driver);
      expect(driver.decisions.at(-1)).toMatchObject({ answer: 'continue' });
    },
  );

  it('V12: ends as before if nothing changed', () => {
    const driver = afterDone({});
    driver.happens({ type: 'activity-seen', wakes: true });
    driver.stops();
    reports(driver, null, 'passed');
    ends(driver);
    expect(driver.state.settled).toMatchObject({ outcome: 'done', at: driver.now });
  });

  it('V12: is aborted by a stop, like any turn that runs', () => {
    const driver = afterDone({});
    driver.happens({ type: 'activity-seen', wakes: true });
    driver.happens({ type: 'human-aborted', how: 'untildone stop' });
    expect(driver.state).toMatchObject({
      settled: { outcome: 'aborted' },
      turn: { ended: true },
    });
  });

  it('V12: stays as it ended by what is told late, by a subagent, and by signs that are no work', () => {
    const driver = afterDone({});
    const { settled } = driver.state;
    const { updatedAt } = driver.state;
    const late = [updatedAt, updatedAt - 5000];
    for (const at of late) driver.happens({ type: 'tool-started', ...call, ...own }, at);
    const side = { source: { kind: 'side', promptId: null } } as const;
    const signs: readonly Happening[] = [
      { type: 'tool-started', ...call, ...side },
      { type: 'tool-ended', ...call },
      { type: 'activity-seen' },
      { type: 'wait-ended', wait: { kind: 'background', jobId: 'job' } },
    ];
    for (const sign of signs) {
      driver.now += 1000;
      driver.happens(sign);
    }
    expect(driver.state).toMatchObject({ settled, turn: { ended: true } });
  });

  it('V12: stays as it ended while it is stopped or paused', () => {
    const holds = [
      { type: 'human-aborted', how: 'untildone stop' },
      { type: 'human-paused', reason: null },
      { type: 'model-paused', reason: '', byCommand: true },
    ] as const;
    for (const hold of holds) {
      const driver = afterDone({});
      const { settled } = driver.state;
      driver.happens(hold);
      driver.now += 1000;
      driver.happens({ type: 'activity-seen', wakes: true });
      expect(driver.state, hold.type).toMatchObject({ settled, turn: { ended: true } });
    }
  });

  it('V12: stays as it ended in a run of ours, which says by itself that it goes on', () => {
    const driver = afterDone({ descriptor: { judgesGoal: true } });
    const { settled } = driver.state;
    driver.happens({ type: 'tool-started', ...call });
    expect(driver.state).toMatchObject({ settled, turn: { ended: true } });
  });

  it('V5: a text that was on its way before the end is void', () => {
    const driver = createCoreDriver({ descriptor: { mode: 'told', immediate: true } });
    driver.says();
    driver.plans('write the parser');
    const { epoch = 0 } = driver.stops().decision ?? {};
    driver.now += 1000;
    driver.happens({ type: 'tool-ended', ...call });
    const todo = driver.state.plan[0]?.id ?? '';
    driver.completes(todo);
    expect(driver.stops().decision?.outcome).toBe('claimed');
    driver.now += 1000;
    driver.happens({ type: 'tool-started', ...call });
    const lost = { type: 'delivery-reported', epoch, news: 'lost', error: null } as const;
    expect(driver.happens(lost).commands).toEqual([]);
  });
});

describe('a turn without an outcome', () => {
  it('V12: gets none by a stop or a pause afterwards', () => {
    for (const type of ['human-aborted', 'human-paused'] as const) {
      const driver = createCoreDriver();
      driver.says('what is this?');
      expect(driver.stops().decision).toMatchObject({ reason: 'no-plan', outcome: null });
      driver.happens(
        type === 'human-aborted' ? { type, how: 'escape' } : { type, reason: null },
      );
      expect(driver.stops().decision).toMatchObject({ answer: 'let-go', outcome: null });
      expect(driver.state.settled).toBeNull();
    }
  });
});

describe('a turn that runs', () => {
  it('P19: a stop ends it as aborted: at work, while checks are waited for, and in a countdown', () => {
    const asked = createCoreDriver({ goalChecks: ['unit'] });
    asked.says();
    const [todo = ''] = asked.plans('write the parser');
    asked.works();
    asked.completes(todo);
    expect(asked.stops().decision?.answer).toBe('wait');
    const told = createCoreDriver({ descriptor: { mode: 'told' } });
    told.says();
    told.plans('write the parser');
    expect(told.stops().decision?.reason).toBe('not-yet');
    const working = createCoreDriver();
    working.says();
    for (const driver of [asked, told, working]) {
      driver.happens({ type: 'human-aborted', how: 'escape' });
      expect(driver.state.settled?.outcome).toBe('aborted');
      driver.happens({ type: 'activity-seen' });
      expect(driver.stops().decision).toMatchObject({
        reason: 'aborted',
        outcome: 'aborted',
      });
    }
  });

  it('P19: a turn that is resumed after its end runs again', () => {
    const driver = createCoreDriver({ descriptor: { mode: 'told' } });
    driver.says();
    driver.plans('write the parser');
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    expect(driver.stops().decision?.outcome).toBe('paused');
    driver.happens({ type: 'human-resumed' });
    expect(driver.state.parked?.cause).toBe('not-yet');
    driver.happens({ type: 'human-aborted', how: 'escape' });
    expect(driver.state.settled?.outcome).toBe('aborted');
  });

  it('C3: a pause in a countdown ends the turn of a host as paused, and a later stop leaves that', () => {
    const driver = createCoreDriver({ descriptor: { mode: 'told' } });
    driver.says();
    driver.plans('write the parser');
    driver.stops();
    driver.happens({ type: 'human-paused', reason: null });
    expect(driver.state.settled).toMatchObject({
      outcome: 'paused',
      reason: 'paused-by-human',
    });
    driver.happens({ type: 'human-aborted', how: 'untildone stop' });
    expect(driver.state.settled?.outcome).toBe('paused');
  });

  it('V12: an agent whose command asks to stop while its stop waits for checks or a countdown ends as paused', () => {
    const hook = createCoreDriver({ goalChecks: ['unit'] });
    const run = createCoreDriver({
      goalChecks: ['unit'],
      descriptor: { judgesGoal: true },
    });
    const told = createCoreDriver({ descriptor: { mode: 'told' } });
    for (const driver of [hook, run, told]) {
      driver.says();
      if (driver === told) driver.plans('write the parser');
      driver.works();
      expect(driver.stops().decision?.answer).toBe('wait');
      const { decision } = driver.happens({
        type: 'model-paused',
        reason: '',
        byCommand: true,
      });
      expect(decision).toMatchObject({
        answer: 'let-go',
        reason: 'paused-by-model',
        outcome: 'paused',
      });
      expect(driver.state).toMatchObject({
        parked: null,
        timer: null,
        settled: { outcome: 'paused' },
      });
    }
  });

  it('C3: a run that is stopped after a pause ends as aborted', () => {
    const driver = createCoreDriver({
      goalChecks: ['unit'],
      descriptor: { judgesGoal: true },
    });
    driver.says();
    driver.works();
    expect(driver.stops().decision?.answer).toBe('wait');
    driver.happens({ type: 'human-paused', reason: null });
    driver.happens({ type: 'human-aborted', how: 'Ctrl-C' });
    expect(driver.stops({ end: 'cancelled' }).decision?.outcome).toBe('aborted');
  });

  it('V12: a run that is taken up without a message goes on in its turn, and a stop ends it as aborted', () => {
    const driver = createCoreDriver({ descriptor: { judgesGoal: true } });
    driver.says();
    driver.plans('write the parser');
    driver.happens({ type: 'model-paused', reason: 'I need a key' });
    driver.stops();
    driver.happens({ type: 'human-resumed', goesOn: true });
    expect(driver.state).toMatchObject({
      settled: null,
      turn: { number: 1, ended: false },
      pause: null,
    });
    driver.happens({ type: 'human-aborted', how: 'Ctrl-C' });
    expect(driver.state.settled?.outcome).toBe('aborted');
  });
});

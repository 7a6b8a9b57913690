import { describe, expect, it } from 'vitest';
import { ends, own, planned, reports } from '../../test/properties/check-story.ts';
import { answerOf, createCoreDriver, textOf } from '../../test/properties/core-driver.ts';
import { countPlan, isGoalProved } from './state.ts';

describe('a check of a todo', () => {
  it('V1: completing a todo that has one runs it, and only a pass makes it final', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own }, 'test');
    const claimed = driver.completes(first);
    expect(claimed.commands).toContainEqual({
      type: 'run-checks',
      checks: [{ todoId: first, check: 'own' }],
      stop: null,
    });
    expect(driver.todo(first)).toMatchObject({
      status: 'completed',
      verification: 'claimed',
      finalAt: null,
    });
    driver.happens({ type: 'check-started', todoId: first, check: 'own' });
    expect(driver.todo(first).verification).toBe('running');
    expect(countPlan(driver.state.plan).running).toBe(1);
    reports(driver, first, 'passed');
    expect(driver.todo(first)).toMatchObject({
      verification: 'passed',
      evidence: [{ check: 'own', fingerprint: 'tree-1', flaky: false }],
      passedAt: driver.now,
      finalAt: driver.now,
    });
    expect(countPlan(driver.state.plan)).toMatchObject({ running: 0, passed: 1 });
    expect(driver.ledger).toContain('check-passed');
  });

  it('P31: a failing one reopens the todo, and the continuation quotes its tail', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'failed', { tail: 'AssertionError: expected 3, got 4' });
    expect(driver.todo(first)).toMatchObject({
      status: 'in_progress',
      verification: 'failed',
      completedAt: null,
      attempts: 1,
    });
    expect(driver.ledger).toContain('check-failed');
    const stopped = driver.stops();
    expect(stopped.decision?.textKind).toBe('failed-check');
    expect(textOf(stopped)).toContain('| AssertionError: expected 3, got 4');
    expect(textOf(stopped)).toContain('The check of “parse” failed');
  });

  it('G6: the first pass zeroes two counters, a second pass of the same todo none', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own }, 'test');
    driver.stops();
    driver.completes(first);
    reports(driver, first, 'passed');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 1 });
    driver.updates(first, { status: 'in_progress' });
    driver.stops();
    const { counters } = driver.state;
    expect(counters.continuations).toBe(1);
    driver.completes(first);
    reports(driver, first, 'passed');
    expect(driver.state.counters.continuations).toBe(1);
  });

  it('V1: a result for a todo that is no longer completed, or that nobody knows, is too late', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    driver.updates(first, { status: 'in_progress' });
    reports(driver, first, 'passed');
    expect(driver.todo(first)).toMatchObject({
      status: 'in_progress',
      verification: 'none',
    });
    driver.happens({ type: 'check-started', todoId: first, check: 'own' });
    expect(driver.todo(first).verification).toBe('none');
    const { plan } = driver.state;
    reports(driver, 'nobody', 'failed');
    expect(driver.state.plan).toBe(plan);
  });

  it('C2: observing runs no check, and so does off', () => {
    for (const mode of ['observe', 'off'] as const) {
      const { driver, first } = planned(
        { settings: { mode } },
        { title: 'parse', ...own },
      );
      expect(driver.completes(first).commands.map(({ type }) => type)).toEqual(['reply']);
      expect(driver.stops().commands).toEqual([
        expect.objectContaining({ answer: 'let-go', message: null }),
      ]);
    }
  });
});

describe('a check that cannot start', () => {
  const tail = '“./test.sh” exited with 127 instead of 0\nsh: ./test.sh: not found';

  it('P44: of the goal: the stop is blocked, and nothing is held against the agent', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'cannot-start', { tail });
    expect(driver.state.goal['unit']).toMatchObject({ state: 'cannot-start', tail });
    const { decision } = ends(driver);
    expect(decision).toMatchObject({ outcome: 'blocked', reason: 'check-cannot-start' });
    expect(decision?.sentence).toContain('unit cannot start');
    expect(decision?.sentence).toContain('not found');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 0 });
  });

  it('P44: of a todo: it stays claimed, is not reopened, and is tried again at the next stop', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'cannot-start', { tail });
    expect(driver.todo(first)).toMatchObject({
      status: 'completed',
      verification: 'claimed',
      attempts: 0,
    });
    driver.stops();
    reports(driver, first, 'cannot-start', { tail });
    expect(ends(driver).decision).toMatchObject({
      outcome: 'blocked',
      reason: 'check-cannot-start',
    });
    driver.says('I installed it');
    driver.works();
    driver.updates(first, { context: 'now it is there' });
    driver.stops();
    reports(driver, first, 'passed');
    expect(driver.todo(first)).toMatchObject({
      verification: 'passed',
      failureTail: null,
    });
    expect(ends(driver).decision).toMatchObject({ outcome: 'done' });
  });

  it('P44: a proof that was there before is taken back, in the ledger too', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    driver.stops();
    reports(driver, first, 'cannot-start');
    expect(driver.todo(first)).toMatchObject({
      status: 'completed',
      verification: 'claimed',
      evidence: [],
    });
    expect(driver.ledger.at(-1)).toBe('check-failed');
    expect(ends(driver).decision?.reason).toBe('check-cannot-start');
  });

  it('P44: while another check on the goal fails, the agent is continued', () => {
    const { driver, first } = planned({ goalChecks: ['unit', 'lint'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'cannot-start');
    reports(driver, null, 'failed', { check: 'lint', tail: 'bad' });
    expect(ends(driver).decision).toMatchObject({
      answer: 'continue',
      textKind: 'failed-check',
    });
  });
});

describe('the final stop', () => {
  it('V2: runs what is unverified and the goal checks always, and settles when all have reported', () => {
    const { driver, first, second } = planned(
      { goalChecks: ['unit'] },
      { title: 'parse', ...own },
      { title: 'test', ...own },
    );
    driver.completes(first);
    driver.completes(second);
    const stopped = driver.stops();
    expect(stopped.commands).toContainEqual({
      type: 'run-checks',
      checks: [
        { todoId: first, check: 'own' },
        { todoId: second, check: 'own' },
        { todoId: null, check: 'unit' },
      ],
      stop: driver.state.parked?.eventId,
    });
    expect(stopped.decision).toMatchObject({ answer: 'wait', reason: 'nothing-open' });
    expect(driver.state.parked).not.toBeNull();
    expect(reports(driver, first, 'passed').decision?.answer).toBe('wait');
    expect(reports(driver, null, 'passed').decision?.answer).toBe('wait');
    expect(
      reports(driver, second, 'passed').decision?.answer,
      'what is stale comes last',
    ).toBe('wait');
    const last = ends(driver);
    expect(last.decision).toMatchObject({
      answer: 'let-go',
      reason: 'nothing-open',
      outcome: 'done',
    });
    expect(answerOf(last)?.message).toBe('done: unit and own passed');

    // V8: a question takes no proof away, work does.
    for (const words of ['what is 2 + 2?', 'and 3 + 3?']) {
      driver.says(words);
      driver.stops();
      expect(isGoalProved(driver.state), words).toBe(true);
    }
    driver.says('now the docs');
    driver.plans('docs');
    expect(isGoalProved(driver.state)).toBe(false);
  });

  it('V1: without any check of its own a plan whose goal check passed is done, and a flaky pass is only claimed', () => {
    for (const [flaky, outcome] of [
      [false, 'done'],
      [true, 'claimed'],
    ] as const) {
      const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
      driver.completes(first);
      driver.stops();
      reports(driver, null, 'passed', { flaky });
      ends(driver);
      expect(driver.state.settled?.outcome).toBe(outcome);
    }
  });

  it('V1: a goal check that fails continues the agent with its tail, and is run again at the next stop', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    reports(driver, null, 'failed', { tail: 'two tests failed' });
    const failed = ends(driver);
    expect(failed.decision).toMatchObject({
      answer: 'continue',
      textKind: 'failed-check',
    });
    expect(textOf(failed)).toContain('| two tests failed');
    expect(driver.stops().commands).toContainEqual(
      expect.objectContaining({ type: 'run-checks', stop: driver.state.parked?.eventId }),
    );
    reports(driver, null, 'passed');
    ends(driver);
    expect(driver.state.settled?.outcome).toBe('done');
  });

  it('P31: a check of a todo that fails at the final stop is quoted at once, and its todo is the next one', () => {
    const { driver, first, second } = planned(
      {},
      { title: 'parse', ...own },
      { title: 'test', ...own },
    );
    driver.completes(first);
    driver.completes(second);
    driver.stops();
    const failed = reports(driver, second, 'failed', { tail: 'expected 3, got 4' });
    expect(failed.decision?.textKind).toBe('failed-check');
    expect(textOf(failed)).toContain('The check of “test” failed');
    expect(textOf(failed)).toContain('| expected 3, got 4');
    expect(textOf(failed)).toContain('Go on with the next todo: “test”.');
  });

  it('V2: todos whose checks have passed before are looked at again before they settle anything', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    const stopped = driver.stops();
    expect(stopped.decision).toMatchObject({ answer: 'wait', reason: 'nothing-open' });
    expect(stopped.commands).toContainEqual(
      expect.objectContaining({ type: 'run-checks', checks: [] }),
    );
    expect(ends(driver).decision).toMatchObject({ answer: 'let-go', outcome: 'done' });
  });

  it('V2: one that fails when it is run again reopens its todo', () => {
    const { driver, first } = planned({}, { title: 'parse', ...own });
    driver.completes(first);
    reports(driver, first, 'passed');
    driver.stops();
    const failed = reports(driver, first, 'failed', { tail: 'broken since' });
    expect(failed.decision).toMatchObject({
      answer: 'continue',
      textKind: 'failed-check',
    });
    expect(driver.todo(first)).toMatchObject({ status: 'in_progress', evidence: [] });
  });

  it('G6: the first pass of a goal check is progress, later ones are not', () => {
    const { driver } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.stops();
    driver.stops();
    reports(driver, null, 'passed');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 2 });
    driver.stops();
    reports(driver, null, 'failed');
    reports(driver, null, 'passed');
    expect(driver.state.counters).toEqual({ stagnant: 1, continuations: 1, total: 3 });
  });

  it('V1: goal checks are not due in a turn that touched neither plan nor workspace', () => {
    const driver = createCoreDriver({ goalChecks: ['unit'] });
    driver.says('what is the time?');
    expect(driver.stops().decision).toMatchObject({ reason: 'no-plan', outcome: null });
    driver.says('change a file');
    driver.works();
    expect(driver.stops().commands).toContainEqual(
      expect.objectContaining({ type: 'run-checks' }),
    );
  });

  it('V5: a run that was lost in a crash is made again at the next stop', () => {
    const { driver, first } = planned(
      { goalChecks: ['unit'] },
      { title: 'parse', ...own },
    );
    driver.completes(first);
    driver.stops();
    expect(driver.stops().commands).toContainEqual(
      expect.objectContaining({ type: 'run-checks', stop: driver.state.parked?.eventId }),
    );
  });

  it('E4: a told host that idles twice shares one run', () => {
    const { driver, first } = planned(
      { goalChecks: ['unit'], descriptor: { mode: 'told' } },
      'parse',
    );
    driver.completes(first);
    driver.stops();
    const again = driver.stops();
    expect(again.decision).toMatchObject({
      answer: 'wait',
      reason: 'nothing-open',
      sentence: 'Checks are running.',
    });
    expect(again.commands).toEqual([]);
  });

  it('G6: checks that outlast the deadline cost one continuation of the ceiling alone', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first);
    driver.stops();
    const overdue = driver.happens({ type: 'checks-overdue' });
    expect(overdue.decision?.textKind).toBe('checks-running');
    expect(textOf(overdue)).toContain('Call todo_verify');
    expect(driver.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 1 });
    expect(driver.state).toMatchObject({ checksOverdue: false, parked: null });
  });

  it('M8: a deadline without a run that waits means nothing', () => {
    const { driver } = planned(
      { goalChecks: ['unit'], descriptor: { mode: 'told' } },
      'parse',
    );
    driver.happens({ type: 'checks-overdue' });
    expect(driver.state.checksOverdue).toBe(false);
    driver.happens({ type: 'wait-started', wait: { kind: 'recovery' } });
    driver.stops();
    driver.happens({ type: 'checks-overdue' });
    expect(driver.state.checksOverdue).toBe(false);
  });

  it('V4: cancelled without a reason, or all cancelled, is never done', () => {
    const { driver, first } = planned({ goalChecks: ['unit'] }, 'parse');
    driver.completes(first, 'cancelled');
    driver.stops();
    reports(driver, null, 'passed');
    ends(driver);
    expect(driver.state.settled).toMatchObject({
      outcome: 'claimed',
      reason: 'nothing-open',
    });
  });
});

describe('checks that the human names anew', () => {
  it('V1: what the old ones said is forgotten, what stays keeps its result, and the ledger says so', () => {
    const driver = createCoreDriver({ goalChecks: ['old', 'kept'] });
    for (const check of ['old', 'kept']) reports(driver, null, 'failed', { check });
    expect(Object.keys(driver.state.goal)).toEqual(['old', 'kept']);
    driver.happens({ type: 'checks-replaced', checks: ['kept', 'new'] });
    expect(driver.state.goal).toMatchObject({ kept: { state: 'failed' } });
    expect(Object.keys(driver.state.goal)).toEqual(['kept']);
    expect(driver.ledger).toContain('checks-edited');
  });
});

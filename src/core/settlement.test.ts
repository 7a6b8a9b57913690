// When a run that answers for its goal may end as done (V1, T3, P35, P36, P46).
import { describe, expect, it } from 'vitest';
import { ends, own, planned, reports } from '../../test/properties/check-story.ts';
import {
  type CoreDriver,
  createCoreDriver,
  type DriverOptions,
  textOf,
} from '../../test/properties/core-driver.ts';

const judging = {
  descriptor: { judgesGoal: true, headless: true },
} satisfies DriverOptions;
const unit: DriverOptions = { ...judging, goalChecks: ['unit'] };

function began(
  driver: CoreDriver,
  result: 'passed' | 'failed' | 'cannot-start',
  fingerprint = 'tree-0',
) {
  driver.happens({
    type: 'baseline-seen',
    fingerprint,
    checks: [{ check: 'unit', result }],
  });
  driver.happens({ type: 'workspace-seen', fingerprint });
}

function settles(
  driver: CoreDriver,
  result: 'passed' | 'failed' = 'passed',
  fingerprint: string | null = null,
) {
  driver.stops({ fingerprint });
  reports(driver, null, result);
  return ends(driver).decision;
}

describe('a run that answers for its goal', () => {
  it('P35: an agent that only talks is held to the check that the human gave', () => {
    const driver = createCoreDriver(unit);
    driver.says('migrate it');
    began(driver, 'failed');
    expect(settles(driver, 'failed')).toMatchObject({
      answer: 'continue',
      textKind: 'failed-check',
    });
    expect(settles(driver, 'passed')).toMatchObject({
      outcome: 'done',
      reason: 'nothing-open',
    });
  });

  it('P46: it only talked, and the check passed before: claimed, and nothing was seen to change', () => {
    const driver = createCoreDriver(unit);
    driver.says('migrate it');
    began(driver, 'passed');
    expect(settles(driver)).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
      inputs: { rests: 'word' },
    });
  });

  it('V1: the check passed before and the files changed: done; changed and put back: claimed', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'passed');
    driver.works();
    expect(settles(driver, 'passed', 'tree-1')).toMatchObject({ outcome: 'done' });
    const other = createCoreDriver(unit);
    other.says('tidy it');
    began(other, 'passed');
    other.works();
    other.happens({ type: 'workspace-seen', fingerprint: 'tree-1' });
    other.works();
    expect(settles(other, 'passed', 'tree-0')).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
  });

  it('V1: where no call is seen, files are the agent’s, but not what the checks of this stop or an earlier one left', () => {
    const blind = { ...unit, descriptor: { ...judging.descriptor, seesTools: false } };
    const idle = createCoreDriver(blind);
    idle.says('tidy it', 'tree-spoken');
    began(idle, 'passed');
    for (const [before, tree] of [
      ['tree-0', 'tree-1'],
      ['tree-1', 'tree-2'],
      [null, 'tree-3'],
    ] as const) {
      idle.stops({ fingerprint: before });
      reports(idle, null, 'passed', { tree });
      expect(ends(idle).decision).toMatchObject({
        outcome: 'claimed',
        reason: 'no-change',
      });
    }
    expect(settles(idle, 'passed', 'tree-4')).toMatchObject({ outcome: 'done' });
    const failing = createCoreDriver(blind);
    failing.says('tidy it');
    began(failing, 'passed');
    failing.stops({ fingerprint: 'tree-1' });
    reports(failing, null, 'failed', { tree: 'tree-2' });
    ends(failing);
    failing.stops({ fingerprint: 'tree-2' });
    // What the check left was no progress.
    expect(failing.state.counters.stagnant).toBe(1);
  });

  it('V1: what stood before the first goal is measured anew for it', () => {
    const driver = createCoreDriver(unit);
    began(driver, 'failed');
    driver.says('tidy it');
    expect(driver.state.baseline).toBeNull();
    began(driver, 'passed', 'tree-1');
    expect(settles(driver, 'passed', 'tree-1')).toMatchObject({ reason: 'no-change' });
  });

  it('V1: what the first look saw stays; a later one only adds checks', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'failed');
    driver.works();
    const checks = [
      { check: 'unit', result: 'passed' },
      { check: 'lint', result: 'failed' },
    ] as const;
    driver.happens({ type: 'baseline-seen', fingerprint: 'tree-9', checks: [...checks] });
    expect(driver.state.baseline).toEqual({
      fingerprint: 'tree-0',
      writes: 0,
      checks: { unit: 'failed', lint: 'failed' },
    });
  });

  it.each(['session', 'turn'] as const)(
    'V1: in %s scope words after the end are a new goal, and the old work is no change of it',
    (scope) => {
      const driver = createCoreDriver({ ...unit, settings: { scope } });
      driver.says('tidy it');
      began(driver, 'failed');
      driver.works();
      expect(settles(driver, 'passed', 'tree-1')).toMatchObject({ outcome: 'done' });
      driver.says('now the docs');
      expect(driver.state.baseline).toBeNull();
      began(driver, 'passed', 'tree-1');
      expect(settles(driver, 'passed', 'tree-1')).toMatchObject({
        outcome: 'claimed',
        reason: 'no-change',
      });
      driver.works();
      expect(settles(driver, 'passed', 'tree-2')).toMatchObject({ outcome: 'done' });
    },
  );

  it('V1: words after an abort or a failing check belong to the goal that they find', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'failed');
    driver.happens({ type: 'human-aborted', how: 'Ctrl-C' });
    driver.says('go on, please');
    expect(driver.state.baseline).toMatchObject({ checks: { unit: 'failed' } });
  });

  it('V1: files that change without a call that can write are no work', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'passed');
    driver.works('read');
    expect(settles(driver, 'passed', 'tree-1')).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
  });

  it('V1: what only the checks wrote is no work, with a command before and after; what is written then is', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'passed');
    const stamps = (before: string, tree: string) => {
      driver.works();
      driver.stops({ fingerprint: before });
      reports(driver, null, 'passed', { tree });
      return ends(driver).decision;
    };
    expect(stamps('tree-0', 'tree-1')).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
    expect(stamps('tree-1', 'tree-2')).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
    expect(stamps('tree-3', 'tree-4')).toMatchObject({ outcome: 'done' });
    // A check that runs after the work does not hide it.
    expect(stamps('tree-4', 'tree-5')).toMatchObject({ outcome: 'done' });
  });

  it('V1: what a check leaves while a call runs that can write may be the work of that call', () => {
    const driver = createCoreDriver(unit);
    driver.says('tidy it');
    began(driver, 'passed');
    driver.happens({ type: 'tool-started', tool: 'tool', access: 'write' });
    reports(driver, null, 'passed', { tree: 'tree-1', final: false, writes: 0 });
    driver.happens({ type: 'tool-ended', tool: 'tool', access: 'write', error: null });
    expect(settles(driver, 'passed', 'tree-1')).toMatchObject({ outcome: 'done' });
  });

  it('V1: without a plan and without a check the answer is claimed; in a host it settles nothing', () => {
    const run = createCoreDriver(judging);
    run.says('what is this?');
    expect(run.stops().decision).toMatchObject({
      outcome: 'claimed',
      reason: 'no-plan',
      inputs: { rests: 'word' },
    });
    const host = createCoreDriver();
    host.says('what is this?');
    expect(host.stops().decision).toMatchObject({ outcome: null, reason: 'no-plan' });
    expect(host.state.settled).toBeNull();
  });

  it.each(['session', 'turn'] as const)(
    'P36: in %s scope words join the turn and its plan while anything is open, also after an abort',
    (scope) => {
      const { driver } = planned({ ...judging, settings: { scope } }, 'parse', 'test');
      const { turn, planId } = driver.state;
      driver.happens({ type: 'human-aborted', how: 'Ctrl-C' });
      driver.says('use tabs, please');
      expect(driver.state).toMatchObject({
        planId,
        leftOver: null,
        turn: { id: turn?.id, ended: false },
      });
      const held = driver.stops();
      expect(held.decision).toMatchObject({ answer: 'continue' });
      expect(textOf(held)).toContain('parse');
    },
  );

  it('P36: words join a plan whose todos are blocked or unverified; once all are final a new turn begins', () => {
    const { driver, first, second } = planned(
      { ...judging, settings: { scope: 'turn' } },
      { title: 'parse', ...own },
      'test',
    );
    driver.updates(second, { status: 'blocked', reason: 'no key' });
    driver.completes(first);
    driver.stops();
    const { planId } = driver.state;
    driver.says('here is the key');
    expect(driver.state.planId).toBe(planId);
    reports(driver, first, 'passed');
    driver.completes(second);
    driver.stops();
    ends(driver);
    driver.says('now something else');
    expect(driver.state.planId).not.toBe(planId);
    expect(driver.state.leftOver).toBeNull();
  });

  it('T3: todos of another plan that stay open are never done, checks or not', () => {
    const { driver, first } = planned({ ...unit, settings: { scope: 'turn' } }, 'parse');
    began(driver, 'failed');
    driver.state = { ...driver.state, leftOver: { planId: 'old', open: 2 } };
    driver.completes(first);
    expect(settles(driver)).toMatchObject({
      outcome: 'paused',
      reason: 'plan-not-resumed',
    });
    driver.state = { ...driver.state, plan: [], goal: {} };
    const talk = createCoreDriver(judging);
    talk.says('go on');
    talk.state = { ...talk.state, leftOver: { planId: 'old', open: 1 } };
    expect(talk.stops().decision).toMatchObject({
      outcome: 'paused',
      reason: 'plan-not-resumed',
    });
  });

  it.each([
    [
      'unexplained',
      (driver: CoreDriver, id: string) =>
        driver.happens({
          type: 'todo-updated',
          actor: 'agent',
          todoId: id,
          changes: { status: 'cancelled' },
        }),
    ],
    ['word', (driver: CoreDriver, id: string) => driver.completes(id, 'cancelled')],
  ] as const)('V1: it says what a claim rests on: %s', (rests, end) => {
    const { driver, first } = planned(judging, 'parse');
    end(driver, first);
    driver.stops();
    end(driver, first);
    expect(driver.stops().decision).toMatchObject({
      outcome: 'claimed',
      inputs: { rests },
    });
  });

  it('V1: a flaky check and a broken record are no word of the agent', () => {
    const driver = createCoreDriver(unit);
    driver.says('migrate it');
    began(driver, 'failed');
    driver.stops();
    reports(driver, null, 'passed', { flaky: true });
    expect(ends(driver).decision).toMatchObject({
      outcome: 'claimed',
      inputs: { rests: 'flaky' },
    });
    driver.says('again');
    driver.happens({ type: 'record-broken', sentence: 'entry 3 was changed' });
    expect(settles(driver)).toMatchObject({
      outcome: 'claimed',
      inputs: { rests: 'record' },
    });
  });
});

describe('claims beside an open todo', () => {
  const options = { settings: { maxStagnant: 1 }, goalChecks: ['unit'] };

  it('G7: a turn does not end stagnant while the checks of its claims run; a pass is progress', () => {
    const { driver, first } = planned(options, { title: 'parse', ...own }, 'test');
    driver.stops();
    driver.state = {
      ...driver.state,
      progress: { ...driver.state.progress, weakInRow: 2 },
    };
    driver.completes(first);
    const stopped = driver.stops();
    expect(stopped.decision).toMatchObject({ answer: 'wait', reason: 'stagnant' });
    expect(stopped.commands).toContainEqual({
      type: 'run-checks',
      checks: [{ todoId: first, check: 'own' }],
      stop: driver.state.parked?.eventId,
    });
    expect(reports(driver, first, 'passed').decision).toMatchObject({
      answer: 'continue',
    });
  });

  it('G7: a failure ends the wait, and then it is stagnant; so does a host that cannot wait, later', () => {
    const { driver, first } = planned(options, { title: 'parse', ...own }, 'test');
    driver.stops();
    driver.state = {
      ...driver.state,
      progress: { ...driver.state.progress, weakInRow: 2 },
    };
    driver.completes(first);
    driver.stops();
    const late = driver.happens({ type: 'checks-overdue' });
    expect(late.decision).toMatchObject({
      answer: 'continue',
      textKind: 'checks-running',
    });
    expect(driver.state.counters.stagnant).toBe(1);
    driver.stops();
    reports(driver, first, 'failed');
    expect(ends(driver).decision ?? driver.decisions.at(-1)).toMatchObject({
      outcome: 'stagnant',
    });
  });

  /**
   * The goal passed in an earlier turn; the agent claims one todo and leaves the other
   * open.
   */
  function runOfClaims() {
    const { driver, first, second } = planned(
      options,
      { title: 'parse', ...own },
      'test',
    );
    const passed = {
      state: 'passed',
      passedBefore: true,
      flaky: false,
      tail: null,
    } as const;
    driver.stops();
    driver.state = {
      ...driver.state,
      goal: { unit: passed },
      progress: { ...driver.state.progress, weakInRow: 2 },
    };
    driver.completes(first);
    driver.stops();
    return { driver, first, second };
  }
  const goalRun = {
    type: 'run-checks',
    checks: expect.arrayContaining([{ todoId: null, check: 'unit' }]),
  };

  it('V2: a run of claims that came too late says nothing about the goal, whose checks run at the next stop', () => {
    const { driver, second } = runOfClaims();
    driver.happens({ type: 'checks-overdue' });
    driver.completes(second);
    expect(driver.stops().commands).toContainEqual(expect.objectContaining(goalRun));
  });

  it('V2: nor does it if the last open todo ends while it runs', () => {
    const { driver, first, second } = runOfClaims();
    const cancelled = { status: 'cancelled', reason: 'not wanted' } as const;
    driver.happens({
      type: 'todo-updated',
      actor: 'human',
      todoId: second,
      changes: cancelled,
    });
    const commands = [
      ...reports(driver, first, 'passed').commands,
      ...ends(driver).commands,
    ];
    expect([...driver.decisions.map(({ outcome }) => outcome)]).not.toContain('done');
    expect(commands).toContainEqual(expect.objectContaining(goalRun));
  });
});

import { driverStart } from './core-driver.ts';
import { headless, letGo, type RuleCase, silent, wait } from './rule-case.ts';
import { all, withCounts, withGoal, withSession, withSettings, withStop, withTurn } from './rule-context.ts';

const endedRun = { stop: 'stop-1', ended: true, overdue: false, writes: 0 };
const limited = all(withStop({ end: 'error' }), withSession({ rateLimitedUntil: driverStart + 1 }));

export const planCases: readonly RuleCase[] = [
  {
    rule: 'no-plan',
    id: 'P29',
    answers: [
      letGo('there is no plan and no goal check', 'done', withCounts({})),
      letGo(
        'the step failed before there was a plan',
        'failed',
        all(withCounts({}), withStop({ end: 'error' })),
      ),
      letGo(
        'the plan is settled and this turn did not touch it',
        'done',
        all(withCounts({ completed: 3 }), withTurn({ touchedPlan: false })),
      ),
      letGo(
        'the goal check is not due in a turn that touched nothing',
        'done',
        all(withCounts({}), withGoal('failed'), withTurn({ touchedPlan: false, touchedWorkspace: false })),
      ),
    ],
    silent: [
      silent('a todo is open', withTurn({ touchedPlan: false })),
      silent('the turn settled its plan', withCounts({ completed: 1 })),
      silent(
        'a goal check is due since the workspace was touched',
        all(withCounts({}), withGoal('none'), withTurn({ touchedPlan: false })),
      ),
      silent(
        'the calls of an agent without a plan were cut',
        all(withCounts({}), withStop({ end: 'iteration-budget' })),
      ),
      silent('the step met a limit that still runs', all(withCounts({}), limited)),
      silent(
        'the circuit has the better reason',
        all(
          withCounts({}),
          withStop({ end: 'error' }),
          withSession({ circuit: { signature: 'x', count: 3 } }),
        ),
      ),
      silent(
        'the overflows have the better reason',
        all(withCounts({}), withStop({ end: 'error' }), withSession({ overflows: 2 })),
      ),
    ],
  },
  {
    rule: 'plan-not-resumed',
    id: 'P34',
    answers: [letGo('the human asked for something else', 'paused', withTurn({ touchedPlan: false }))],
    silent: [
      silent('this turn took the plan up', withTurn({ touchedPlan: true })),
      silent('the step met a limit that still runs', all(withTurn({ touchedPlan: false }), limited)),
      silent('the human said go on', withTurn({ touchedPlan: false, goesOn: true })),
      silent('nothing is open', all(withCounts({ completed: 1 }), withTurn({ touchedPlan: false }))),
    ],
  },
  {
    rule: 'all-blocked',
    id: 'P11',
    answers: [letGo('what remains is blocked', 'blocked', withCounts({ completed: 1, blocked: 1 }))],
    silent: [
      silent('another todo is open', withCounts({ pending: 1, blocked: 1 })),
      silent('nothing is blocked', withCounts({ completed: 1 })),
      silent('they were blocked in bulk and not challenged yet', withCounts({ blocked: 3, idleEnds: 3 })),
    ],
  },
  {
    rule: 'nothing-open',
    id: 'V1',
    answers: [
      letGo(
        'every todo rests on the word of the agent',
        'claimed',
        withCounts({ completed: 2, uncovered: 2 }),
      ),
      {
        when: 'a claim has a check of its own that was not run for this stop',
        patch: withCounts({ completed: 1, unverified: 1 }),
        answer: 'wait',
        runsChecks: true,
      },
      {
        when: 'the goal check was not run for this stop',
        patch: all(withCounts({ completed: 1, uncovered: 1 }), withGoal('passed')),
        answer: 'wait',
        runsChecks: true,
      },
      wait(
        'the checks of this stop still run',
        all(withCounts({ completed: 1, unverified: 1, running: 1 }), withSession({ finalRun: endedRun })),
      ),
      letGo(
        'every check of its own passed',
        'done',
        all(withCounts({ completed: 1, passed: 1 }), withSession({ finalRun: endedRun })),
      ),
      letGo(
        'the goal check passed and covers what has none',
        'done',
        all(
          withCounts({ completed: 2, uncovered: 2 }),
          withGoal('passed'),
          withSession({ finalRun: endedRun }),
        ),
      ),
      letGo(
        'the goal check passed only at the second try',
        'claimed',
        all(withCounts({ completed: 1 }), withGoal('passed', true), withSession({ finalRun: endedRun })),
      ),
      letGo(
        'a check on the goal waited for a human and was never answered',
        'claimed',
        all(withCounts({ completed: 1, passed: 1 }), withGoal('none'), withSession({ finalRun: endedRun })),
      ),
      letGo(
        'nothing but untouched protected paths speaks for the work',
        'claimed',
        all(
          withCounts({ completed: 1, uncovered: 1 }),
          withGoal('passed', false, 'protected paths'),
          withSession({ finalRun: endedRun }),
        ),
      ),
      letGo('everything was cancelled', 'claimed', withCounts({ cancelled: 2 })),
      letGo(
        'one was cancelled without a reason',
        'claimed',
        withCounts({ completed: 1, cancelled: 1, unexplained: 1 }),
      ),
      letGo(
        'observe mode runs no check',
        'claimed',
        all(withCounts({ completed: 1, unverified: 1 }), withSettings({ mode: 'observe' })),
      ),
    ],
    silent: [
      silent('a todo is open', withCounts({ completed: 1, inProgress: 1 })),
      silent(
        'a bulk claim was not challenged yet',
        withCounts({ completed: 3, uncovered: 3, idleClaims: 3 }),
      ),
      silent(
        'the goal check failed',
        all(withCounts({ completed: 1 }), withGoal('failed'), withSession({ finalRun: endedRun })),
      ),
      silent(
        'the deadline of the host came before the checks ended',
        all(
          withCounts({ completed: 1, unverified: 1, running: 1 }),
          withSession({ finalRun: endedRun, checksOverdue: true }),
        ),
      ),
      silent('the step failed before there was a plan', all(withCounts({}), withStop({ end: 'error' }))),
      silent('its calls were cut', all(withCounts({ completed: 1 }), withStop({ end: 'iteration-budget' }))),
    ],
  },
  {
    rule: 'repeated-question',
    id: 'G11',
    answers: [
      wait('the second in a row', all(withStop({ question: true }), withSession({ questions: 2 }))),
      letGo(
        'the second in a row and nobody is there',
        'paused',
        all(withStop({ question: true }), withSession({ questions: 2 }), headless),
      ),
    ],
    silent: [
      silent('the first one', all(withStop({ question: true }), withSession({ questions: 1 }))),
      silent('this answer asks nothing', withSession({ questions: 2 })),
    ],
  },
];

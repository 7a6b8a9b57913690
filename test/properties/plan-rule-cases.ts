import { createState } from '../../src/core/state.ts';
import { aTodo } from '../support/builders.ts';
import { driverStart } from './core-driver.ts';
import { headless, judging, letGo, type RuleCase, silent, wait } from './rule-case.ts';
import {
  all,
  withCounts,
  withDescriptor,
  withGoal,
  withSession,
  withSettings,
  withStop,
  withTurn,
} from './rule-context.ts';

const endedRun = {
  stop: 'stop-1',
  ended: true,
  overdue: false,
  writes: 0,
  claimsOnly: false,
};
const untouched = withTurn({ touchedPlan: false, touchedWorkspace: false });
const leftOver = withSession({ leftOver: { planId: 'plan-1', open: 2 } });
const workAt = (fingerprint: string, writesSeen = 0) => {
  return { ...createState('session-1', driverStart).work, fingerprint, writesSeen };
};
const before = (result: 'passed' | 'failed' | 'cannot-start') =>
  withSession({
    baseline: { fingerprint: 'tree-1', writes: 0, checks: { unit: result } },
  });
const unseen = all(
  withCounts({ completed: 1, uncovered: 1 }),
  judging,
  withGoal('passed'),
  withSession({ finalRun: endedRun, work: workAt('tree-1') }),
);
const unchanged = all(unseen, before('passed'));
const unstarted = all(
  withCounts({ completed: 1, uncovered: 1 }),
  withGoal('cannot-start'),
  withSession({ finalRun: endedRun }),
);
const emptyOnce = all(withStop({ end: 'empty' }), withSession({ emptyAnswers: 1 }));
const limited = all(
  withStop({ end: 'error' }),
  withSession({ rateLimitedUntil: driverStart + 1 }),
);

export const planCases: readonly RuleCase[] = [
  {
    rule: 'no-plan',
    id: 'P29',
    answers: [
      letGo(
        'there is no plan and no goal check: a host is told nothing',
        null,
        withCounts({}),
      ),
      letGo('a run just answered', 'claimed', all(withCounts({}), judging)),
      letGo('an empty answer in a host', null, all(withCounts({}), emptyOnce)),
      letGo(
        'a run answered empty twice',
        'claimed',
        all(
          withCounts({}),
          judging,
          withStop({ end: 'empty' }),
          withSession({ emptyAnswers: 2 }),
        ),
      ),
      letGo(
        'the step failed before there was a plan',
        'failed',
        all(withCounts({}), withStop({ end: 'error' })),
      ),
      letGo(
        'the plan is settled and this turn did not touch it',
        null,
        all(withCounts({ completed: 3 }), withTurn({ touchedPlan: false })),
      ),
      letGo(
        'the goal check is not due in a turn that touched nothing',
        null,
        all(
          withCounts({}),
          withGoal('failed'),
          withTurn({ touchedPlan: false, touchedWorkspace: false }),
        ),
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
        'a run has a goal check: it is due whatever the turn touched',
        all(withCounts({}), judging, withGoal('none'), untouched),
      ),
      silent(
        'a run left todos of another plan open',
        all(withCounts({}), judging, leftOver),
      ),
      silent(
        'a loop alarm was not told yet',
        all(withCounts({}), withSession({ loopAlarms: 1, loopTold: false })),
      ),
      silent(
        'the first answer of a run was empty',
        all(withCounts({}), judging, emptyOnce),
      ),
      silent(
        'a job of a run was not told of yet',
        all(
          withCounts({}),
          judging,
          withSession({ jobs: [{ id: 'j', kind: 'shell', description: 'dev' }] }),
        ),
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
    answers: [
      letGo(
        'the human asked for something else',
        'paused',
        withTurn({ touchedPlan: false }),
      ),
      letGo(
        'this plan is settled, but one of an earlier turn is not',
        'paused',
        all(withCounts({ completed: 1, uncovered: 1 }), leftOver),
      ),
    ],
    silent: [
      silent('this turn took the plan up', withTurn({ touchedPlan: true })),
      silent(
        'the step met a limit that still runs',
        all(withTurn({ touchedPlan: false }), limited),
      ),
      silent('the human said go on', withTurn({ touchedPlan: false, goesOn: true })),
      silent(
        'a run answers for all of its plan',
        all(withTurn({ touchedPlan: false }), judging),
      ),
      silent(
        'one of an earlier turn is open, and the checks of this one were not run',
        all(withCounts({ completed: 1 }), withGoal('passed'), leftOver),
      ),
      silent('one of an earlier turn is open beside one of this turn', leftOver),
      silent(
        'nothing is open',
        all(withCounts({ completed: 1 }), withTurn({ touchedPlan: false })),
      ),
    ],
  },
  {
    rule: 'all-blocked',
    id: 'P11',
    answers: [
      letGo(
        'what remains is blocked',
        'blocked',
        withCounts({ completed: 1, blocked: 1 }),
      ),
    ],
    silent: [
      silent('another todo is open', withCounts({ pending: 1, blocked: 1 })),
      silent('nothing is blocked', withCounts({ completed: 1 })),
      silent(
        'they were blocked in bulk and not challenged yet',
        withCounts({ blocked: 3, ends: 3 }),
      ),
    ],
  },
  {
    rule: 'check-cannot-start',
    id: 'P44',
    answers: [
      letGo('one on the goal cannot', 'blocked', unstarted),
      letGo(
        'one of a claim cannot',
        'blocked',
        all(
          withCounts({ completed: 1, unverified: 1 }),
          withSession({
            finalRun: endedRun,
            plan: [
              aTodo({
                status: 'completed',
                verification: 'claimed',
                checks: ['own'],
                failureTail: '',
              }),
            ],
          }),
        ),
      ),
    ],
    silent: [
      silent(
        'it was not tried for this stop',
        all(unstarted, withSession({ finalRun: null })),
      ),
      silent('a todo is open', all(unstarted, withCounts({ completed: 1, pending: 1 }))),
      silent(
        'it is not due in a turn of a host that touched nothing',
        all(unstarted, untouched),
      ),
      silent('it failed', all(unstarted, withGoal('failed'))),
    ],
  },
  {
    rule: 'no-change',
    id: 'P46',
    answers: [
      letGo('every check passed before and the files are the same', 'claimed', unchanged),
      letGo('nobody saw how things stood before', 'claimed', unseen),
    ],
    silent: [
      silent(
        'the files changed',
        all(unchanged, withSession({ work: workAt('tree-2', 1) })),
      ),
      silent('a check failed before', all(unchanged, before('failed'))),
      silent('a check could not start before', all(unchanged, before('cannot-start'))),
      silent(
        'a host has no goal to answer for',
        all(unchanged, withDescriptor({ judgesGoal: false })),
      ),
      silent(
        'the checks were not run for this stop',
        all(unchanged, withSession({ finalRun: null })),
      ),
      silent('a todo is open', all(unchanged, withCounts({ pending: 1, completed: 1 }))),
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
        all(
          withCounts({ completed: 1, unverified: 1, running: 1 }),
          withSession({ finalRun: endedRun }),
        ),
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
        all(
          withCounts({ completed: 1 }),
          withGoal('passed', true),
          withSession({ finalRun: endedRun }),
        ),
      ),
      letGo(
        'a check on the goal waited for a human and was never answered',
        'claimed',
        all(
          withCounts({ completed: 1, passed: 1 }),
          withGoal('none'),
          withSession({ finalRun: endedRun }),
        ),
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
      letGo(
        'there are no todos, and nothing but untouched protected paths speaks for the work',
        'claimed',
        all(
          withCounts({}),
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
        all(
          withCounts({ completed: 1, unverified: 1 }),
          withSettings({ mode: 'observe' }),
        ),
      ),
    ],
    silent: [
      silent('a todo is open', withCounts({ completed: 1, inProgress: 1 })),
      silent(
        'a bulk claim was not challenged yet',
        withCounts({ completed: 3, uncovered: 3, claims: 3 }),
      ),
      silent(
        'the goal check failed',
        all(
          withCounts({ completed: 1 }),
          withGoal('failed'),
          withSession({ finalRun: endedRun }),
        ),
      ),
      silent(
        'the deadline of the host came before the checks ended',
        all(
          withCounts({ completed: 1, unverified: 1, running: 1 }),
          withSession({ finalRun: endedRun, checksOverdue: true }),
        ),
      ),
      silent(
        'the step failed before there was a plan',
        all(withCounts({}), withStop({ end: 'error' })),
      ),
      silent(
        'its calls were cut',
        all(withCounts({ completed: 1 }), withStop({ end: 'iteration-budget' })),
      ),
    ],
  },
  {
    rule: 'repeated-question',
    id: 'G11',
    answers: [
      wait(
        'the second in a row',
        all(withStop({ question: true }), withSession({ questions: 2 })),
      ),
      letGo(
        'the second in a row and nobody is there',
        'paused',
        all(withStop({ question: true }), withSession({ questions: 2 }), headless),
      ),
    ],
    silent: [
      silent(
        'the first one',
        all(withStop({ question: true }), withSession({ questions: 1 })),
      ),
      silent('this answer asks nothing', withSession({ questions: 2 })),
    ],
  },
];

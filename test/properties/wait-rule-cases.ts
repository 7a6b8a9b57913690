import { driverStart } from './core-driver.ts';
import { headless, letGo, minute, type RuleCase, silent, wait } from './rule-case.ts';
import {
  all,
  atTime,
  withCounts,
  withSession,
  withStop,
  withWaits,
} from './rule-context.ts';

const shell = { id: 'job-1', kind: 'shell', description: 'npm run dev' } as const;
const subagent = { id: 'job-2', kind: 'subagent', description: 'explore' } as const;

export const waitCases: readonly RuleCase[] = [
  {
    rule: 'recovering',
    id: 'G3',
    answers: [wait('it recovers', withWaits({ recovering: true }))],
    silent: [silent('it compacts', withWaits({ compacting: true }))],
  },
  {
    rule: 'compacting',
    id: 'G3',
    answers: [wait('it compacts', withWaits({ compacting: true }))],
    silent: [silent('it was compacted', withSession({ compacted: true }))],
  },
  {
    rule: 'permission-pending',
    id: 'P9',
    answers: [
      wait('one is pending', withWaits({ permissions: ['request-1'] })),
      letGo(
        'one is pending and nobody sees it',
        'paused',
        all(withWaits({ permissions: ['request-1'] }), headless),
      ),
    ],
    silent: [silent('a question is pending', withWaits({ questions: ['request-1'] }))],
  },
  {
    rule: 'question-pending',
    id: 'G11',
    answers: [
      wait('one is pending', withWaits({ questions: ['request-1'] })),
      letGo(
        'one is pending and nobody sees it',
        'paused',
        all(withWaits({ questions: ['request-1'] }), headless),
      ),
    ],
    silent: [silent('none is pending', headless)],
  },
  {
    rule: 'subagent-at-work',
    id: 'P18',
    answers: [
      wait('a subagent works', withSession({ jobs: [subagent] }), 30 * minute),
      wait(
        'it has waited for a while already',
        all(
          withSession({ jobs: [subagent], backgroundSince: driverStart - 10 * minute }),
        ),
        20 * minute,
      ),
    ],
    silent: [
      silent('a shell job runs', withSession({ jobs: [shell] })),
      silent(
        'a shell job runs and nothing is open',
        all(
          withSession({ jobs: [shell], namedJobs: [shell.id] }),
          withCounts({ completed: 1 }),
        ),
      ),
      silent(
        'it has waited long enough',
        all(
          withSession({ jobs: [subagent], backgroundSince: driverStart }),
          atTime(30 * minute),
        ),
      ),
      silent('nothing runs', withSession({ jobs: [] })),
      silent(
        'the calls of an agent that is at work were cut',
        all(withSession({ jobs: [subagent] }), withStop({ end: 'iteration-budget' })),
      ),
    ],
  },
];

// Cases of the rules about limits: errors, budgets, counters and the countdown.
import { defaultSettings } from '../../src/core/settings.ts';
import { driverStart } from './core-driver.ts';
import { letGo, minute, type RuleCase, silent, told, wait } from './rule-case.ts';
import {
  all,
  atTime,
  withCounters,
  withCounts,
  withDescriptor,
  withSession,
  withSettings,
  withUndelivered,
  withUsage,
} from './rule-context.ts';

const finalRun = {
  stop: 'stop-1',
  ended: true,
  overdue: false,
  writes: 0,
  claimsOnly: false,
};

export const limitCases: readonly RuleCase[] = [
  {
    rule: 'rate-limited',
    id: 'P21',
    answers: [
      wait(
        'the reset is still to come',
        withSession({ rateLimitedUntil: driverStart + 5000 }),
        5000,
      ),
    ],
    silent: [silent('it is over', withSession({ rateLimitedUntil: driverStart }))],
  },
  {
    rule: 'circuit-open',
    id: 'P22',
    answers: [
      letGo(
        'the third of its kind',
        'failed',
        withSession({ circuit: { signature: 'x', count: 3 } }),
      ),
    ],
    silent: [
      silent(
        'the second of its kind',
        withSession({ circuit: { signature: 'x', count: 2 } }),
      ),
    ],
  },
  {
    rule: 'overflowing',
    id: 'P23',
    answers: [
      letGo('the second that did not shrink', 'stagnant', withSession({ overflows: 2 })),
    ],
    silent: [silent('the first', withSession({ overflows: 1 }))],
  },
  {
    rule: 'context-full',
    id: 'G8',
    answers: [
      letGo(
        '90 % are used',
        'exhausted',
        withUsage({ contextTokens: 900, contextLimit: 1000 }),
      ),
    ],
    silent: [
      silent('89.9 % are used', withUsage({ contextTokens: 899, contextLimit: 1000 })),
      silent('the limit is unknown', withUsage({ contextTokens: 900 })),
    ],
  },
  {
    rule: 'token-budget',
    id: 'G8',
    answers: [
      letGo(
        'it is spent',
        'exhausted',
        all(withUsage({ tokens: 50 }), withSettings({ maxTokens: 50 })),
      ),
    ],
    silent: [
      silent(
        'one is left',
        all(withUsage({ tokens: 49 }), withSettings({ maxTokens: 50 })),
      ),
      silent('there is no limit', withUsage({ tokens: 10 ** 9 })),
    ],
  },
  {
    rule: 'cost-budget',
    id: 'G8',
    answers: [
      letGo(
        'it is spent',
        'exhausted',
        all(withUsage({ cost: 2 }), withSettings({ maxCost: 2 })),
      ),
    ],
    silent: [
      silent(
        'some is left',
        all(withUsage({ cost: 1.99 }), withSettings({ maxCost: 2 })),
      ),
      silent('there is no limit', withUsage({ cost: 10 ** 6 })),
    ],
  },
  {
    rule: 'time-budget',
    id: 'G8',
    answers: [
      letGo(
        'it is spent',
        'exhausted',
        all(withSettings({ maxMinutes: 5 }), atTime(5 * minute)),
      ),
    ],
    silent: [
      silent(
        'a second is left',
        all(withSettings({ maxMinutes: 5 }), atTime(5 * minute - 1000)),
      ),
      silent('there is no limit', atTime(10_000 * minute)),
    ],
  },
  {
    rule: 'ceiling',
    id: 'G6',
    answers: [
      letGo(
        'it is reached',
        'exhausted',
        withCounters({ total: defaultSettings.ceiling }),
      ),
    ],
    silent: [silent('one is left', withCounters({ total: defaultSettings.ceiling - 1 }))],
  },
  {
    rule: 'max-continuations',
    id: 'G6',
    answers: [
      letGo(
        'it is reached',
        'exhausted',
        withCounters({ continuations: defaultSettings.maxContinuations }),
      ),
    ],
    silent: [
      silent(
        'one is left',
        withCounters({ continuations: defaultSettings.maxContinuations - 1 }),
      ),
    ],
  },
  {
    rule: 'looping',
    id: 'P25',
    answers: [
      letGo(
        'it loops again after it was told',
        'stagnant',
        withSession({ loopAlarms: 2, loopTold: true }),
      ),
    ],
    silent: [
      silent('it was not told yet', withSession({ loopAlarms: 2, loopTold: false })),
      silent(
        'it was told and has not looped since',
        withSession({ loopAlarms: 1, loopTold: true }),
      ),
      silent(
        'every todo is ended: the checks decide',
        all(withSession({ loopAlarms: 2, loopTold: true }), withCounts({ completed: 1 })),
      ),
    ],
  },
  {
    rule: 'stagnant',
    id: 'G7',
    answers: [
      letGo(
        'the third without progress is out',
        'stagnant',
        withCounters({ stagnant: 3 }),
      ),
      {
        when: 'a claim beside the open todo was not checked for this stop',
        patch: all(
          withCounters({ stagnant: 3 }),
          withCounts({ pending: 1, completed: 1, unverified: 1 }),
        ),
        answer: 'wait',
        runsChecks: true,
      },
      wait(
        'the checks of the claims still run',
        all(
          withCounters({ stagnant: 3 }),
          withCounts({ pending: 1, completed: 1, unverified: 1 }),
          withSession({ finalRun: { ...finalRun, ended: false } }),
        ),
      ),
      letGo(
        'the checks of the claims brought nothing',
        'stagnant',
        all(
          withCounters({ stagnant: 3 }),
          withCounts({ pending: 1, completed: 1, unverified: 1 }),
          withSession({ finalRun }),
        ),
      ),
    ],
    silent: [
      silent('one reminder is left', withCounters({ stagnant: 2 })),
      silent(
        'the deadline of the host came before the checks of the claims ended',
        all(
          withCounters({ stagnant: 3 }),
          withCounts({ pending: 1, completed: 1, unverified: 1 }),
          withSession({ finalRun: { ...finalRun, ended: false }, checksOverdue: true }),
        ),
      ),
    ],
  },
  {
    rule: 'host-cap',
    id: 'V8',
    answers: [
      letGo(
        'the host ends the turn anyway',
        'exhausted',
        withUndelivered({ why: 'cap', cap: 8 }),
      ),
    ],
    silent: [
      silent('the host takes what we answer', (context) => context),
      silent(
        'the text was not taken',
        withUndelivered({ why: 'failed', attempts: 3, error: 'no answer' }),
      ),
    ],
  },
  {
    rule: 'delivery-failed',
    id: 'G9',
    answers: [
      letGo(
        'the host did not take it',
        'failed',
        withUndelivered({ why: 'failed', attempts: 3, error: '' }),
      ),
    ],
    silent: [silent('it was taken', (context) => context)],
  },
  {
    rule: 'not-yet',
    id: 'E1',
    answers: [
      wait('the countdown runs', told, 2000),
      wait(
        'the minimum interval lasts longer than the countdown',
        all(
          told,
          withSession({ lastContinuationAt: driverStart }),
          withSettings({ minIntervalSeconds: 4 }),
        ),
        4000,
      ),
    ],
    silent: [
      silent('the countdown has ended', all(told, atTime(2000))),
      silent(
        'an asked host is answered at once',
        withSession({ lastContinuationAt: driverStart }),
      ),
      silent(
        'the host is gone if it is not answered at once',
        all(told, withDescriptor({ immediate: true })),
      ),
      silent('it only observes', all(told, withSettings({ mode: 'observe' }))),
    ],
  },
];

import { driverStart } from './core-driver.ts';
import { letGo, pausedBy, type RuleCase, silent, told, wait } from './rule-case.ts';
import {
  all,
  withAgent,
  withDescriptor,
  withSession,
  withSettings,
  withStop,
} from './rule-context.ts';

export const sessionCases: readonly RuleCase[] = [
  {
    rule: 'disabled',
    id: 'C2',
    answers: [
      letGo('the mode is off', null, withSettings({ mode: 'off' })),
      letGo('it is not enabled for this agent', null, withSettings({ enabled: false })),
    ],
    silent: [silent('it only observes', withSettings({ mode: 'observe' }))],
  },
  {
    rule: 'not-our-session',
    id: 'G4',
    answers: [
      letGo('it is neither main nor subagent', null, withDescriptor({ kind: 'other' })),
    ],
    silent: [silent('main is unknown', withDescriptor({ kind: 'unknown' }))],
  },
  {
    rule: 'subagent',
    id: 'G4',
    answers: [
      letGo('subagents are left alone', null, withDescriptor({ kind: 'subagent' })),
    ],
    silent: [
      silent(
        'they are switched on',
        all(withDescriptor({ kind: 'subagent' }), withSettings({ subagents: 'on' })),
      ),
    ],
  },
  {
    rule: 'skipped-agent',
    id: 'G4',
    answers: [
      letGo('it is on the list', null, withAgent({ name: 'plan' })),
      letGo(
        'it is on the list in another letter case',
        null,
        withAgent({ name: 'PrometheuS' }),
      ),
    ],
    silent: [
      silent('its name only begins like one', withAgent({ name: 'plan-and-build' })),
      silent('it has no name', withAgent({ name: null })),
    ],
  },
  {
    rule: 'read-only-agent',
    id: 'G4',
    answers: [
      letGo('it cannot write', null, withAgent({ canWrite: 'no' })),
      letGo('that is unknown', null, withAgent({ canWrite: 'unknown' })),
      letGo(
        'it cannot write although every agent should',
        null,
        all(withAgent({ canWrite: 'no' }), withDescriptor({ everyAgentWrites: true })),
      ),
    ],
    silent: [
      silent(
        'it is unknown in a host without such agents',
        all(
          withAgent({ canWrite: 'unknown' }),
          withDescriptor({ everyAgentWrites: true }),
        ),
      ),
    ],
  },
  {
    rule: 'deleted',
    id: 'E2',
    answers: [letGo('it was deleted', null, withSession({ deleted: true }))],
    silent: [silent('it was not', withSession({ deleted: false }))],
  },
];

export const humanCases: readonly RuleCase[] = [
  {
    rule: 'aborted',
    id: 'G4',
    answers: [
      letGo(
        'the latch is set',
        'aborted',
        withSession({ latch: { how: 'escape', at: driverStart } }),
      ),
    ],
    silent: [silent('it is only paused', pausedBy('human'))],
  },
  {
    rule: 'paused-by-human',
    id: 'G4',
    answers: [
      letGo('the human paused', 'paused', pausedBy('human')),
      letGo('the human rejected a request', 'paused', pausedBy('rejection')),
    ],
    silent: [silent('the model paused', pausedBy('model'))],
  },
  {
    rule: 'timer-expired',
    id: 'V5',
    answers: [letGo('the system found an old countdown', 'paused', pausedBy('system'))],
    silent: [silent('the model paused', pausedBy('model'))],
  },
  {
    rule: 'paused-by-model',
    id: 'M6',
    answers: [letGo('the model paused', 'paused', pausedBy('model'))],
    silent: [silent('nobody paused', withSession({ pause: null }))],
  },
  {
    rule: 'already-answered',
    id: 'E4',
    answers: [
      wait(
        'a told host idles again and did nothing',
        all(told, withSession({ activeSinceAnswer: false })),
      ),
    ],
    silent: [
      silent('it was busy since', all(told, withSession({ activeSinceAnswer: true }))),
      silent('an asked host asks again', withSession({ activeSinceAnswer: false })),
    ],
  },
];

export const endingCases: readonly RuleCase[] = [
  {
    rule: 'ended-abnormally',
    id: 'G2',
    answers: [
      letGo('the step was cancelled', 'aborted', withStop({ end: 'cancelled' })),
      letGo('the step ended in an error', 'failed', withStop({ end: 'error' })),
      letGo(
        'the same error came fewer times than the limit',
        'failed',
        all(
          withStop({ end: 'error' }),
          withSession({ circuit: { signature: 'x', count: 2 } }),
        ),
      ),
    ],
    silent: [
      silent('it ended normally', withStop({ end: 'normal' })),
      silent('it hit the output limit', withStop({ end: 'length' })),
      silent(
        'the error is a limit that has a reset',
        all(
          withStop({ end: 'error' }),
          withSession({ rateLimitedUntil: driverStart + 1 }),
        ),
      ),
      silent(
        'the open circuit has the better reason',
        all(
          withStop({ end: 'error' }),
          withSession({ circuit: { signature: 'x', count: 3 } }),
        ),
      ),
      silent(
        'the overflows have the better reason',
        all(withStop({ end: 'error' }), withSession({ overflows: 2 })),
      ),
    ],
  },
  {
    rule: 'refused',
    id: 'P15',
    answers: [
      letGo('the model refused', 'failed', withStop({ end: 'refusal' })),
      letGo('a filter cut in', 'failed', withStop({ end: 'content-filter' })),
    ],
    silent: [silent('the answer was empty', withStop({ end: 'empty' }))],
  },
];

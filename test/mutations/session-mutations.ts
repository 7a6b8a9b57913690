// What a program that opens a session is promised (V1, V2, V5).
import { mutationsOf } from './mutation.ts';

export const sessionMutations = mutationsOf({
  'src/core/check-results.ts': {
    'left-by-checks-is-work': {
      find: 'descriptor.seesTools ? state.work : { ...state.work, fingerprint }',
      replace: 'state.work',
      why: 'where no call is seen, a check that writes a file makes an idle agent done',
    },
  },
  'src/core/human.ts': {
    'baseline-before-the-goal': {
      find: '!hasSpoken(state) || state.settled',
      replace: 'state.settled',
      why: 'edits from before the first goal prove work on it',
    },
  },
  'src/session/begin-session.ts': {
    'store-is-work': {
      find: "if (place === '' || place.startsWith('..')) return policy;",
      replace: 'return policy;',
      why: 'a store in the workspace makes an idle agent done',
    },
    'taken-up-without-checks': {
      find: 'if (frozen === null || checks.length > 0) return present;',
      replace: 'return present;',
      why: 'the next message of a session that is taken up drops its checks',
    },
    'taken-up-without-plan': {
      find: '...(plan.length === 0 ? [] : [note])',
      replace: '',
      why: 'an agent that begins anew does not know that it has a plan',
    },
    'goal-less-without-baseline': {
      find: 'if (goal === undefined) await takeBaseline();',
      replace: '',
      why: 'a session without a goal is never done',
    },
    'switched-off-silently': {
      find: '[configuration.pending(), looseSentence(current, options)]',
      replace: '[configuration.pending()]',
      why: 'a program holds nobody, and nobody is told',
    },
    'goal-said-twice': {
      find: 'wasSaid && (known.settled === null || stillHolds(known, goalId))',
      replace: 'false',
      why: 'a program that was killed begins its goal anew, with all counters at zero',
    },
  },
  'src/session/session.ts': {
    'stops-at-once': {
      find: 'stopQueue(() => askToStop(attempt))',
      replace: 'askToStop(attempt)',
      why: 'two stops at once wait for ten minutes',
    },
    'closed-goes-on': {
      find: 'if (isLeft) throw',
      replace: 'if (false) throw',
      why: 'a session that was left changes a plan that another process has',
    },
    'record-breaks-tools': {
      find: 'error }).catch(\n            () => {},\n          );\n',
      replace: 'error });\n',
      why: 'a busy store makes a tool of the program fail that did its work',
    },
  },
  'src/session/hold-agent.ts': {
    'held-after-abort': {
      find: '      signal.throwIfAborted();\n',
      replace: '',
      why: 'an agent is called again after the human stopped it',
    },
  },
  'src/session/goal-session.ts': {
    'goes-on-over-a-stop': {
      find: 'isTurnOver(now) && latch === null && pause === null',
      replace: 'isTurnOver(now)',
      why: 'an agent that is called again lifts the stop of the human',
    },
    'asks-its-question-again': {
      find: '{ end, question: false, toolError: null }',
      replace: "{ end: 'normal', question: false, toolError: null }",
      why: 'after a wait, an answer that was cut off counts as one that ended by itself',
    },
  },
  'src/session/reply.ts': {
    'conversation-doubled': {
      find: 'isWhole ? all.slice(before.length) : all',
      replace: 'all',
      why: 'the conversation doubles with every continuation',
    },
    'state-is-an-answer': {
      find: "if (typeof text !== 'string') throw",
      replace: "if (typeof text !== 'string' && !Array.isArray(messages)) throw",
      why: 'the state of another framework is taken for an empty answer',
    },
  },
});

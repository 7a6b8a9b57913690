// Workers, permissions that are asked for, and words that join a turn (S4, S6, S7, T3).
import { mutationsOf } from './mutation.ts';

export const agentMutations = mutationsOf({
  'src/core/plan-edit.ts': {
    'delegate-while-busy': {
      find: 'if (draft.state.delegation?.ended === null) {',
      replace: 'if (false) {',
      why: 'two workers change the same files at once',
    },
    'delegate-settled-todo': {
      find: 'if (isOpen(todo)) return true;',
      replace: 'return true;',
      why: 'finished work is done again',
    },
    'delegation-not-recorded': {
      find: '    draft.state = { ...draft.state, delegation };\n',
      replace: '',
      why: 'a worker that a crash cut off is never settled',
    },
    'delegation-ends-twice': {
      find: 'if (delegation?.workerId !== workerId || delegation.ended !== null) return state;',
      replace: 'if (delegation?.workerId !== workerId) return state;',
      why: 'one failure is counted twice and blocks the todo',
    },
    'worker-failure-free': {
      find: 'const workerFailures = todo.workerFailures + 1;',
      replace: 'const workerFailures = todo.workerFailures;',
      why: 'a worker that always fails is tried for ever',
    },
    'worker-never-blocked': {
      find: "if (workerFailures < mostFailures || mode !== 'enforce') return;",
      replace: 'return;',
      why: 'the others never get their turn',
    },
    'worker-blocked-in-observe': {
      find: "if (workerFailures < mostFailures || mode !== 'enforce') return;",
      replace: 'if (workerFailures < mostFailures) return;',
      why: 'observing changes the plan',
    },
    'worker-interrupt-counts': {
      find: "||\n      result === 'done' ||\n      result === 'interrupted'\n    )",
      replace: "|| result === 'done')",
      why: "the human's Ctrl-C counts against the worker",
    },
  },
  'src/core/work.ts': {
    'permission-second-answer': {
      find: '  if (request.answer !== null) return state;\n',
      replace: '',
      why: 'a late answer turns a no into a yes',
    },
    'permission-once-lasts': {
      find: "        answer === 'session' || answer === 'always'\n",
      replace: "        answer !== 'no'\n",
      why: 'allowed once is allowed for good',
    },
    'permission-no-lasts-as-yes': {
      find: "        answer === 'session' || answer === 'always'\n",
      replace: "        answer === 'session' || answer === 'always' || answer === 'no'\n",
      why: 'a no is remembered as a yes',
    },
    'permission-asked-again': {
      find: "refused:\n        answer === 'no'\n          ? [...refused, { tool, pattern }].slice(-rememberedAnswers)\n          : refused,",
      replace: 'refused,',
      why: 'the human is asked the same question again and again',
    },
    'permission-used-twice': {
      find: 'const requests = permissions.requests.filter((known) => known.requestId !== requestId);',
      replace: 'const { requests } = permissions;',
      why: 'an answer for once is used twice',
    },
    'permission-refusal-for-ever': {
      find: 'return { ...state, permissions: { ...state.permissions, refused: [] } };',
      replace: 'return state;',
      why: 'a human who changed their mind is not asked',
    },
    'permission-old-question-stays': {
      find: 'const requests = state.permissions.requests.filter(({ answer }) => answer !== null);',
      replace: 'const { requests } = state.permissions;',
      why: 'a question of an earlier turn is shown for ever',
    },
    'own-rejection-pauses': {
      find: 'if (remembered !== undefined || granted) return answered;',
      replace: 'if (granted) return answered;',
      why: 'one no ends the whole run',
    },
  },
  'src/core/human.ts': {
    'words-not-queued': {
      find: 'if (queued !== true || text === null || messageId === null) return state;',
      replace: 'return state;',
      why: 'what the human typed is lost',
    },
    'words-join-twice': {
      find: 'words: state.words.filter((known) => known.messageId !== messageId)',
      replace: 'words: state.words',
      why: 'the same words are said twice',
    },
    'stop-word-queued': {
      find: '...(stops ? placed : queueWords(forgetRefusals(placed), event)),',
      replace: '...queueWords(forgetRefusals(placed), event),',
      why: '"stop" starts another step',
    },
  },
  'src/agent/workspace/permission.ts': {
    'always-widened-though-confined': {
      find: 'hasHidden(text) || isConfined(policy) ?',
      replace: 'hasHidden(text) ?',
      why: 'an agent that may write docs alone has its files run',
    },
    'always-over-options': {
      find: 'isWide(pattern) ? pattern === proposal : matchesCall(pattern, subject);',
      replace: 'matchesCall(pattern, subject);',
      why: '"always" for npm test allows --script-shell',
    },
    'always-over-outside-paths': {
      find: '(?!(?:.*\\/)?\\.\\.(?:\\/|$))',
      replace: '',
      why: '"always" for npm test runs what lies beside the workspace',
    },
    'always-over-loaded-files': {
      find: 'insideName.test(word) && !loadsFiles.test(kept)',
      replace: 'insideName.test(word)',
      why: '"always" for pytest runs any file',
    },
  },
  'src/enforcer/index.ts': {
    'enforcer-slip-blocks': {
      find: "noteActivity(access === 'todo' ? null : error);",
      replace: 'noteActivity(error);',
      why: 'a wrong id in a todo tool blocks the todo',
    },
  },
  'src/guard/guard-transform.ts': {
    'guard-attempt-kept': {
      find: '      hold = null;\n      attempt = 1;\n',
      replace: '      hold = null;\n',
      why: 'after one retry no stop of the stream is held back any more (I4)',
    },
    'guard-three-attempts': {
      find: 'const { maxAttempts = 2 } = options;',
      replace: 'const { maxAttempts = 3 } = options;',
      why: 'a stop attempt is sent back twice (I3)',
    },
  },
});

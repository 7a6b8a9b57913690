// The plan: drops, reopening, checks of claims (V4, T2, P2, P3).
import { mutationsOf } from './mutation.ts';

export const planMutations = mutationsOf({
  'src/core/plan.ts': {
    'drop-at-once': {
      find: "if (todo.droppedAt === null)\n    return { change: 'dropped', todo: { ...todo, droppedAt: at } };",
      replace: '',
      why: 'a forgotten todo is cancelled at once',
    },
    'drop-unnamed-settles': {
      find: 'if (todo.droppedNamedAt === null) return null;',
      replace: '',
      why: 'a todo is given up before anybody was told',
    },
    'drop-never-settles': {
      find: "return cancelTodo(todo, 'cancelled-unexplained', unexplained, at);\n}\n\nconst unexplained",
      replace: 'return null;\n}\n\nconst unexplained',
      why: 'a dropped todo is named for ever',
    },
    'complete-no-claim': {
      find: "    verification: 'claimed',\n",
      replace: "    verification: 'passed',\n",
      why: 'the word of the agent counts as a pass',
    },
    'reopen-completed-at': {
      find: '    completedAt: null,\n    reason: null,\n',
      replace: '    reason: null,\n',
      why: 'a reopened todo looks completed',
    },
    'ranks-tie': {
      find: 'isRising(sorted) ? sorted : sorted.map(ranked)',
      replace: 'sorted',
      why: 'a restart shows the plan in another order',
    },
  },
  'src/core/state.ts': {
    'tally-running': {
      find: "if (verification === 'running') counts.running += 1;",
      replace: '',
      why: 'a turn is settled while its checks run',
    },
    'tally-unexplained': {
      find: 'if (todo.reason === null) counts.unexplained += 1;',
      replace: '',
      why: 'dropping the hard todos ends as done',
    },
    'tally-unnamed': {
      find: 'if (todo.droppedNamedAt === null) counts.unnamedDrops += 1;',
      replace: 'counts.unnamedDrops += 1;',
      why: 'dropped todos are named for ever',
    },
  },
  'src/core/plan-edit.ts': {
    'plan-touch-forgotten': {
      find: 'return { ...state, turn: { ...(state.turn ?? newTurn(id, at)), touchedPlan: true } };',
      replace: 'return { ...state, turn: state.turn ?? newTurn(id, at) };',
      why: 'a plan that was taken up is not enforced',
    },
    'claim-check-not-run': {
      find: "checks.length > 0 && settings.mode === 'enforce'",
      replace: 'false',
      why: 'the check of a claim is not run',
    },
    'claim-check-in-observe': {
      find: "checks.length > 0 && settings.mode === 'enforce'",
      replace: 'checks.length > 0',
      why: 'observing runs checks',
    },
  },
  'src/core/stop.ts': {
    'final-run-not-marked': {
      find: "const plan = changeSome(state.plan, isUnverified, (todo) => ({\n    ...todo,\n    verification: 'running',\n  }));",
      replace: 'const { plan } = state;',
      why: 'the first of many checks settles the turn',
    },
    'final-run-todo-checks': {
      find: '    ...state.plan.filter(isUnverified).flatMap(checksOf),\n',
      replace: '',
      why: 'claims are never checked at the end',
    },
    'final-run-goal-checks': {
      find: '    ...missing.map((check) => ({ todoId: null, check })),\n',
      replace: '',
      why: 'the goal is never checked at the end',
    },
    'wait-not-parked': {
      find: 'parked: stays ? { ...stop, cause } : null,',
      replace: 'parked: null,',
      why: 'a wait is forgotten when its cause ends',
    },
    'wait-asked-parked': {
      find: "const stays = isTold || cause === 'nothing-open' || cause === 'stagnant';",
      replace: 'const stays = isTold;',
      why: 'a stop that was let through is answered later',
    },
    'wait-no-timer': {
      find: 'timer:\n      isTold && dueAt !== null ? {',
      replace: 'timer: false && dueAt !== null ? {',
      why: 'a countdown never ends',
    },
    'background-since-forgotten': {
      find: "backgroundSince:\n      cause === 'subagent-at-work'\n        ? (state.backgroundSince ?? at)\n        : state.backgroundSince,",
      replace: 'backgroundSince: state.backgroundSince,',
      why: 'a development server is waited for for ever',
    },
    'observed-wait-acts': {
      find: "  if (decision.observed)\n    return decidedStep(decision, state, answerCommands(context, decision, 'let-go'));\n",
      replace: '',
      why: 'observing parks sessions',
    },
    'observed-let-go-acts': {
      find: "  if (decision.observed)\n    return decidedStep(\n      decision,\n      endTurn(context.state),\n      answerCommands(context, decision, 'let-go'),\n    );\n",
      replace: '',
      why: 'observing settles turns',
    },
    'let-go-turn-runs': {
      find: 'return decidedStep(decision, { ...endTurn(state), settled }, commands);',
      replace: 'return decidedStep(decision, { ...state, settled }, commands);',
      why: 'a new request joins the settled turn',
    },
    'let-go-stays-active': {
      find: 'lastStop: context.stop,\n    timer: null,\n    activeSinceAnswer: false,\n  };',
      replace: 'lastStop: context.stop, timer: null };',
      why: 'a second idle is answered again',
    },
    'let-go-keeps-parked': {
      find: 'const stopped = {\n    ...state,\n    parked: null,\n    lastStop',
      replace: 'const stopped = { ...state, lastStop',
      why: 'a settled turn is decided again',
    },
    'let-go-not-settled': {
      find: 'outcome === null ? state.settled : { outcome, reason, at };',
      replace: 'outcome === null ? state.settled : null;',
      why: 'a turn has no outcome',
    },
  },
  'src/core/end-sentence.ts': {
    'end-of-subagents-shown': {
      find: "if (outcome === null || kind === 'subagent' || driven !== undefined) return null;",
      replace: 'if (outcome === null) return null;',
      why: 'every subagent and every driven program shows a line of its own',
    },
    'end-never-shown': {
      find: 'return endSentence(state, goalChecks, { outcome, reason }, sentence);',
      replace: 'return null;',
      why: 'a person does not see how a turn ended',
    },
    'abort-told-twice': {
      find: "const isRepeated = outcome === 'aborted' && !state.activeSinceAnswer;",
      replace: 'const isRepeated = false as boolean;',
      why: 'Esc shows one toast after the other',
    },
    'stale-result-told': {
      find: 'finalRun === null\n    ? []\n    : goalChecks.filter(',
      replace: 'goalChecks.filter(',
      why: 'a result of an earlier turn is told as one of this turn',
    },
  },
  'src/core/decide.ts': {
    'agent-settings-ignored': {
      find: 'const settings = settingsForAgent(policy.settings, state.agent.name);',
      replace: 'const { settings } = policy;',
      why: 'settings of single agents do nothing',
    },
    'time-runs-back': {
      find: 'const at = Math.max(state.updatedAt, event.at);',
      replace: 'const { at } = event;',
      why: 'a late event turns the time of the session back',
    },
  },
  'src/core/reconcile.ts': {
    'unknown-status-vanishes': {
      find: "const status = knownStatus ?? 'pending';",
      replace: 'if (knownStatus === null) return [];\n  const status = knownStatus;',
      why: 'a todo with an unknown status is not held',
    },
    'parallel-stop-decided-twice': {
      find: 'const isSame = asking.since <= stop.until || isUnsaid(state);',
      replace: 'const isSame = isUnsaid(state);',
      why: 'a hook that is installed twice continues the agent twice',
    },
    'same-words-hide-a-stop': {
      find: 'const isSame = asking.since <= stop.until || isUnsaid(state);',
      replace: 'const isSame = true;',
      why: 'an agent that stops again with the same words is let go with open todos',
    },
    'todo-tool-slip-blocks': {
      find: "toolError: event.access === 'todo' ? null : event.error",
      replace: 'toolError: event.error',
      why: 'a wrong id in a todo tool blocks the todo',
    },
    'host-list-undoes': {
      find: 'serialise(known) === serialise(listed)',
      replace: 'false',
      why: 'a list that has not moved undoes what our tools and checks did',
    },
    'host-gate-believed': {
      find: "if (source === undefined || source.kind === 'gate') return state;",
      replace: 'if (source === undefined) return state;',
      why: 'a completion that the host refused is taken for its list',
    },
  },
});

// Tool errors, checks and delivery: what is set aside, proved, sent and sent again (P12,
// V1, G9, V5).
import { mutationsOf } from './mutation.ts';

export const deliveryMutations = mutationsOf({
  'src/core/stop.ts': {
    'block-at-once': {
      find: "if (\n    stop.toolError === null ||\n    state.toolErrorTodo === null ||\n    settings.mode === 'observe'\n  )\n    return null;\n  const [todo] = nextTodos(state.plan, 1);\n  if (todo?.id !== state.toolErrorTodo) return null;",
      replace:
        "if (stop.toolError === null || settings.mode === 'observe') return null;\n  const [todo] = nextTodos(state.plan, 1);\n  if (todo === undefined) return null;",
      why: 'one tool error blocks a todo',
    },
    'block-in-observe': {
      find: " ||\n    settings.mode === 'observe'\n  )\n    return null;\n  const [todo]",
      replace: ') return null;\n  const [todo]',
      why: 'observing blocks todos',
    },
    'block-attempts': {
      find: 'attempts: todo.attempts + 1',
      replace: 'attempts: todo.attempts',
      why: 'attempts are not counted',
    },
    'timer-old-epoch': {
      find: 'if (timer === null || timer.epoch !== epoch || state.epoch !== epoch) return state;',
      replace: 'if (timer === null) return state;',
      why: 'an old timer continues a new turn',
    },
    'timer-never-old': {
      find: 'if (isTooOld(timer.dueAt, at, policy))',
      replace: 'if (false)',
      why: "yesterday's countdown spends today's tokens",
    },
    'timer-always-old': {
      find: 'return at - since > settings.timerMaxAgeMinutes * 60_000;',
      replace: 'return at - since > 0;',
      why: 'a late timer is lost',
    },
    'timer-kept': {
      find: 'const fired: State = { ...state, timer: null };',
      replace: 'const fired: State = { ...state };',
      why: 'a timer fires for ever',
    },
    'timer-expired-epoch': {
      find: '    timer: null,\n    epoch: state.epoch + 1,\n    pause: state.pause',
      replace: '    timer: null,\n    pause: state.pause',
      why: 'a text on its way arrives after the pause',
    },
    'timer-resend-lost': {
      find: "if (timer.purpose === 'resend')\n      return step(fired, [{ type: 'inject', epoch, text: null }]);",
      replace: '',
      why: 'a failed send is never tried again',
    },
    'sent-not-noted': {
      find: "return injection.state === 'intended'\n          ? withDelivery(state, injection, 'sent')\n          : state;",
      replace: 'return state;',
      why: 'a sent text is sent again after a crash',
    },
    'observed-not-noted': {
      find: "return injection.state === 'failed'\n          ? state\n          : withDelivery(state, injection, 'observed');",
      replace: 'return state;',
      why: 'an observed text is sent again after a crash',
    },
    'send-never-retried': {
      find: 'if (attempts >= sendAttempts) {',
      replace: 'if (attempts >= sendAttempts || !isLost) {',
      why: 'one failed send ends the turn',
    },
    'send-retried-for-ever': {
      find: 'if (attempts >= sendAttempts) {',
      replace: 'if (attempts >= sendAttempts && isLost) {',
      why: 'a dead host is called for ever',
    },
    'send-no-backoff': {
      find: 'Math.round(sendBackoffSeconds * 1000) * 2 ** (attempts - 1)',
      replace: '0',
      why: 'a failing host is hammered',
    },
    'send-after-newer-stop': {
      find: "  if (isOutdated && !isLost) return withDelivery(state, injection, 'failed');\n",
      replace: '',
      why: 'an old text is sent after a newer answer',
    },
    'send-again-to-asked': {
      find: "if (state.descriptor.mode === 'asked' || state.epoch !== epoch || isOver)",
      replace: 'if (state.epoch !== epoch || isOver)',
      why: 'an asked host is answered twice',
    },
    'failed-send-not-settled': {
      find: 'return undelivered === null\n      ? answerLetGo(context, decision)\n      : settleTurn(context, decision);',
      replace:
        'return undelivered === null ? answerLetGo(context, decision) : { ...settleTurn(context, decision), state };',
      why: 'a turn that failed has no outcome',
    },
    'failed-send-keeps-timer': {
      find: "state: 'failed', attempts },\n      timer: null,\n    };",
      replace: "state: 'failed', attempts } };",
      why: 'a text is sent after it was given up',
    },
    'lost-text-not-resent': {
      find: "return step(again, [{ type: 'inject', epoch, text: null }]);",
      replace: 'return again;',
      why: 'a continuation is lost with the process',
    },
    'lost-text-always-young': {
      find: '  if (isLost && isTooOld(injection.at, at, policy))\n    return reconsiderStop(step(pauseForOldTimer(state, at)), policy, at);\n',
      replace: '',
      why: "yesterday's text is sent today",
    },
    'lost-text-for-ever': {
      find: 'if (attempts >= sendAttempts) {',
      replace: 'if (attempts >= sendAttempts && !isLost) {',
      why: 'a host that dies of the text gets it for ever',
    },
    'lost-text-of-old-epoch': {
      find: "if (state.descriptor.mode === 'asked' || state.epoch !== epoch || isOver)",
      replace: "if (state.descriptor.mode === 'asked' || isOver)",
      why: 'a text is sent although the human spoke',
    },
    'expired-text-still-on-its-way': {
      find: "injection: isOnItsWay(injection) ? { ...injection, state: 'failed' } : injection,",
      replace: 'injection,',
      why: 'a text that was given up looks as if it were on its way',
    },
  },
  'src/core/check-results.ts': {
    'checks-overdue-anytime': {
      find: "checksOverdue:\n      state.parked?.cause === 'nothing-open'",
      replace: 'checksOverdue: true',
      why: 'a finished agent is told to wait for checks',
    },
    'check-pass-again': {
      find: 'passed && !passedBefore ? countProgress',
      replace: 'passed ? countProgress',
      why: 'the same goal check is progress for ever',
    },
    'check-late-result': {
      find: "if (todo?.status !== 'completed' || !todo.checks.includes(check)) return state;",
      replace: 'if (todo === null || !todo.checks.includes(check)) return state;',
      why: 'a late result settles a todo that is open again',
    },
    'check-fail-stays': {
      find: "      status: 'in_progress',\n",
      replace: '',
      why: 'a failed check does not reopen',
    },
    'check-fail-no-tail': {
      find: 'failureTail: event.tail,',
      replace: 'failureTail: null,',
      why: 'the agent is not told what failed',
    },
    'check-flaky-forgotten': {
      find: '    flaky,\n    tail: passed',
      replace: '    flaky: false,\n    tail: passed',
      why: 'a flaky pass ends as done',
    },
    'check-goal-tail-forgotten': {
      find: 'tail: passed ? null : tail,',
      replace: 'tail: null,',
      why: 'the agent is not told what failed',
    },
  },
  'src/core/work.ts': {
    'error-drops-resend': {
      find: "state.descriptor.mode === 'told' && state.timer?.purpose !== 'resend'",
      replace: "state.descriptor.mode === 'told'",
      why: 'the error that a failed send causes cancels its repetition',
    },
  },
  'src/core/human.ts': {
    'close-leaves-text-on-its-way': {
      find: "if (descriptor.mode === 'asked' || !isOnItsWay(injection)) return unparkStop(state);",
      replace: 'return unparkStop(state);',
      why: 'a text that a clean end gave up is sent at the next start',
    },
  },
  'src/engine/runtime.ts': {
    'text-sent-over-question': {
      find: 'if (!isOutdated && !isAsking)',
      replace: 'if (!isOutdated)',
      why: 'a text is sent while the human is being asked',
    },
  },
  'src/engine/engine.ts': {
    'text-stays-with-dead-instance': {
      find: "else if (row?.state === 'intended' || row?.state === 'sent')",
      replace: 'else if (false)',
      why: 'a text that a dead process left is sent by nobody',
    },
  },
});

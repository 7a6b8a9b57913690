// Signs of life, waits and stop attempts (E1-E5, G3, G8, G9, G11).
import { mutationsOf } from './mutation.ts';

export const workMutations = mutationsOf({
  'src/core/work.ts': {
    'loop-alarm-not-counted': {
      find: 'loopAlarms: state.loopAlarms + 1',
      replace: 'loopAlarms: state.loopAlarms',
      why: 'a loop goes on for ever',
    },
    'wake-unseen': {
      find: 'return showsWork(state, event) ? cancelParked(reopenTurn(state)) : state;',
      replace: 'return state;',
      why: 'a stop freezes the outcome of before, although the agent works again',
    },
    'wake-by-late-call': {
      find: 'const isNew = at > updatedAt;',
      replace: 'const isNew = true;',
      why: 'a call that is told late takes the outcome of an ended turn away',
    },
    'wake-though-held': {
      find: 'const isHeld = state.latch !== null || state.pause !== null;',
      replace: 'const isHeld = false;',
      why: 'an agent that was stopped after its end loses its outcome',
    },
    'wake-own-run': {
      find: 'const isOurs = state.descriptor.judgesGoal === true;',
      replace: 'const isOurs = false;',
      why: 'a run that has ended seems to run, and no process is at work in it',
    },
    'wake-by-subagent': {
      find: "const isOwn = source === undefined || source.kind === 'work';",
      replace: 'const isOwn = true;',
      why: 'a subagent that works on takes the outcome of its parent away',
    },
    'wake-keeps-text': {
      find: 'cancelParked(reopenTurn(state))',
      replace: 'reopenTurn(state)',
      why: 'an agent that was woken is sent a text of before its end',
    },
    'activity-keeps-countdown': {
      find: "return descriptor.mode === 'told' ? unparkStop(awake) : awake;",
      replace: 'return awake;',
      why: 'a working agent is talked over',
    },
    'activity-not-seen': {
      find: '    ...state,\n    activeSinceAnswer: true,\n    injection:\n      isTaken',
      replace: '    ...state,\n    injection: isTaken',
      why: 'a told host is continued once and never again',
    },
    'taken-forgotten': {
      find: "injection:\n      isTaken && injection !== null ? { ...injection, state: 'observed' } : injection,",
      replace: 'injection,',
      why: 'a taken answer looks lost',
    },
    'tool-start-question': {
      find: 'consumeRequest(\n      { ...markActive(state), questions: 0 },\n      event.requestId,\n    )',
      replace: 'consumeRequest(markActive(state), event.requestId)',
      why: 'an agent that works is taken for one that asks',
    },
    'tool-end-empty': {
      find: '    emptyAnswers: 0,\n',
      replace: '',
      why: 'an empty answer after work gets no retry of its own',
    },
    'todo-calls-count': {
      find: "if (event.access === 'todo') return { ...active, work };",
      replace: '',
      why: 'ticking off todos counts as work',
    },
    'calls-not-counted': {
      find: 'calls: work.calls + 1,',
      replace: 'calls: work.calls,',
      why: 'every honest claim is challenged',
    },
    'writes-not-counted': {
      find: 'writes: writes ? work.writes + 1 : work.writes',
      replace: 'writes: work.writes',
      why: 'work in the workspace is no progress',
    },
    'reads-count-as-writes': {
      find: "access === 'write' || access === 'unknown'",
      replace: 'true',
      why: 'reading counts as writing',
    },
    'workspace-not-touched': {
      find: 'turn: turn !== null && writes ? { ...turn, touchedWorkspace: true } : turn,',
      replace: 'turn,',
      why: 'goal checks are not run after work without a plan',
    },
    'model-pause-replaces': {
      find: "if (state.pause?.by === 'human') return state;\n    // A command",
      replace: '// A command',
      why: 'the model lifts the pause of the human',
    },
    'model-pause-epoch': {
      find: 'return {\n      ...cancelParked(state),\n      parked,\n      pause: byCommand',
      replace: 'return { ...state, parked, timer: null, pause: byCommand',
      why: 'a text on its way arrives after the pause',
    },
    'error-keeps-countdown': {
      find: '...(counts ? unparkStop(state) : state),',
      replace: '...state,',
      why: 'a failing host is continued at once',
    },
    'limit-without-reset': {
      find: 'event.retryAt ?? event.at + defaultRetryMs',
      replace: 'event.retryAt',
      why: 'an overload is hammered',
    },
    'limit-never-ends': {
      find: 'return rateLimitedUntil !== null && at < rateLimitedUntil ? rateLimitedUntil : null;',
      replace: 'return rateLimitedUntil;',
      why: 'an old limit excuses every later error',
    },
    'overflow-not-counted': {
      find: 'overflows: state.overflows + 1',
      replace: 'overflows: state.overflows',
      why: 'an overflow that cannot shrink goes on for ever',
    },
    'circuit-not-counted': {
      find: 'count: before + 1',
      replace: 'count: 1',
      why: 'the same error is repeated for ever',
    },
    'circuit-any-error': {
      find: 'state.circuit?.signature === signature ? state.circuit.count : 0',
      replace: 'state.circuit?.count ?? 0',
      why: 'three different errors end the turn',
    },
    'circuit-outlives-work': {
      find: 'circuit:\n        state.circuit !== null && state.circuit.count >= circuitAfter\n          ? state.circuit\n          : null,',
      replace: 'circuit: state.circuit,',
      why: 'three errors in a week end a turn',
    },
    'circuit-closes-by-itself': {
      find: 'circuit:\n        state.circuit !== null && state.circuit.count >= circuitAfter\n          ? state.circuit\n          : null,',
      replace: 'circuit: null,',
      why: 'an open circuit closes without the human',
    },
    'tokens-not-added': {
      find: 'tokens: usage.tokens + event.inputTokens + event.outputTokens,',
      replace: 'tokens: event.inputTokens + event.outputTokens,',
      why: 'the token budget is never spent',
    },
    'cost-not-added': {
      find: 'cost: usage.cost + (event.cost ?? 0),',
      replace: 'cost: event.cost ?? 0,',
      why: 'the cost budget is never spent',
    },
    'compaction-not-told': {
      find: '    compacted: true,\n',
      replace: '',
      why: 'the plan is forgotten with the compaction',
    },
    'compaction-overflows-kept': {
      find: 'overflows: wait.shrunk ? 0 : state.overflows,',
      replace: '',
      why: 'a compaction that helped does not count',
    },
    'compaction-context-kept': {
      find: 'shrunk ? { ...usage, contextTokens: null } : usage',
      replace: 'usage',
      why: 'a compacted context stays full',
    },
    'rejection-ignored': {
      find: 'if (remembered !== undefined || granted) return answered;',
      replace: 'return answered;',
      why: 'a rejected permission is asked for again',
    },
    'question-rejection-ignored': {
      find: 'rejected\n        ? pauseByRejection',
      replace: 'false ? pauseByRejection',
      why: 'a rejected question is asked again',
    },
    'rejection-epoch': {
      find: "{\n    ...state,\n    epoch: state.epoch + 1,\n    pause: { by: 'rejection'",
      replace: "{ ...state, pause: { by: 'rejection'",
      why: 'a text on its way arrives after the rejection',
    },
    'rejection-keeps-timer': {
      find: "pause: { by: 'rejection', reason, at },\n    timer: null,\n  }",
      replace: "pause: { by: 'rejection', reason, at } }",
      why: 'a timer is due for ever and the process spins',
    },
    'rejection-replaces-pause': {
      find: "if (state.pause?.by === 'human') return state;\n  return {\n    ...state,\n    epoch: state.epoch + 1,\n    pause: { by: 'rejection'",
      replace: "return { ...state, epoch: state.epoch + 1, pause: { by: 'rejection'",
      why: "a rejection makes the next message lift the human's pause",
    },
    'jobs-unbounded': {
      find: 'const jobs = all.slice(-rememberedWaits);',
      replace: 'const jobs = all;',
      why: 'a session grows with every job',
    },
    'jobs-old-wait': {
      find: 'subagents.length === 0 || hasNew ? null',
      replace: 'subagents.length === 0 ? null',
      why: 'a new subagent is not waited for beside an old server',
    },
    'jobs-named-kept': {
      find: 'state.namedJobs.filter((name) => jobs.some(({ id }) => id === name))',
      replace: 'state.namedJobs',
      why: 'a job that comes back is never named',
    },
    'requests-unbounded': {
      find: '[...ids, id].slice(-rememberedWaits)',
      replace: '[...ids, id]',
      why: 'a session grows with every request',
    },
  },
  'src/core/stop.ts': {
    'idle-restarts-countdown': {
      find: 'const stop = { ...first, end, question, toolError };',
      replace: 'const stop = { ...first, at: event.at, end, question, toolError };',
      why: 'a host that idles often is never continued',
    },
    'idle-new-run': {
      find: 'const stop = { ...first, end, question, toolError };',
      replace: 'const stop = { ...first, eventId: event.id, end, question, toolError };',
      why: 'every idle starts the checks again',
    },
    'asked-repeats-share': {
      find: "const waitingStop = state.descriptor.mode === 'told' ? state.parked : null;",
      replace: 'const waitingStop = state.parked;',
      why: 'a lost run of checks stops an asked host for ever',
    },
    'questions-not-counted': {
      find: 'questions: event.question ? state.questions + 1 : 0,',
      replace: 'questions: 0,',
      why: 'an agent that asks is pressed again and again',
    },
    'questions-not-reset': {
      find: 'questions: event.question ? state.questions + 1 : 0,',
      replace: 'questions: event.question ? state.questions + 1 : state.questions,',
      why: 'two questions in an hour stop the agent',
    },
    'empty-not-counted': {
      find: "emptyAnswers: event.end === 'empty' ? state.emptyAnswers + 1 : 0,",
      replace: 'emptyAnswers: 0,',
      why: 'an empty answer gets no retry of its own',
    },
    'tool-error-kept': {
      find: 'toolErrorTodo: event.toolError === null ? null : state.toolErrorTodo,',
      replace: '',
      why: 'two errors far apart block a todo',
    },
    'duplicate-idle-counted': {
      find: 'if (isRepeated) return recorded;',
      replace: '',
      why: 'an idle that comes twice counts as a second question',
    },
    'stop-not-seen': {
      find: 'turn: { ...(state.turn ?? newTurn(event.id, event.at)), stopSeen: true },',
      replace: 'turn: state.turn ?? newTurn(event.id, event.at),',
      why: 'trivial todos that come and go are progress for ever',
    },
    'stop-jobs-ignored': {
      find: 'event.background === null ? state : setJobs(state, event.background)',
      replace: 'state',
      why: 'background work that the host listed is not waited for',
    },
  },
});

// What the human does: messages, latch, pauses, turns, echoes (G4, G6, T3, E2).
import { mutationsOf } from './mutation.ts';

export const humanMutations = mutationsOf({
  'src/core/human.ts': {
    'human-counters-kept': {
      find: 'counters: { stagnant: 0, continuations: 0, total: 0 },',
      replace: '',
      why: 'a human message does not give the agent a new start',
    },
    'human-stagnant-kept': {
      find: 'counters: { stagnant: 0, continuations: 0, total: 0 },',
      replace: 'counters: { ...session.counters, continuations: 0, total: 0 },',
      why: 'a human message does not give the agent a new start',
    },
    'human-second-kept': {
      find: 'counters: { stagnant: 0, continuations: 0, total: 0 },',
      replace: 'counters: { ...session.counters, stagnant: 0, total: 0 },',
      why: 'a human message does not give the agent a new start',
    },
    'human-total-kept': {
      find: 'counters: { stagnant: 0, continuations: 0, total: 0 },',
      replace: 'counters: { ...session.counters, stagnant: 0, continuations: 0 },',
      why: 'a long session ends at the ceiling',
    },
    'human-progress-kept': {
      find: 'progress: noProgress,',
      replace: 'progress: state.progress,',
      why: 'weak progress does not count after a message',
    },
    'human-challenges-kept': {
      find: 'challenged: { claims: false, ends: false },',
      replace: '',
      why: 'a challenge is made once in a session',
    },
    'human-budget-kept': {
      find: 'since: event.at, tokens: 0, cost: 0 }',
      replace: 'since: event.at }',
      why: 'budgets are spent once for the whole session',
    },
    'human-time-kept': {
      find: 'usage: { ...state.usage, since: event.at,',
      replace: 'usage: { ...state.usage,',
      why: 'the time budget is spent once for the whole session',
    },
    'human-circuit-kept': {
      find: '    circuit: null,\n',
      replace: '',
      why: 'an open circuit outlives the message that asked to try again',
    },
    'human-overflows-kept': {
      find: '    overflows: 0,\n',
      replace: '',
      why: 'overflows outlive the message',
    },
    'human-questions-kept': {
      find: '    questions: 0,\n',
      replace: '',
      why: 'an answered question is held against the agent',
    },
    'human-tool-error-kept': {
      find: '    toolErrorTodo: null,\n',
      replace: '',
      why: 'a todo is blocked although the human said to try again',
    },
    'human-loop-kept': {
      find: '    loopAlarms: 0,\n    loopTold: false,\n',
      replace: '',
      why: 'a loop is held against the agent for ever',
    },
    'human-epoch': {
      find: '    policyHash: event.policyHash ?? state.policyHash,\n    epoch: state.epoch + 1,',
      replace: '    policyHash: event.policyHash ?? state.policyHash,',
      why: 'a continuation talks over the human',
    },
    'human-policy-not-taken': {
      find: 'policyHash: event.policyHash ?? state.policyHash,',
      replace: 'policyHash: state.policyHash,',
      why: 'new settings never hold',
    },
    'human-latch-kept': {
      find: "latch: stops ? { how: 'told to stop', at: event.at } : null,",
      replace: "latch: stops ? { how: 'told to stop', at: event.at } : session.latch,",
      why: 'the agent stays stopped although the human asked it to go on',
    },
    'human-stop-word-ignored': {
      find: "latch: stops ? { how: 'told to stop', at: event.at } : null,",
      replace: 'latch: null,',
      why: 'stop does not stop',
    },
    'human-pause-lifted': {
      find: "pause: state.pause?.by === 'human' ? state.pause : null,",
      replace: 'pause: null,',
      why: 'a pause ends with the next word',
    },
    'human-model-pause-kept': {
      find: "pause: state.pause?.by === 'human' ? state.pause : null,",
      replace: 'pause: state.pause,',
      why: 'an answered question keeps the agent paused',
    },
    'human-countdown-kept': {
      find: '    parked: null,\n    timer: null,\n    settled: null,\n',
      replace: '    settled: null,\n',
      why: 'a continuation talks over the human',
    },
    'human-limit-kept': {
      find: 'rateLimitedUntil: limitAfter(state, event.at),',
      replace: 'rateLimitedUntil: state.rateLimitedUntil,',
      why: 'an old limit excuses every later error',
    },
    'echo-ids-ignored': {
      find: 'return state.humanMessageIds.includes(event.messageId);',
      replace: 'return false;',
      why: 'an echo of our own host lifts the latch',
    },
    'echo-grace-ignored': {
      find: 'return event.at - parked.at < policy',
      replace: 'return false && event.at - parked.at < policy',
      why: 'an echo cancels every countdown',
    },
    'echo-grace-asked': {
      find: "if (descriptor.mode !== 'told' || parked === null) return false;",
      replace: 'if (parked === null) return false;',
      why: 'a message to an asked host is taken for an echo',
    },
    'echo-ids-unbounded': {
      find: '.slice(-rememberedMessages)',
      replace: '',
      why: 'a session grows with every message',
    },
    'turn-always-new': {
      find: 'turn !== null && !turn.ended && state.parked === null',
      replace: 'turn !== null && !turn.ended && state.parked === null && false',
      why: 'a word in the middle of the work starts a new plan',
    },
    'turn-never-new': {
      find: 'turn !== null && !turn.ended && state.parked === null',
      replace: 'turn !== null',
      why: "yesterday's plan is forced upon every question",
    },
    'turn-parked-joins': {
      find: 'turn !== null && !turn.ended && state.parked === null',
      replace: 'turn !== null && !turn.ended',
      why: 'a message in a countdown joins the turn that had stopped',
    },
    'turn-over-joined': {
      find: ' && event.turnIsOver !== true',
      replace: '',
      why: 'after Ctrl-C an unrelated question is held to the old plan',
    },
    'turn-goes-on-forgotten': {
      find: 'goesOn: turn.goesOn || goesOn',
      replace: 'goesOn: turn.goesOn',
      why: 'go on does not go on',
    },
    'turn-scope-ignored': {
      find: "return policy.settings.scope === 'turn' ? freshPlan(started, event.turnId) : started;",
      replace: 'return started;',
      why: 'old todos come back in every turn',
    },
    'session-scope-ignored': {
      find: "return policy.settings.scope === 'turn' ? freshPlan(started, event.turnId) : started;",
      replace: 'return freshPlan(started, event.turnId);',
      why: 'the plan is lost with every message',
    },
    'turn-left-over-forgotten': {
      find: 'open > 0 ? { planId: state.planId, open } : null',
      replace: 'null',
      why: 'what an old turn left open is never told',
    },
    'old-goal-counts': {
      find: " || state.settled?.outcome === 'done';",
      replace: ';',
      why: 'after a goal that was reached, an agent that only talks reaches the next one',
    },
    'goal-that-failed-forgotten': {
      find: "|| state.settled?.outcome === 'done';",
      replace: '|| state.settled !== undefined;',
      why: 'work that a human stopped and sent on is no change any more',
    },
    'baseline-counts': {
      find: 'return seeFingerprint(\n    { ...fresh, work: { ...work, writesAtFingerprint: work.writes } },\n    event,\n  );',
      replace: 'return seeFingerprint({ ...fresh, work }, event);',
      why: 'edits of the human are progress of the agent',
    },
    'unanswered-forgotten': {
      find: "injection: afterAnswer(state, 'unanswered'),",
      replace: 'injection: state.injection,',
      why: 'a lost answer looks delivered',
    },
    'abort-no-latch': {
      find: 'latch: { how, at }, settled };',
      replace: 'settled };',
      why: 'an abort is ignored',
    },
    'abort-epoch': {
      find: '...cancelParked(endTurn(state)), latch',
      replace: '...endTurn(state), parked: null, timer: null, latch',
      why: 'a text on its way arrives after the abort',
    },
    'abort-keeps-countdown': {
      find: '...cancelParked(endTurn(state)), latch',
      replace: '...endTurn(state), epoch: state.epoch + 1, latch',
      why: 'an aborted agent is continued',
    },
    'abort-turn-goes-on': {
      find: '...cancelParked(endTurn(state)), latch',
      replace: '...cancelParked(state), latch',
      why: 'a new request joins the aborted turn',
    },
    'abort-resettles': {
      find: 'const settled = isTurnOver(state) ? state.settled : aborted;',
      replace: 'const settled = aborted;',
      why: 'a stop after the end takes the outcome and its proofs away',
    },
    'stop-word-begins-turn': {
      find: 'const isStopAfterEnd = stops && isTurnOver(state);',
      replace: 'const isStopAfterEnd = false;',
      why: '"stop" after the end begins a turn that ends as aborted',
    },
    'taken-up-stays-ended': {
      find: 'const resumed = goesOn === true ? reopenTurn(given) : given;',
      replace: 'const resumed = given;',
      why: 'Ctrl-C in a run that was taken up leaves the outcome of its last run',
    },
    'pause-ends-run': {
      find: 'if (state.descriptor.judgesGoal === true) return state;',
      replace: '',
      why: 'Ctrl-C in a paused run ends it as paused',
    },
    'pause-epoch': {
      find: '...cancelParked(paused), pause',
      replace: '...paused, parked: null, timer: null, pause',
      why: 'a text on its way arrives after the pause',
    },
    'pause-turn-runs': {
      find: 'const paused = state.parked === null ? state : endWaitingTurn(state, at);',
      replace: 'const paused = state;',
      why: 'resume after a pause in a countdown does nothing',
    },
    'pause-ignored': {
      find: "...cancelParked(paused), pause: { by: 'human', reason, at }",
      replace: '...cancelParked(paused)',
      why: 'pause does not pause',
    },
    'resume-cancels-countdown': {
      find: 'if (state.latch === null && state.pause === null) return state;',
      replace: '',
      why: 'a needless resume leaves an idle host alone for ever',
    },
    'resume-keeps-latch': {
      find: '...cancelParked(state), latch: null, pause: null',
      replace: '...cancelParked(state), pause: null',
      why: 'resume does not resume',
    },
    'resume-keeps-pause': {
      find: '...cancelParked(state), latch: null, pause: null',
      replace: '...cancelParked(state), latch: null',
      why: 'resume does not resume',
    },
    'resume-zeroes': {
      find: '...cancelParked(state), latch: null, pause: null',
      replace:
        '...cancelParked(state), latch: null, pause: null, counters: { stagnant: 0, continuations: 0, total: 0 }',
      why: 'resume gives an agent a new budget',
    },
    'resume-does-not-take-up': {
      find: "if (descriptor.mode !== 'told' || turn?.ended === false || lastStop === null)\n      return lifted;",
      replace: 'if (lastStop === null || true) return lifted;',
      why: 'an idle host stays idle after resume',
    },
    'resume-interrupts': {
      find: "if (descriptor.mode !== 'told' || turn?.ended === false || lastStop === null)\n      return lifted;",
      replace: "if (descriptor.mode !== 'told' || lastStop === null) return lifted;",
      why: 'resume talks into a working agent',
    },
    'closed-keeps-countdown': {
      find: 'return unparkStop(state);',
      replace: 'return state;',
      why: 'a closed session is continued',
    },
    'deleted-epoch': {
      find: '...cancelParked(state), deleted: true',
      replace: '...state, parked: null, timer: null, deleted: true',
      why: 'a text is sent to a deleted session',
    },
    'unpark-epoch': {
      find: '...cancelParked(state), injection',
      replace: '...state, parked: null, timer: null, injection',
      why: 'a cancelled countdown fires',
    },
  },
  'src/core/work.ts': {
    'turn-requests-kept': {
      find: 'const waits = { ...state.waits, permissions: [], questions: [] };',
      replace: 'const { waits } = state;',
      why: 'a request that nobody answered stops every later turn',
    },
  },
  'src/hosts/asked-answers.ts': {
    'abort-inferred-from-our-command': {
      find: 'if (isNotice && !isDriven && wasInterrupted(current.trail, mayStop))',
      replace: 'if (!isOurs && !isDriven && wasInterrupted(current.trail, mayStop))',
      why: '/untildone:status in mid-turn stops the agent',
    },
    'abort-inferred-after-late-stop': {
      find: "createBase('failure', `late:",
      replace: "createBase('side', `late:",
      why: 'a Stop hook that ran out of time looks like an interrupt',
    },
  },
  'src/hosts/opencode/follow.ts': {
    'pending-untold-under-run': {
      find: 'stopAnswered(await told.opened().runtime.ask(stop, clock.now()));',
      replace: 'await told.opened().runtime.ask(stop, clock.now());',
      why: 'an agent that rewrites untildone.json in its only turn goes unnoticed',
    },
  },
});

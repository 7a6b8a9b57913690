// What a human does, and how a session comes and goes. Only the human lifts the latch,
// and only a message of the human zeroes the counters (G4, G6, T3).
import { byEvent, type Outcome } from './decision.ts';
import type { EventOf } from './events.ts';
import type { Policy } from './policy.ts';
import { oneLine } from './safe-text.ts';
import {
  afterAnswer,
  cancelParked,
  endTurn,
  hasSpoken,
  isGoalProved,
  isOnItsWay,
  isTurnOver,
  newTurn,
  noProgress,
  reopenTurn,
  type State,
  unparkStop,
} from './state.ts';
import { bareWords, isFinal, isOpen } from './todo.ts';
import {
  dropUnanswered,
  forgetRefusals,
  isApprovalRequest,
  limitAfter,
  seeFingerprint,
} from './work.ts';

/** Messages whose ids are kept for late echoes; hosts send those within seconds. */
const rememberedMessages = 32;
/** More messages than anyone types between two steps. */
const queuedMessages = 200;

/** What a human's messages, stops and pauses do to a session, and its opening and end. */
export const humanReducers = byEvent({
  'human-spoke': humanSpoke,
  'words-joined'(state, { messageId }) {
    return {
      ...state,
      words: state.words.filter((known) => known.messageId !== messageId),
    };
  },
  /** A turn that is over keeps its outcome, because nothing is left to abort (V12). */
  'human-aborted'(state, { how, at }) {
    const aborted = { outcome: 'aborted', reason: 'aborted', at } as const;
    const settled = isTurnOver(state) ? state.settled : aborted;
    return { ...cancelParked(endTurn(state)), latch: { how, at }, settled };
  },
  'human-paused'(state, { reason, at }) {
    const paused = state.parked === null ? state : endWaitingTurn(state, at);
    return { ...cancelParked(paused), pause: { by: 'human', reason, at } };
  },
  /**
   * Spent budgets stay spent (G6). A told host does not idle again by itself, so its last
   * stop is taken up.
   */
  'human-resumed'(given, { at, policyHash, goesOn }) {
    const resumed = goesOn === true ? reopenTurn(given) : given;
    const state = policyHash ? { ...resumed, policyHash } : resumed;
    // Nothing is held, so a countdown or a wait goes on as it was.
    if (state.latch === null && state.pause === null) return state;
    const { lastStop, descriptor, turn } = state;
    const lifted: State = { ...cancelParked(state), latch: null, pause: null };
    if (descriptor.mode !== 'told' || turn?.ended === false || lastStop === null)
      return lifted;
    // A turn that had ended otherwise before the hold keeps its outcome (V12).
    if (state.settled !== null && !heldOutcomes.has(state.settled.outcome)) return lifted;
    const parked = { ...lastStop, at, end: 'normal', cause: 'resumed' } as const;
    return { ...lifted, parked, activeSinceAnswer: true };
  },
  // None of the next three events lifts a latch or zeroes a counter.
  'session-opened'(state, { descriptor, agent, resumed }) {
    const opened = resumed === true ? withoutCutContinuation(state) : state;
    return {
      ...opened,
      descriptor,
      agent: agent ?? state.agent,
      deleted: false,
      closed: false,
    };
  },
  /** What is planned or on its way to the host is void. */
  'session-closed'(open) {
    const state: State = { ...open, closed: true };
    const { injection, descriptor } = state;
    if (descriptor.mode === 'asked' || !isOnItsWay(injection)) return unparkStop(state);
    return { ...cancelParked(state), injection: { ...injection, state: 'failed' } };
  },
  'session-deleted': (state) => ({ ...cancelParked(state), deleted: true }),
});

/**
 * If a human pauses while a stop attempt waits, the turn ends in a host: the agent has
 * stopped there, and nothing waits for it any more. A run of our own waits for `resume`
 * instead.
 */
function endWaitingTurn(state: State, at: number): State {
  if (state.descriptor.judgesGoal === true) return state;
  return {
    ...endTurn(state),
    settled: { outcome: 'paused', reason: 'paused-by-human', at },
  };
}

const heldOutcomes: ReadonlySet<Outcome> = new Set(['aborted', 'paused']);

type Spoken = EventOf<'human-spoke'>;

function humanSpoke(state: State, event: Spoken, policy: Policy): State {
  if (isEcho(state, event, policy)) return state;
  const stops = event.text !== null && isPhrase(event.text, policy.settings.stopWords);
  // A stop word after the end of a turn begins no new turn: it only silences the session
  // (V12).
  const isStopAfterEnd = stops && isTurnOver(state);
  const placed = isStopAfterEnd
    ? dropUnanswered(state)
    : placeInTurn(state, event, policy);
  const fresh: State = {
    ...(stops ? placed : queueWords(forgetRefusals(placed), event)),
    title: state.title ?? titleFrom(event),
    // The question whether a check may run is asked anew at the next stop.
    waits: {
      ...placed.waits,
      questions: placed.waits.questions.filter((id) => !isApprovalRequest(id)),
    },
    closed: false,
    agent: event.agent ?? state.agent,
    policyHash: event.policyHash ?? state.policyHash,
    epoch: state.epoch + 1,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    progress: noProgress,
    challenged: { claims: false, ends: false },
    spoken: spokenAt(placed, state.epoch + 1, event),
    latch: stops ? { how: 'told to stop', at: event.at } : null,
    pause: state.pause?.by === 'human' ? state.pause : null,
    questions: 0,
    emptyAnswers: 0,
    toolErrorTodo: null,
    overflows: 0,
    loopAlarms: 0,
    loopTold: false,
    circuit: null,
    rateLimitedUntil: limitAfter(state, event.at),
    checksOverdue: false,
    recordBroken: null,
    hidden: [],
    // A call whose end was never reported does not run on into a new message.
    work: { ...placed.work, started: placed.work.writes },
    usage: { ...state.usage, since: event.at, tokens: 0, cost: 0 },
    clock: event.clock ?? null,
    humanMessageIds:
      event.messageId === null
        ? state.humanMessageIds
        : [...state.humanMessageIds, event.messageId].slice(-rememberedMessages),
    activeSinceAnswer: true,
    parked: null,
    timer: null,
    settled: null,
    // The human spoke before the agent moved, so the answer was lost.
    injection: afterAnswer(state, 'unanswered'),
    ...(isStopAfterEnd && keepTurnEnd(state)),
  };
  if (event.fingerprint === null) return fresh;
  // Progress is measured from the workspace at the human's message.
  const { work } = fresh;
  return seeFingerprint(
    { ...fresh, work: { ...work, writesAtFingerprint: work.writes } },
    event,
  );
}

/** The outcome of the turn that had ended, and what it was judged by. */
function keepTurnEnd(
  state: State,
): Pick<State, 'settled' | 'policyHash' | 'recordBroken'> {
  const { settled, policyHash, recordBroken } = state;
  return { settled, policyHash, recordBroken };
}

/**
 * The values that claims and work are counted from. If the workspace was not looked at,
 * the last look counts: a workspace that is still the same has not changed since (V4).
 */
function spokenAt({ work }: State, epoch: number, { fingerprint }: Spoken) {
  return {
    epoch,
    calls: work.calls,
    writes: work.writes,
    fingerprint: fingerprint ?? work.fingerprint,
  };
}

function titleFrom({ text }: Spoken): string | null {
  const words = oneLine((text ?? '').slice(0, longestMessage), longestTitle);
  return words === '' ? null : words;
}

/**
 * Whether a message is an echo: its id is known, or it has none and comes right after an
 * idle (E2).
 */
function isEcho(state: State, event: Spoken, policy: Policy): boolean {
  if (event.messageId !== null) return state.humanMessageIds.includes(event.messageId);
  const { parked, descriptor } = state;
  if (descriptor.mode !== 'told' || parked === null) return false;
  return event.at - parked.at < policy.settings.graceSeconds * 1000;
}

/** A phrase has at most 400 code units; the rest is room for "!!!". */
const longestMessage = 1000;
const longestTitle = 80;

/**
 * Whether a message is one of the phrases and nothing else (G4, T3). Letter case, spacing
 * and end punctuation do not matter.
 */
export function isPhrase(message: string, phrases: readonly string[]): boolean {
  const plain = message.trim();
  if (plain === '' || plain.length > longestMessage) return false;
  const normalise = (words: string): string =>
    bareWords(words, /^[¡¿]+/u, /[\p{P}\s]+$/u);
  return phrases.map(normalise).includes(normalise(plain));
}

function placeInTurn(state: State, event: Spoken, policy: Policy): State {
  const { turn } = state;
  const goesOn = event.text !== null && isPhrase(event.text, policy.settings.goOnPhrases);
  if (turn !== null && !turn.ended && state.parked === null && event.turnIsOver !== true)
    return { ...state, turn: { ...turn, goesOn: turn.goesOn || goesOn } };
  if (turn !== null && state.descriptor.judgesGoal === true && isUnfinished(state))
    return { ...dropUnanswered(state), turn: { ...turn, ended: false }, finalRun: null };
  const proved = isGoalProved(state);
  const next = {
    ...newTurn(event.turnId, event.at, (turn?.number ?? 0) + 1),
    goesOn,
    proved,
  };
  const started: State = {
    ...forGoal(dropUnanswered(state)),
    turn: next,
    finalRun: null,
  };
  return policy.settings.scope === 'turn' ? freshPlan(started, event.turnId) : started;
}

/**
 * Work before the first goal, or for a goal that is proved, is no change for the next
 * goal (V1). Work that is only claimed may still be proved.
 */
function forGoal(state: State): State {
  const beginsAnew = !hasSpoken(state) || state.settled?.outcome === 'done';
  return beginsAnew ? { ...state, baseline: null } : state;
}

/**
 * Whether something in the plan of a run is not final. A run answers for all of it, so
 * words join the turn, also after an abort (T3, P36).
 */
function isUnfinished({ plan, turn, leftOver }: State): boolean {
  return (
    turn?.ended === false || leftOver !== null || plan.some((todo) => !isFinal(todo))
  );
}

/** Begins an empty plan. When the turn ends, people read what the old one left (T3). */
function freshPlan(state: State, planId: string): State {
  const open = state.plan.filter(isOpen).length;
  const leftOver = open > 0 ? { planId: state.planId, open } : null;
  return { ...state, planId, plan: [], leftOver, goal: {} };
}

/** Keeps words until the loop takes them up, so that a crash loses nothing (V5). */
function queueWords(state: State, { queued, text, messageId, at }: Spoken): State {
  if (queued !== true || text === null || messageId === null) return state;
  return {
    ...state,
    words: [...state.words, { messageId, text, at }].slice(-queuedMessages),
  };
}

/**
 * Takes back a stagnant continuation whose process died, because that says nothing about
 * progress. The other counters stay, so that dying is bounded (G6, V5).
 */
function withoutCutContinuation(state: State): State {
  const { counters, progress } = state;
  if (!progress.continuationOpen) return state;
  return {
    ...state,
    counters: { ...counters, stagnant: Math.max(0, counters.stagnant - 1) },
    progress: { ...progress, continuationOpen: false },
  };
}

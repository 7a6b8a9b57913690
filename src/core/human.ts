// What the human does, and how a session comes and goes. Only the human lifts the latch; only speaking zeroes the
// counters (G4, G6, T3).
import type { EventOf } from './events.ts';
import { isPhrase } from './phrases.ts';
import type { Policy } from './policy.ts';
import { endTurn, isOnItsWay, newTurn, type State, unpark } from './state.ts';
import { isOpen } from './todo.ts';
import { dropUnanswered, forgetRefusals, isApprovalRequest, limitAfter, seeFingerprint } from './work.ts';

/** For late echoes of earlier messages; hosts send them within seconds. */
const rememberedMessages = 32;
/** More than anyone types between two steps. */
const queuedMessages = 200;

type Spoken = EventOf<'human-spoke'>;

export function humanSpoke(state: State, event: Spoken, policy: Policy): State {
  if (isEcho(state, event, policy)) return state;
  const stops = event.text !== null && isPhrase(event.text, policy.settings.stopWords);
  const placed = placeInTurn(state, event, policy);
  const fresh: State = {
    ...(stops ? placed : queueWords(forgetRefusals(placed), event)),
    // The question of a check is asked anew at the next stop.
    waits: { ...placed.waits, questions: placed.waits.questions.filter((id) => !isApprovalRequest(id)) },
    closed: false,
    agent: event.agent ?? state.agent,
    policyHash: event.policyHash ?? state.policyHash,
    epoch: state.epoch + 1,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    progress: { weakInRow: 0, weakCounted: false, planMoved: false, workspaceMoved: false },
    challenged: { claims: false, ends: false },
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
    // A call whose end was never seen does not run on into a new message.
    work: { ...placed.work, started: placed.work.writes },
    usage: { ...state.usage, since: event.at, tokens: 0, cost: 0 },
    humanMessageIds:
      event.messageId === null
        ? state.humanMessageIds
        : [...state.humanMessageIds, event.messageId].slice(-rememberedMessages),
    activeSinceAnswer: true,
    parked: null,
    timer: null,
    settled: null,
    injection: unanswered(state),
  };
  if (event.fingerprint === null) return fresh;
  // Progress starts from the workspace at the human's message.
  const { work } = fresh;
  return seeFingerprint({ ...fresh, work: { ...work, writesAtFingerprint: work.writes } }, event);
}

/** A known id, or without ids a message right after an idle (E2). */
function isEcho(state: State, event: Spoken, policy: Policy): boolean {
  if (event.messageId !== null) return state.humanMessageIds.includes(event.messageId);
  const { parked, descriptor } = state;
  if (descriptor.mode !== 'told' || parked === null) return false;
  return event.at - parked.at < policy.settings.gracePeriod;
}

function placeInTurn(state: State, event: Spoken, policy: Policy): State {
  const { turn } = state;
  const goesOn = event.text !== null && isPhrase(event.text, policy.settings.goOnPhrases);
  if (turn !== null && !turn.ended && state.parked === null)
    return { ...state, turn: { ...turn, goesOn: turn.goesOn || goesOn } };
  const next = { ...newTurn(event.turnId, event.at, (turn?.number ?? 0) + 1), goesOn };
  const started: State = { ...dropUnanswered(state), turn: next, finalRun: null };
  return policy.settings.scope === 'turn' ? freshPlan(started, event.turnId) : started;
}

/** What the old turn left open is named at the end (T3). */
function freshPlan(state: State, planId: string): State {
  const open = state.plan.filter(isOpen).length;
  const leftOver = open > 0 ? { planId: state.planId, open } : null;
  return { ...state, planId, plan: [], leftOver, goal: {} };
}

/** Before the loop takes it up: a crash loses nothing (V5). */
function queueWords(state: State, { queued, text, messageId, at }: Spoken): State {
  if (queued !== true || text === null || messageId === null) return state;
  return { ...state, words: [...(state.words ?? []), { messageId, text, at }].slice(-queuedMessages) };
}

export function wordsJoined(state: State, { messageId }: EventOf<'words-joined'>): State {
  return { ...state, words: state.words?.filter((known) => known.messageId !== messageId) ?? [] };
}

/** The human spoke before the agent moved: the answer was lost. */
function unanswered({ injection, descriptor }: State): State['injection'] {
  return injection?.state === 'intended' && descriptor.mode === 'asked'
    ? { ...injection, state: 'unanswered' }
    : injection;
}

export function humanAborted(state: State, { how, at }: EventOf<'human-aborted'>): State {
  return {
    ...endTurn(state),
    epoch: state.epoch + 1,
    latch: { how, at },
    parked: null,
    timer: null,
    settled: { outcome: 'aborted', reason: 'aborted', at },
  };
}

export function humanPaused(state: State, { reason, at }: EventOf<'human-paused'>): State {
  return {
    // A told host that was waiting sits idle: its turn is over.
    ...(state.parked === null ? state : endTurn(state)),
    epoch: state.epoch + 1,
    pause: { by: 'human', reason, at },
    parked: null,
    timer: null,
  };
}

/** Budgets stay spent (G6). A told host does not idle again by itself: its last stop is taken up. */
export function humanResumed(state: State, { at }: EventOf<'human-resumed'>): State {
  // A countdown or a wait goes on as it was.
  if (state.latch === null && state.pause === null) return state;
  const { lastStop, descriptor, turn } = state;
  const lifted = { ...state, epoch: state.epoch + 1, latch: null, pause: null, parked: null, timer: null };
  if (descriptor.mode !== 'told' || turn?.ended === false || lastStop === null) return lifted;
  return { ...lifted, parked: { ...lastStop, at, end: 'normal', cause: 'resumed' }, activeSinceAnswer: true };
}

/** None of these three lifts a latch or zeroes a counter. */
export function sessionOpened(state: State, event: EventOf<'session-opened'>): State {
  const { descriptor, resumed } = event;
  const opened = resumed === true ? withoutCutContinuation(state) : state;
  return { ...opened, descriptor, agent: event.agent ?? state.agent, deleted: false, closed: false };
}

/** A process that died says nothing about progress. Only `stagnant` forgets it: dying stays bounded (G6, V5). */
function withoutCutContinuation(state: State): State {
  const { counters, progress } = state;
  if (progress.continuationOpen !== true) return state;
  return {
    ...state,
    counters: { ...counters, stagnant: Math.max(0, counters.stagnant - 1) },
    progress: { ...progress, continuationOpen: false },
  };
}

/** What is planned or on its way is void: yesterday's countdown must not spend today's tokens. */
export function sessionClosed(open: State): State {
  const state: State = { ...open, closed: true };
  const { injection, descriptor } = state;
  if (descriptor.mode === 'asked' || !isOnItsWay(injection)) return unpark(state);
  const failed = { ...injection, state: 'failed' as const };
  return { ...state, injection: failed, parked: null, timer: null, epoch: state.epoch + 1 };
}

export function sessionDeleted(state: State): State {
  return { ...state, parked: null, timer: null, epoch: state.epoch + 1, deleted: true };
}

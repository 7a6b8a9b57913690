// What the human does (speaking, aborting, pausing, resuming), and how a session comes and goes. Only the human lifts
// the latch, and only speaking zeroes the counters (G4, G6, T3).

import type { EventOf } from './events.ts';
import { isPhrase } from './phrases.ts';
import type { Policy } from './policy.ts';
import { settingsForAgent } from './settings.ts';
import { endTurn, newTurn, type State, unpark } from './state.ts';
import { isOpen } from './todo.ts';
import { dropUnanswered, forgetRefusals, isApprovalRequest } from './waits.ts';
import { limitAfter, seeFingerprint } from './work.ts';

/** Enough to recognise late echoes of earlier messages; hosts send them within seconds. */
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
    // Whoever speaks has said what they think: the question of a check is asked anew at the next stop.
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
  // The workspace at the human's message is where progress starts from: it is never progress itself.
  const { work } = fresh;
  return seeFingerprint({ ...fresh, work: { ...work, writesAtFingerprint: work.writes } }, event);
}

/** A known id is an echo. Without ids, a message right after an idle is the host repeating itself (E2). */
function isEcho(state: State, event: Spoken, policy: Policy): boolean {
  if (event.messageId !== null) return state.humanMessageIds.includes(event.messageId);
  const { parked, descriptor } = state;
  if (descriptor.mode !== 'told' || parked === null) return false;
  return event.at - parked.at < settingsForAgent(policy.settings, state.agent.name).gracePeriod;
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

/** Turn scope: a new plan for a new turn; what the old one left open stays as it is and is named at the end (T3). */
function freshPlan(state: State, planId: string): State {
  const open = state.plan.filter(isOpen).length;
  const leftOver = open > 0 ? { planId: state.planId, open } : null;
  return { ...state, planId, plan: [], leftOver, goal: {} };
}

/** On the record before the loop takes it up: a crash in between loses nothing (V5). */
function queueWords(state: State, { queued, text, messageId, at }: Spoken): State {
  if (queued !== true || text === null || messageId === null) return state;
  return { ...state, words: [...(state.words ?? []), { messageId, text, at }].slice(-queuedMessages) };
}

export function wordsJoined(state: State, { messageId }: EventOf<'words-joined'>): State {
  return { ...state, words: state.words?.filter((known) => known.messageId !== messageId) ?? [] };
}

/** An asked host's answer is at most once: if the human speaks before the agent moved, it was lost. */
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
    // A told host that was waiting sits idle: its turn is over, and `resume` takes the stop attempt up again.
    ...(state.parked === null ? state : endTurn(state)),
    epoch: state.epoch + 1,
    pause: { by: 'human', reason, at },
    parked: null,
    timer: null,
  };
}

/**
 * Lifts latch and pause, and nothing else: budgets stay spent (G6). A told host that sits idle will not idle again
 * by itself, so the last stop attempt is taken up once more.
 */
export function humanResumed(state: State, { at }: EventOf<'human-resumed'>): State {
  // Nothing is held: a countdown or a wait goes on as it was.
  if (state.latch === null && state.pause === null) return state;
  const { lastStop, descriptor, turn } = state;
  const lifted: State = {
    ...state,
    epoch: state.epoch + 1,
    latch: null,
    pause: null,
    parked: null,
    timer: null,
  };
  if (descriptor.mode !== 'told' || turn?.ended === false || lastStop === null) return lifted;
  return { ...lifted, parked: { ...lastStop, at, end: 'normal', cause: 'resumed' }, activeSinceAnswer: true };
}

/** None of these three lifts a latch or zeroes a counter. */
export function sessionOpened(state: State, event: EventOf<'session-opened'>): State {
  const { descriptor, resumed } = event;
  const opened = resumed === true ? withoutCutContinuation(state) : state;
  return { ...opened, descriptor, agent: event.agent ?? state.agent, deleted: false, closed: false };
}

/**
 * The process died before the agent could come to its next stop: that says nothing about the agent's progress, so the
 * last continuation no longer counts as stagnant. The other two counters keep it, so that a process which dies again
 * and again is still bounded (G6, V5).
 */
function withoutCutContinuation(state: State): State {
  const { counters, progress } = state;
  if (progress.continuationOpen !== true) return state;
  return {
    ...state,
    counters: { ...counters, stagnant: Math.max(0, counters.stagnant - 1) },
    progress: { ...progress, continuationOpen: false },
  };
}

/** A clean end cancels what was planned or is on its way: yesterday's countdown must not spend today's tokens. */
export function sessionClosed(open: State): State {
  const state: State = { ...open, closed: true };
  const { injection, descriptor } = state;
  const onItsWay = injection?.state === 'intended' || injection?.state === 'sent';
  if (descriptor.mode === 'asked' || !onItsWay) return unpark(state);
  const failed = { ...injection, state: 'failed' as const };
  return { ...state, injection: failed, parked: null, timer: null, epoch: state.epoch + 1 };
}

/** A text that is on its way to it is void too. */
export function sessionDeleted(state: State): State {
  return { ...state, parked: null, timer: null, epoch: state.epoch + 1, deleted: true };
}

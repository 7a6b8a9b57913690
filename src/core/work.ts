// Signs of life: activity, tool calls, errors, usage, fingerprints, loop alarms. They cancel a countdown (E2) and feed
// progress (G6, G7). Progress is evidence: first finals, first passes, and a workspace that nobody has seen before;
// everything else counts at most twice in a row.

import type { EventOf } from './events.ts';
import type { Policy } from './policy.ts';
import { settingsForAgent } from './settings.ts';
import { type State, unpark } from './state.ts';
import { consumeRequest } from './waits.ts';

/** Overload without a reset time: long enough for a provider to breathe, short enough for a human to watch. */
const defaultRetryMs = 30_000;

/** Weak changes that may reset stagnation without stronger evidence in between. More would let a toggler go on for ever. */
const weakInRowLimit = 2;

/** The host is at work again: a told host's countdown is moot, an asked host has taken our answer. */
export function markActive(state: State): State {
  const { injection, descriptor } = state;
  // An asked host has the text with the answer; a told one only once it was sent.
  const isTaken = injection?.state === (descriptor.mode === 'asked' ? 'intended' : 'sent');
  const awake: State = {
    ...state,
    activeSinceAnswer: true,
    injection: isTaken && injection !== null ? { ...injection, state: 'observed' } : injection,
  };
  return descriptor.mode === 'told' ? unpark(awake) : awake;
}

/** A limit whose time has come is over once something works again: a later error is not its doing (G2, G9). */
export function limitAfter({ rateLimitedUntil }: State, at: number): number | null {
  return rateLimitedUntil !== null && at < rateLimitedUntil ? rateLimitedUntil : null;
}

export function toolStarted(state: State, event: EventOf<'tool-started'>): State {
  const active = consumeRequest({ ...markActive(state), questions: 0 }, event.requestId);
  if (!canWrite(event)) return active;
  return { ...active, work: { ...active.work, started: active.work.started + 1 } };
}

function canWrite({ access }: EventOf<'tool-started' | 'tool-ended'>): boolean {
  return access === 'write' || access === 'unknown';
}

export function toolEnded(state: State, event: EventOf<'tool-ended'>, policy: Policy): State {
  const { circuitAfter } = settingsForAgent(policy.settings, state.agent.name);
  const active: State = {
    ...markActive(state),
    questions: 0,
    emptyAnswers: 0,
    // A finished call proves that the model answers again: earlier errors are not in a row with later ones. What
    // is open stays open until the human speaks.
    circuit: state.circuit !== null && state.circuit.count >= circuitAfter ? state.circuit : null,
    rateLimitedUntil: limitAfter(state, event.at),
  };
  if (event.access === 'todo') return active;
  const writes = canWrite(event);
  const { turn, work } = active;
  return {
    ...active,
    work: { ...work, calls: work.calls + 1, writes: writes ? work.writes + 1 : work.writes },
    turn: turn !== null && writes ? { ...turn, touchedWorkspace: true } : turn,
  };
}

export function modelPaused(state: State, { reason, at }: EventOf<'model-paused'>): State {
  if (state.pause?.by === 'human') return state;
  return { ...state, epoch: state.epoch + 1, pause: { by: 'model', reason, at }, parked: null, timer: null };
}

/** G9: limits wait for their reset and are nobody's failure; the same other error is counted by signature. */
export function errorOccurred(state: State, event: EventOf<'error-occurred'>): State {
  // E2: an error ends a countdown. A text that waits to be sent again stays: the error may be why it was not taken.
  const counts = state.descriptor.mode === 'told' && state.timer?.purpose !== 'resend';
  const active: State = {
    ...(counts ? unpark(state) : state),
    activeSinceAnswer: true,
    rateLimitedUntil: null,
  };
  switch (event.kind) {
    case 'rate-limit':
    case 'overload':
      return { ...active, rateLimitedUntil: event.retryAt ?? event.at + defaultRetryMs };
    case 'overflow':
      return { ...active, overflows: state.overflows + 1 };
    case 'other': {
      const { signature } = event;
      const before = state.circuit?.signature === signature ? state.circuit.count : 0;
      return { ...active, circuit: { signature, count: before + 1 } };
    }
  }
}

export function usageReported(state: State, event: EventOf<'usage-reported'>): State {
  const { usage } = state;
  return {
    ...state,
    usage: {
      since: usage.since,
      tokens: usage.tokens + event.inputTokens + event.outputTokens,
      cost: usage.cost + (event.cost ?? 0),
      contextTokens: event.contextTokens ?? usage.contextTokens,
      contextLimit: event.contextLimit ?? usage.contextLimit,
    },
  };
}

export type ProgressSignal = 'first-final' | 'first-pass' | 'workspace' | 'weak';

export function countProgress(state: State, signal: ProgressSignal): State {
  const { counters, progress } = state;
  if (signal === 'weak') {
    if (progress.weakCounted || progress.weakInRow >= weakInRowLimit) return state;
    return {
      ...state,
      counters: { ...counters, stagnant: 0 },
      progress: { ...progress, weakInRow: progress.weakInRow + 1, weakCounted: true },
    };
  }
  const continuations = signal === 'workspace' ? counters.continuations : 0;
  return {
    ...state,
    counters: { ...counters, stagnant: 0, continuations },
    progress: { ...progress, weakInRow: 0 },
  };
}

/**
 * A fingerprint counts only if it is new to the session and a tool that can write was called since the last one:
 * somebody else's edits are not this agent's progress. The first one is the baseline.
 */
export function seeFingerprint(
  state: State,
  { fingerprint, known }: { readonly fingerprint: string | null; readonly known?: boolean | undefined },
): State {
  if (fingerprint === null) return weakWork(state);
  const { work } = state;
  const isKnown = known === true || fingerprint === work.fingerprint;
  const isBaseline = work.fingerprint === null;
  const seen: State = {
    ...state,
    work: {
      ...work,
      fingerprint,
      trees: isKnown || isBaseline ? work.trees : work.trees + 1,
      writesAtFingerprint: isKnown ? work.writesAtFingerprint : work.writes,
    },
  };
  if (isKnown || isBaseline || work.writes <= work.writesAtFingerprint) return seen;
  const moved = countProgress(seen, 'workspace');
  return { ...moved, progress: { ...moved.progress, workspaceMoved: true } };
}

/** Without fingerprints, calls of writing tools are all there is to see: weak evidence. */
function weakWork(state: State): State {
  const { work } = state;
  if (work.fingerprint !== null || work.writes <= work.writesAtFingerprint) return state;
  return countProgress({ ...state, work: { ...work, writesAtFingerprint: work.writes } }, 'weak');
}

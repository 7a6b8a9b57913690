// Tool calls, errors, waits and looks at the workspace. Signs of life cancel a countdown
// (E2) and count as progress (G6, G7): a first final, a first pass or a new state of the
// workspace in full, everything else at most twice in a row.
import { byEvent } from './decision.ts';
import type { Event, EventOf, PermissionAnswer } from './events.ts';
import { cancelParked, isTurnOver, reopenTurn, type State, unparkStop } from './state.ts';

/**
 * If the provider names no reset: time for it to recover, while a human still watches.
 */
const defaultRetryMs = 30_000;

/**
 * Without a stronger sign in between. More would let an agent that toggles todos go on
 * for ever.
 */
const weakInRowLimit = 2;

/** What signs of life, errors and waits do to a session. */
export const workReducers = byEvent({
  'activity-seen': markActive,
  'tool-started'(state, event) {
    const active = consumeRequest(
      { ...markActive(state), questions: 0 },
      event.requestId,
    );
    if (!canWrite(event)) return active;
    return { ...active, work: { ...active.work, started: active.work.started + 1 } };
  },
  'tool-ended'(state, event, policy) {
    const { circuitAfter } = policy.settings;
    const active: State = {
      ...markActive(state),
      questions: 0,
      emptyAnswers: 0,
      // The model answers again. Only an open circuit stays open until the human speaks.
      circuit:
        state.circuit !== null && state.circuit.count >= circuitAfter
          ? state.circuit
          : null,
      rateLimitedUntil: limitAfter(state, event.at),
    };
    const { turn } = active;
    const work = { ...active.work, heard: true };
    if (event.access === 'todo') return { ...active, work };
    const writes = canWrite(event);
    return {
      ...active,
      work: {
        ...work,
        calls: work.calls + 1,
        writes: writes ? work.writes + 1 : work.writes,
      },
      turn: turn !== null && writes ? { ...turn, touchedWorkspace: true } : turn,
    };
  },
  'model-paused'(state, { reason, byCommand, at }) {
    if (state.pause?.by === 'human') return state;
    // A command of the agent may ask to stop while a stop attempt waits: the pause then
    // decides that attempt.
    const parked = byCommand === true ? state.parked : null;
    const pause = { by: 'model', reason: reason === '' ? null : reason, at } as const;
    return {
      ...cancelParked(state),
      parked,
      pause: byCommand ? { ...pause, byCommand } : pause,
    };
  },
  /** Limits are nobody's failure; other errors are counted by signature (G9). */
  'error-occurred'(state, event) {
    // An error ends a countdown but not a resend: it may be why the text was not taken
    // (E2).
    const counts = state.descriptor.mode === 'told' && state.timer?.purpose !== 'resend';
    const active = {
      ...(counts ? unparkStop(state) : state),
      activeSinceAnswer: true,
      rateLimitedUntil: null,
    };
    switch (event.kind) {
      case 'rate-limit':
      case 'overload':
        return {
          ...active,
          rateLimitedUntil: event.retryAt ?? event.at + defaultRetryMs,
        };
      case 'overflow':
        return { ...active, overflows: state.overflows + 1 };
      case 'other': {
        const { signature } = event;
        const before = state.circuit?.signature === signature ? state.circuit.count : 0;
        return { ...active, circuit: { signature, count: before + 1 } };
      }
    }
  },
  'loop-alarmed': (state) => ({ ...state, loopAlarms: state.loopAlarms + 1 }),
  'usage-reported'(state, event) {
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
  },
  'workspace-seen': seeFingerprint,
  'wait-started': waitStarted,
  'wait-ended': waitEnded,
});

/**
 * A host may send its agent to work without a message of the human, such as when a
 * background job ends: the turn that had ended goes on then. What the human or the agent
 * holds stays as it ended, and a run of ours says by itself that it goes on.
 */
export function wakeTurn(state: State, event: Event): State {
  const isHeld = state.latch !== null || state.pause !== null;
  const isOurs = state.descriptor.judgesGoal === true;
  if (!isTurnOver(state) || isHeld || isOurs) return state;
  // A text on its way is void: a later stop was answered since.
  return showsWork(state, event) ? cancelParked(reopenTurn(state)) : state;
}

/** Whether the agent itself works: its subagents may work on after its turn ended. */
function showsWork({ updatedAt }: State, event: Event): boolean {
  const { type, source, at } = event;
  if (type === 'activity-seen') return event.wakes === true;
  // A call of the ended turn that is told late is never newer than all that is on the
  // record.
  const isNew = at > updatedAt;
  const isOwn = source === undefined || source.kind === 'work';
  if (type === 'tool-started') return isNew && isOwn;
  // A host that tells live may tell of the end of a call after the end of the turn.
  return type === 'tool-ended' && isNew && source?.kind === 'work';
}

function markActive(state: State): State {
  const { injection, descriptor } = state;
  // An asked host takes the text with the answer, a told host once it was sent.
  const isTaken =
    injection?.state === (descriptor.mode === 'asked' ? 'intended' : 'sent');
  const awake: State = {
    ...state,
    activeSinceAnswer: true,
    injection:
      isTaken && injection !== null ? { ...injection, state: 'observed' } : injection,
  };
  return descriptor.mode === 'told' ? unparkStop(awake) : awake;
}

/**
 * The rate limit after something worked. If its time has come, it is over: later errors
 * have another cause (G2, G9).
 */
export function limitAfter({ rateLimitedUntil }: State, at: number): number | null {
  return rateLimitedUntil !== null && at < rateLimitedUntil ? rateLimitedUntil : null;
}

/** Whether a call may write; a tool that we do not know may. */
export function canWrite({ access }: Pick<EventOf<'tool-started'>, 'access'>): boolean {
  return access === 'write' || access === 'unknown';
}

type ProgressSignal = 'first-final' | 'first-pass' | 'workspace' | 'weak';

/**
 * Counts a sign of progress. A weak one counts once per continuation and twice in a row.
 */
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

type FingerprintReport = Pick<EventOf<'stop-attempted'>, 'fingerprint' | 'known'>;

/**
 * Takes in a look at the workspace. A new fingerprint counts as progress only after a
 * call that could write, because edits of others are no progress. If calls are not
 * reported, any call may have written. The first fingerprint is the baseline.
 */
export function seeFingerprint(
  state: State,
  { fingerprint, known }: FingerprintReport,
): State {
  const { work, spoken } = state;
  if (fingerprint === null) {
    // Without fingerprints, calls of writing tools are weak signs of progress.
    if (work.fingerprint !== null || work.writes <= work.writesAtFingerprint)
      return state;
    return countProgress(
      { ...state, work: { ...work, writesAtFingerprint: work.writes } },
      'weak',
    );
  }
  const isKnown = known === true || fingerprint === work.fingerprint;
  const isBaseline = work.fingerprint === null;
  const updated: State = {
    ...state,
    work: {
      ...work,
      fingerprint,
      writesSeen: work.writes,
      writesAtFingerprint: isKnown ? work.writesAtFingerprint : work.writes,
    },
    // Nothing can have written since, so the workspace was the same at the human's
    // message.
    ...(spoken.fingerprint === null && !mayHaveWritten(state)
      ? { spoken: { ...spoken, fingerprint } }
      : {}),
  };
  const hasWritten =
    !state.descriptor.seesTools || work.writes > work.writesAtFingerprint;
  if (isKnown || isBaseline || !hasWritten) return updated;
  const moved = countProgress(updated, 'workspace');
  return { ...moved, progress: { ...moved.progress, workspaceMoved: true } };
}

/**
 * Whether a call that can write ended or runs since the human's message. If calls are not
 * reported, there may be one.
 */
function mayHaveWritten({ work, descriptor, spoken }: State): boolean {
  return (
    !descriptor.seesTools || work.writes > spoken.writes || work.started > work.writes
  );
}

/**
 * Whether the workspace changed since the human's message. It did not if that is known,
 * or if nothing could write; a call after the last look may have written (V4).
 */
export function hasWorkspaceMoved(state: State): boolean {
  const { work, spoken } = state;
  const isKnown = spoken.fingerprint !== null && work.fingerprint !== null;
  if (isKnown && spoken.fingerprint !== work.fingerprint) return true;
  const isSeen =
    isKnown && work.writesSeen === work.writes && work.started <= work.writes;
  return !isSeen && mayHaveWritten(state);
}

// Causes of waiting (G3), and what our own agent asks to be allowed (S7).

/** More waits than any host shows at once. */
const rememberedWaits = 200;
/** More requests than anyone answers; a forgotten one is asked for again. */
const rememberedAnswers = 500;

function waitStarted(state: State, { wait, at }: EventOf<'wait-started'>): State {
  const { waits } = state;
  switch (wait.kind) {
    case 'recovery':
      return { ...state, waits: { ...waits, recovering: true } };
    case 'compaction':
      return { ...state, waits: { ...waits, compacting: true } };
    case 'permission': {
      const permissions = addId(waits.permissions, wait.requestId);
      return { ...noteRequest(state, wait, at), waits: { ...waits, permissions } };
    }
    case 'question':
      return {
        ...state,
        waits: { ...waits, questions: addId(waits.questions, wait.requestId) },
      };
    case 'background':
      return setJobs(state, [
        ...state.jobs.filter(({ id }) => id !== wait.job.id),
        wait.job,
      ]);
  }
}

function waitEnded(state: State, { wait, at }: EventOf<'wait-ended'>): State {
  const { waits, usage } = state;
  switch (wait.kind) {
    case 'recovery':
      return { ...state, waits: { ...waits, recovering: false } };
    case 'compaction':
      // The plan is given again (P23). A context that shrank does not overflow any more.
      return {
        ...state,
        waits: { ...waits, compacting: false },
        compacted: true,
        overflows: wait.shrunk ? 0 : state.overflows,
        usage: wait.shrunk ? { ...usage, contextTokens: null } : usage,
      };
    case 'permission': {
      const { requestId, granted, remembered } = wait;
      const permissions = waits.permissions.filter((id) => id !== requestId);
      const refusal = remembered === 'withdrawn' ? remembered : 'no';
      const answer = granted ? (remembered ?? 'once') : refusal;
      const answered = noteAnswer(
        { ...state, waits: { ...waits, permissions } },
        requestId,
        answer,
        at,
      );
      // Our own loop tells the model, which goes on with something else. A host has
      // stopped.
      if (remembered !== undefined || granted) return answered;
      return pauseByRejection(answered, at, 'a permission was rejected');
    }
    case 'question': {
      const questions = waits.questions.filter((id) => id !== wait.requestId);
      const answered = { ...state, waits: { ...waits, questions } };
      return wait.rejected
        ? pauseByRejection(answered, at, 'a question was rejected')
        : answered;
    }
    case 'background': {
      const others = state.jobs.filter(({ id }) => id !== wait.jobId);
      return setJobs(state, others);
    }
  }
}

/** Waits for a human to approve a check, as for any question; `approve` answers it. */
export function waitForApproval(state: State, check: string): State {
  const questions = addId(state.waits.questions, approvalRequest(check));
  return { ...state, waits: { ...state.waits, questions } };
}

/** The id of the question whether a check may run. */
export function approvalRequest(check: string): string {
  return `approve ${check}`;
}

/** Whether an id is that of the question whether a check may run. */
export function isApprovalRequest(requestId: string): boolean {
  return requestId.startsWith(approvalRequest(''));
}

/**
 * The human refused something, so the session pauses; the next message ends the pause.
 */
function pauseByRejection(state: State, at: number, reason: string): State {
  if (state.pause?.by === 'human') return state;
  return {
    ...state,
    epoch: state.epoch + 1,
    pause: { by: 'rejection', reason, at },
    timer: null,
  };
}

/**
 * Replaces the background jobs. A new subagent is waited for from the start, however long
 * an older one has worked.
 */
export function setJobs(state: State, all: State['jobs']): State {
  const jobs = all.slice(-rememberedWaits);
  const subagents = jobs.filter(({ kind }) => kind === 'subagent');
  const hasNew = subagents.some((job) => !state.jobs.some(({ id }) => id === job.id));
  return {
    ...state,
    jobs,
    namedJobs: state.namedJobs.filter((name) => jobs.some(({ id }) => id === name)),
    backgroundSince: subagents.length === 0 || hasNew ? null : state.backgroundSince,
  };
}

function addId(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id].slice(-rememberedWaits);
}

type PermissionWait = Extract<EventOf<'wait-started'>['wait'], { kind: 'permission' }>;

/** Keeps a request of our own agent; a host shows its requests itself. */
function noteRequest(
  state: State,
  { requestId, about }: PermissionWait,
  at: number,
): State {
  if (about === undefined) return state;
  const { permissions } = state;
  const request = { requestId, ...about, askedAt: at, answer: null };
  const others = permissions.requests.filter((known) => known.requestId !== requestId);
  const requests = [...others, request].slice(-rememberedAnswers);
  return { ...state, permissions: { ...permissions, hasAsked: true, requests } };
}

/** Keeps the first answer, because two terminals may be asked at once. */
function noteAnswer(
  state: State,
  requestId: string,
  answer: PermissionAnswer,
  at: number,
): State {
  const { permissions } = state;
  const { requests, grants, refused } = permissions;
  const request = requests.find((known) => known.requestId === requestId);
  if (request === undefined) return state;
  const others = requests.filter((known) => known !== request);
  if (answer === 'withdrawn')
    return { ...state, permissions: { ...permissions, requests: others } };
  if (request.answer !== null) return state;
  const { tool, pattern } = request;
  const otherGrants = grants.filter(
    (known) => known.tool !== tool || known.pattern !== pattern,
  );
  return {
    ...state,
    permissions: {
      ...permissions,
      requests: [...others, { ...request, answer }],
      grants:
        answer === 'session' || answer === 'always'
          ? [...otherGrants, { tool, pattern, remembered: answer, at }].slice(
              -rememberedAnswers,
            )
          : grants,
      refused:
        answer === 'no'
          ? [...refused, { tool, pattern }].slice(-rememberedAnswers)
          : refused,
    },
  };
}

/** The call begins, so an answer for once is used up. */
function consumeRequest(state: State, requestId: string | undefined): State {
  const { permissions } = state;
  if (requestId === undefined) return state;
  const requests = permissions.requests.filter((known) => known.requestId !== requestId);
  return { ...state, permissions: { ...permissions, requests } };
}

/** A human who speaks may have changed their mind about what was refused. */
export function forgetRefusals(state: State): State {
  return { ...state, permissions: { ...state.permissions, refused: [] } };
}

/** In a new turn nobody waits for the questions of an earlier one. */
export function dropUnanswered(state: State): State {
  const waits = { ...state.waits, permissions: [], questions: [] };
  const requests = state.permissions.requests.filter(({ answer }) => answer !== null);
  return { ...state, waits, permissions: { ...state.permissions, requests } };
}

/**
 * Whether a look at the workspace could count as progress (G7). The look costs more than
 * all the rest of a stop.
 */
export function mayHaveMoved({
  fingerprint,
  writes,
  writesAtFingerprint,
  started,
}: State['work']): boolean {
  return fingerprint === null || writes > writesAtFingerprint || started > writes;
}

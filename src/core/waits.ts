// Causes of waiting begin and end (G3), and what our own agent asked to be allowed (S7). An end makes a parked stop
// attempt be decided again; decide() does that. Whether a call fits what was granted is judged by whoever makes it.
import type { EventOf, PermissionAnswer, PermissionSubject } from './events.ts';
import type { PermissionRequest, SessionPermissions, State } from './state.ts';

/** More pending requests or jobs than any host shows at once: beyond this the oldest are forgotten, not the memory. */
const rememberedWaits = 200;
/** More than anyone answers in a session: beyond this the oldest are forgotten, and asked for again. */
const rememberedAnswers = 500;

export function waitStarted(state: State, { wait, at }: EventOf<'wait-started'>): State {
  const { waits } = state;
  switch (wait.kind) {
    case 'recovery':
      return { ...state, waits: { ...waits, recovering: true } };
    case 'compaction':
      return { ...state, waits: { ...waits, compacting: true } };
    case 'permission': {
      const permissions = add(waits.permissions, wait.requestId);
      return { ...noteRequest(state, wait.requestId, wait.about, at), waits: { ...waits, permissions } };
    }
    case 'question':
      return { ...state, waits: { ...waits, questions: add(waits.questions, wait.requestId) } };
    case 'background': {
      const others = state.jobs.filter(({ id }) => id !== wait.job.id);
      return setJobs(state, [...others, wait.job]);
    }
  }
}

export function waitEnded(state: State, { wait, at }: EventOf<'wait-ended'>): State {
  const { waits, usage } = state;
  switch (wait.kind) {
    case 'recovery':
      return { ...state, waits: { ...waits, recovering: false } };
    case 'compaction':
      // After compaction the plan is given again (P23); a context that shrank is no longer an overflow.
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
      const answer = granted ? (remembered ?? 'once') : remembered === 'withdrawn' ? remembered : 'no';
      const answered = noteAnswer({ ...state, waits: { ...waits, permissions } }, requestId, answer, at);
      // Our own loop tells the model, which goes on with something else; a host has stopped.
      if (remembered !== undefined || granted) return answered;
      return pauseByRejection(answered, at, 'a permission was rejected');
    }
    case 'question': {
      const questions = waits.questions.filter((id) => id !== wait.requestId);
      const answered = { ...state, waits: { ...waits, questions } };
      return wait.rejected ? pauseByRejection(answered, at, 'a question was rejected') : answered;
    }
    case 'background': {
      const { jobId } = wait;
      return setJobs(
        state,
        state.jobs.filter(({ id }) => id !== jobId),
      );
    }
  }
}

/** A check that a human answers is a question like any other; `approve` answers it. */
export function waitForApproval(state: State, check: string): State {
  const questions = add(state.waits.questions, approvalRequest(check));
  return { ...state, waits: { ...state.waits, questions } };
}

export function approvalRequest(check: string): string {
  return `approve ${check}`;
}

export function isApprovalRequest(requestId: string): boolean {
  return requestId.startsWith(approvalRequest(''));
}

/** A rejection is the human's will; the next message lifts it. */
function pauseByRejection(state: State, at: number, reason: string): State {
  if (state.pause?.by === 'human') return state;
  return { ...state, epoch: state.epoch + 1, pause: { by: 'rejection', reason, at }, timer: null };
}

/** A new job is waited for from the start, however long an older one has been running. */
export function setJobs(state: State, all: State['jobs']): State {
  const jobs = all.slice(-rememberedWaits);
  const hasNew = jobs.some((job) => !state.jobs.some(({ id }) => id === job.id));
  return {
    ...state,
    jobs,
    namedJobs: state.namedJobs.filter((name) => jobs.some(({ id }) => id === name)),
    backgroundSince: jobs.length === 0 || hasNew ? null : state.backgroundSince,
  };
}

function add(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id].slice(-rememberedWaits);
}

const noPermissions: SessionPermissions = { requests: [], grants: [], refused: [] };

/** A host that asks knows itself what for: only requests of our own agent are kept. */
function noteRequest(
  state: State,
  requestId: string,
  about: PermissionSubject | undefined,
  at: number,
): State {
  if (about === undefined) return state;
  const { requests, ...rest } = state.permissions ?? noPermissions;
  const request: PermissionRequest = { requestId, ...about, askedAt: at, answer: null };
  const others = requests.filter((known) => known.requestId !== requestId);
  return { ...state, permissions: { ...rest, requests: [...others, request].slice(-rememberedAnswers) } };
}

/** The first answer counts: two terminals may be asked at once. */
function noteAnswer(state: State, requestId: string, answer: PermissionAnswer, at: number): State {
  const { requests, grants, refused } = state.permissions ?? noPermissions;
  const request = requests.find((known) => known.requestId === requestId);
  if (request === undefined) return state;
  const others = requests.filter((known) => known !== request);
  if (answer === 'withdrawn') return { ...state, permissions: { requests: others, grants, refused } };
  if (request.answer !== null) return state;
  const { tool, pattern } = request;
  const isOther = (known: { readonly tool: string; readonly pattern: string }): boolean =>
    known.tool !== tool || known.pattern !== pattern;
  return {
    ...state,
    permissions: {
      requests: [...others, { ...request, answer }],
      grants:
        answer === 'session' || answer === 'always'
          ? [...grants.filter(isOther), { tool, pattern, remembered: answer, at }].slice(-rememberedAnswers)
          : grants,
      refused: answer === 'no' ? [...refused, { tool, pattern }].slice(-rememberedAnswers) : refused,
    },
  };
}

/** The call begins: its request has done its work, and an answer for once is used up. */
export function consumeRequest(state: State, requestId: string | undefined): State {
  const { permissions } = state;
  if (requestId === undefined || permissions === undefined) return state;
  const requests = permissions.requests.filter((known) => known.requestId !== requestId);
  return { ...state, permissions: { ...permissions, requests } };
}

/** Whoever speaks may have changed their mind about what they said no to. */
export function forgetRefusals(state: State): State {
  if (state.permissions === undefined) return state;
  return { ...state, permissions: { ...state.permissions, refused: [] } };
}

/** A new turn: nobody waits for what an earlier one asked. */
export function dropUnanswered(state: State): State {
  const waits = { ...state.waits, permissions: [], questions: [] };
  if (state.permissions === undefined) return { ...state, waits };
  const requests = state.permissions.requests.filter(({ answer }) => answer !== null);
  return { ...state, waits, permissions: { ...state.permissions, requests } };
}

// Causes of waiting begin and end (G3). An end makes a parked stop attempt be decided again; decide() does that.
import type {
  BackgroundEnded,
  BackgroundStarted,
  CompactionEnded,
  PermissionAnswered,
  PermissionAsked,
  QuestionAnswered,
  QuestionAsked,
} from '../events.ts';
import type { Session } from '../session.ts';
import { type Step, step } from '../step.ts';
import { noteAnswer, noteRequest } from './apply-permissions.ts';

/** More pending requests or jobs than any host shows at once: beyond this the oldest are forgotten, not the memory. */
const remembered = 200;

export function recovery(session: Session, recovering: boolean): Step {
  return step({ ...session, waits: { ...session.waits, recovering } });
}

export function compactionStarted(session: Session): Step {
  return step({ ...session, waits: { ...session.waits, compacting: true } });
}

/** After compaction the plan is given again (P23); a context that shrank is no longer an overflow. */
export function compactionEnded(session: Session, event: CompactionEnded): Step {
  return step({
    ...session,
    waits: { ...session.waits, compacting: false },
    compacted: true,
    overflows: event.shrunk ? 0 : session.overflows,
    usage: event.shrunk ? { ...session.usage, contextTokens: null } : session.usage,
  });
}

export function permissionAsked(session: Session, event: PermissionAsked): Step {
  return step({
    ...noteRequest(session, event),
    waits: { ...session.waits, permissions: add(session.waits.permissions, event.requestId) },
  });
}

export function permissionAnswered(session: Session, event: PermissionAnswered): Step {
  const permissions = session.waits.permissions.filter((id) => id !== event.requestId);
  const answered = noteAnswer({ ...session, waits: { ...session.waits, permissions } }, event);
  // Our own loop tells the model, which goes on with something else; a host has stopped.
  if (event.remembered !== undefined) return step(answered);
  return step(event.granted ? answered : pauseByRejection(answered, event.at, 'a permission was rejected'));
}

export function questionAsked(session: Session, event: QuestionAsked): Step {
  return step({
    ...session,
    waits: { ...session.waits, questions: add(session.waits.questions, event.requestId) },
  });
}

/** A check that a human answers is a question like any other; `approve` answers it. */
export function waitForApproval(session: Session, check: string): Session {
  const questions = add(session.waits.questions, approvalRequest(check));
  return { ...session, waits: { ...session.waits, questions } };
}

export function approvalRequest(check: string): string {
  return `approve ${check}`;
}

export function isApprovalRequest(requestId: string): boolean {
  return requestId.startsWith(approvalRequest(''));
}

export function questionAnswered(session: Session, event: QuestionAnswered): Step {
  const questions = session.waits.questions.filter((id) => id !== event.requestId);
  const answered: Session = { ...session, waits: { ...session.waits, questions } };
  return step(event.rejected ? pauseByRejection(answered, event.at, 'a question was rejected') : answered);
}

/** A rejection is the human's will; the next message lifts it. */
function pauseByRejection(session: Session, at: number, reason: string): Session {
  if (session.pause?.by === 'human') return session;
  return { ...session, epoch: session.epoch + 1, pause: { by: 'rejection', reason, at }, timer: null };
}

export function backgroundStarted(session: Session, event: BackgroundStarted): Step {
  const others = session.jobs.filter(({ id }) => id !== event.job.id);
  return step(setJobs(session, [...others, event.job]));
}

export function backgroundEnded(session: Session, event: BackgroundEnded): Step {
  return step(
    setJobs(
      session,
      session.jobs.filter(({ id }) => id !== event.jobId),
    ),
  );
}

/** A new job is waited for from the start, however long an older one has been running. */
export function setJobs(session: Session, all: Session['jobs']): Session {
  const jobs = all.slice(-remembered);
  const hasNew = jobs.some((job) => !session.jobs.some(({ id }) => id === job.id));
  return {
    ...session,
    jobs,
    namedJobs: session.namedJobs.filter((name) => jobs.some(({ id }) => id === name)),
    backgroundSince: jobs.length === 0 || hasNew ? null : session.backgroundSince,
  };
}

function add(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id].slice(-remembered);
}

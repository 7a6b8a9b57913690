// A stop attempt: first what it tells us (jobs, fingerprint, questions in a row), then the decision.
import type { Policy } from '../config/policy.ts';
import type { StopAttempted } from '../events.ts';
import { seeFingerprint } from '../progress.ts';
import type { Rows } from '../rows.ts';
import type { ParkedStop, Session } from '../session.ts';
import { join, type Step, step } from '../step.ts';
import { decideStop } from '../stop.ts';
import { setJobs } from './apply-waits.ts';

export function stopAttempted(session: Session, event: StopAttempted, rows: Rows, policy: Policy): Step {
  const looked = lookAtStop(session, event);
  const { session: seen, fingerprints } = seeFingerprint(looked, event.fingerprint, rows.fingerprintSeen);
  const first = step(seen);
  const stop = parkedStop(session, event);
  const answered = decideStop(seen, stop, rows, policy, event.at);
  return join({ ...first, rowChanges: { ...first.rowChanges, fingerprints } }, answered);
}

/** A told host may idle twice for one stop; an asked host that asks again has stopped again. */
function waitingStop({ descriptor, parked }: Session): ParkedStop | null {
  return descriptor.mode === 'told' ? parked : null;
}

/** A repeated idle does not start its countdown anew: the first one's time holds (E4). */
function parkedStop(session: Session, event: StopAttempted): ParkedStop {
  const waiting = waitingStop(session);
  return {
    eventId: waiting?.eventId ?? event.id,
    at: waiting?.at ?? event.at,
    end: event.end,
    question: event.question,
    toolError: event.toolError,
    fingerprint: event.fingerprint,
    cause: waiting?.cause ?? 'stop-attempted',
  };
}

function lookAtStop(session: Session, event: StopAttempted): Session {
  const again =
    waitingStop(session) !== null || (session.descriptor.mode === 'told' && !session.activeSinceAnswer);
  const jobs = event.background === null ? session : setJobs(session, event.background);
  const turn = session.turn ?? {
    id: event.id,
    number: 1,
    startedAt: event.at,
    ended: false,
    touchedPlan: false,
    touchedWorkspace: false,
    goesOn: false,
    stopSeen: true,
  };
  const taken = session.injection?.state === 'intended' && session.descriptor.mode === 'asked';
  const counted = again
    ? jobs
    : {
        ...jobs,
        questions: event.question ? session.questions + 1 : 0,
        emptyAnswers: event.end === 'empty' ? session.emptyAnswers + 1 : 0,
        toolErrorTodo: event.toolError === null ? null : session.toolErrorTodo,
      };
  return {
    ...counted,
    turn: { ...turn, stopSeen: true },
    injection:
      taken && session.injection !== null ? { ...session.injection, state: 'observed' } : session.injection,
  };
}

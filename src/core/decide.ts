// decide(): the one function that decides. It returns the next session, the rows to write, the commands to perform
// and the decision, and does nothing: no clock, no ids, no input or output. Time and ids come inside the event.

import {
  checkFinished,
  checkStarted,
  finalRunEnded,
  recordBroken,
  verificationAsked,
} from './apply/apply-checks.ts';
import { delegationEnded, delegationStarted } from './apply/apply-delegation.ts';
import {
  hostCapReached,
  injectionFailed,
  injectionLost,
  injectionObserved,
  injectionSent,
  timerFired,
} from './apply/apply-delivery.ts';
import { humanAborted, humanPaused, humanResumed, humanSpoke, wordsJoined } from './apply/apply-human.ts';
import { applyPlan } from './apply/apply-plan.ts';
import { sessionClosed, sessionDeleted, sessionOpened } from './apply/apply-session.ts';
import { stopAttempted } from './apply/apply-stop.ts';
import {
  backgroundEnded,
  backgroundStarted,
  compactionEnded,
  compactionStarted,
  permissionAnswered,
  permissionAsked,
  questionAnswered,
  questionAsked,
  recovery,
} from './apply/apply-waits.ts';
import {
  errorOccurred,
  loopAlarmed,
  markActive,
  modelPaused,
  toolEnded,
  toolStarted,
  usageReported,
  workspaceSeen,
} from './apply/apply-work.ts';
import type { Policy } from './config/policy.ts';
import type { Event } from './events.ts';
import type { Rows } from './rows.ts';
import type { Session } from './session.ts';
import { join, type Step, step } from './step.ts';
import { decideStop } from './stop.ts';
import { UntildoneError } from './untildone-error.ts';

export function decide(session: Session, rows: Rows, event: Event, policy: Policy): Step {
  const result = apply(session, rows, event, policy);
  return { ...result, session: { ...result.session, updatedAt: Math.max(session.updatedAt, event.at) } };
}

function apply(session: Session, rows: Rows, event: Event, policy: Policy): Step {
  const again = (first: Step, at = event.at) => reconsider(first, rows, policy, at);
  switch (event.type) {
    case 'session-opened':
      return sessionOpened(session, event);
    case 'session-closed':
      return sessionClosed(session, event);
    case 'session-deleted':
      return sessionDeleted(session, event);
    case 'human-spoke':
      return humanSpoke(session, event, rows, policy);
    case 'words-joined':
      return wordsJoined(session, event);
    case 'human-aborted':
      return humanAborted(session, event);
    case 'human-paused':
      return humanPaused(session, event);
    case 'human-resumed':
      return again(humanResumed(session, event));
    case 'model-paused':
      return modelPaused(session, event);
    case 'activity-seen':
      return step(markActive(session));
    case 'tool-started':
      return toolStarted(session, event);
    case 'tool-ended':
      return toolEnded(session, event, policy);
    case 'todos-created':
    case 'plan-written':
    case 'todo-updated':
    case 'todo-completed':
      return applyPlan(session, event, rows, policy);
    case 'delegation-started':
      return delegationStarted(session, event, rows, policy);
    case 'delegation-ended':
      return delegationEnded(session, event, rows, policy);
    case 'check-started':
      return checkStarted(session, event, rows);
    case 'check-finished':
      return again(checkFinished(session, event, rows));
    case 'verification-asked':
      return verificationAsked(session, event, rows, policy);
    case 'final-run-ended':
      return again(finalRunEnded(session, event));
    case 'record-broken':
      return recordBroken(session, event);
    case 'checks-overdue':
      return again(step({ ...session, checksOverdue: session.parked?.cause === 'nothing-open' }));
    case 'workspace-seen':
      return workspaceSeen(session, event, rows);
    case 'stop-attempted':
      return stopAttempted(session, event, rows, policy);
    case 'recovery-started':
      return recovery(session, true);
    case 'recovery-ended':
      return again(recovery(session, false));
    case 'compaction-started':
      return compactionStarted(session);
    case 'compaction-ended':
      return again(compactionEnded(session, event));
    case 'permission-asked':
      return permissionAsked(session, event);
    case 'permission-answered':
      return again(permissionAnswered(session, event));
    case 'question-asked':
      return questionAsked(session, event);
    case 'question-answered':
      return again(questionAnswered(session, event));
    case 'background-started':
      return backgroundStarted(session, event);
    case 'background-ended':
      return again(backgroundEnded(session, event));
    case 'error-occurred':
      return errorOccurred(session, event);
    case 'host-cap-reached':
      return hostCapReached(session, event);
    case 'loop-alarmed':
      return loopAlarmed(session);
    case 'usage-reported':
      return usageReported(session, event);
    case 'timer-fired': {
      const fired = timerFired(session, event, policy);
      if (fired.resend)
        return { ...fired.step, commands: [{ type: 'inject', epoch: event.epoch, text: null }] };
      return fired.step.session === session ? fired.step : again(fired.step);
    }
    case 'injection-sent':
      return injectionSent(session, event);
    case 'injection-failed':
      return injectionFailed(session, event, policy);
    case 'injection-observed':
      return injectionObserved(session, event);
    case 'injection-lost': {
      const lost = injectionLost(session, event, policy);
      return lost.commands.length > 0 || lost.session === session ? lost : again(lost);
    }
    default:
      return refuseUnknown(event);
  }
}

/** A cause of waiting ended: the parked stop attempt, if there is one, is decided again. */
function reconsider(first: Step, rows: Rows, policy: Policy, at: number): Step {
  const { parked } = first.session;
  if (parked === null) return first;
  return join(first, decideStop(first.session, parked, rowsAfter(first, rows), policy, at));
}

/** The rows as they are after the first step's changes: a todo that just failed its check is among the failed. */
function rowsAfter(first: Step, rows: Rows): Rows {
  const changed = new Map(first.rowChanges.updated.map((todo) => [todo.id, todo]));
  if (changed.size === 0) return rows;
  const reopened = [...changed.values()].filter((todo) => todo.status === 'in_progress');
  return {
    ...rows,
    next: [...reopened, ...rows.next.filter(({ id }) => !changed.has(id))],
    failed: [...reopened.filter((todo) => todo.verification === 'failed'), ...rows.failed],
    unverified: rows.unverified.filter(({ id }) => !changed.has(id)),
  };
}

function refuseUnknown(event: never): never {
  const type = (event as { type?: unknown }).type;
  throw new UntildoneError(
    'unknown-event',
    `Unknown event type ${JSON.stringify(type)?.slice(0, 80)}; nothing was changed.`,
  );
}

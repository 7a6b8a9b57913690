// Looks at the process behind a session. It can do that for our own sessions (our own
// agent, a driven one, the library); the process of a host is not known, so only its
// record counts. It only reads.
import { libraryHost, type Session } from '../core/state.ts';
import { findProcessState, type SessionProcessState } from '../engine/session-owner.ts';
import type { Store } from '../engine/store.ts';
import { type DescribedState, describeState, isAtWork } from './describe-session.ts';

/** Null: a host runs the session, and its process is not known. */
async function findSessionProcess(
  store: Store,
  session: Session,
  now: number,
): Promise<SessionProcessState | null> {
  const { host, parentId } = session.descriptor;
  const isOurs = host === 'untildone' || host === libraryHost;
  return isOurs ? findProcessState(store, parentId ?? session.id, now) : null;
}

/** Describes the state like `describeState`, but looks at the process too. */
export async function describeCurrentState(
  store: Store,
  session: Session,
  now: number,
): Promise<DescribedState> {
  const processState = await findSessionProcess(store, session, now);
  const described = describeState(session, now, processState);
  if (described.name !== 'gone') return described;
  // The run may have ended between the two looks, at its record and at its process; its
  // record says so now.
  return describeState((await store.state(session.id)) ?? session, now, processState);
}

/** Whether the session is at work. A paused run counts: its turn has not ended. */
export async function isRunning(
  store: Store,
  session: Session,
  now: number,
): Promise<boolean> {
  if (session.deleted || session.closed) return false;
  const processState = await findSessionProcess(store, session, now);
  if (processState !== null && processState !== 'alive') return false;
  // A run's process ends with its work; a program that uses the library lives on.
  if (session.descriptor.host === 'untildone') return true;
  if (isAtWork(describeState(session, now)) || session.turn?.ended === false) return true;
  return hasNewMessage(store, session);
}

/**
 * Whether a human's message waits in the inbox. A hook host's events wait there until its
 * next stop, so the record still shows the turn before.
 */
async function hasNewMessage(store: Store, { id }: Session): Promise<boolean> {
  const waiting = await store.events({ sessionId: id, waiting: true });
  return (
    waiting.findLast(({ event }) => endsOrBegins.has(event.type))?.event.type ===
    'human-spoke'
  );
}

const endsOrBegins: ReadonlySet<string> = new Set([
  'human-spoke',
  'human-aborted',
  'session-closed',
  'session-deleted',
]);

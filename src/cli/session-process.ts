// Looks at the process behind a session. It can do that for our own sessions (our own
// agent, a driven one, the library); the process of a host is not known, so only its
// record counts. It only reads.
import { libraryHost, type Session } from '../core/state.ts';
import { readPresentState } from '../engine/present-state.ts';
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

/** Describes the state like `describeState`, but looks at the process and the inbox too. */
export async function describeCurrentState(
  store: Store,
  session: Session,
  now: number,
): Promise<DescribedState> {
  const processState = await findSessionProcess(store, session, now);
  return describeState(await readCurrentSession(store, session), now, processState);
}

/**
 * Reads the session after the process was looked at: if a run ended meanwhile, its record
 * says so.
 */
async function readCurrentSession(store: Store, session: Session): Promise<Session> {
  return readPresentState(store, (await store.state(session.id)) ?? session);
}

/** Whether the session is at work. A paused run counts: its turn has not ended. */
export async function isRunning(
  store: Store,
  given: Session,
  now: number,
): Promise<boolean> {
  const processState = await findSessionProcess(store, given, now);
  if (processState !== null && processState !== 'alive') return false;
  const session = await readCurrentSession(store, given);
  if (session.deleted || session.closed) return false;
  // A run's process ends with its work; a program that uses the library lives on.
  if (session.descriptor.host === 'untildone') return true;
  return isAtWork(describeState(session, now)) || session.turn?.ended === false;
}

// The process behind a session. The process of our own sessions (our own agent, a driven
// one, the library) is known, so it is looked at; the process of a host is not, so its
// record has to do. It only reads.
import { libraryHost, type Session } from '../core/state.ts';
import { readPresentState } from '../engine/present-state.ts';
import { findProcessState, type SessionProcessState } from '../engine/session-owner.ts';
import type { Store } from '../engine/store.ts';
import { type DescribedState, describeState, isAtWork } from './describe-session.ts';

/** null: a host runs the session, and its process is not known. */
async function findSessionProcess(
  store: Store,
  session: Session,
  now: number,
): Promise<SessionProcessState | null> {
  const { host, parentId } = session.descriptor;
  const isOurs = host === 'untildone' || host === libraryHost;
  return isOurs ? findProcessState(store, parentId ?? session.id, now) : null;
}

/** Like `describeState`, but looks at the process and into the inbox too. */
export async function describeCurrentState(
  store: Store,
  session: Session,
  now: number,
): Promise<DescribedState> {
  const found = await findSessionProcess(store, session, now);
  return describeState(await readCurrentSession(store, session), now, found);
}

/**
 * Read after the process was looked at: of a run that ended meanwhile the record says so.
 */
async function readCurrentSession(store: Store, session: Session): Promise<Session> {
  return readPresentState(store, (await store.state(session.id)) ?? session);
}

/** A paused run counts as running: its turn has not ended. */
export async function isRunning(
  store: Store,
  given: Session,
  now: number,
): Promise<boolean> {
  const found = await findSessionProcess(store, given, now);
  if (found !== null && found !== 'alive') return false;
  const session = await readCurrentSession(store, given);
  if (session.deleted || session.closed) return false;
  // The process of a run ends with its work; a program that uses the library lives on.
  if (session.descriptor.host === 'untildone') return true;
  return isAtWork(describeState(session, now)) || session.turn?.ended === false;
}

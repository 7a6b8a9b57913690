// The process behind a session. The process of our own sessions (our own agent, a driven
// one, the library) is known, so it is looked at; the process of a host is not, so its
// record has to do. It only reads.
import { libraryHost, type Session } from '../core/state.ts';
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

/** Like `describeState`, but looks at the process too. */
export async function describeCurrentState(
  store: Store,
  session: Session,
  now: number,
): Promise<DescribedState> {
  const found = await findSessionProcess(store, session, now);
  const described = describeState(session, now, found);
  if (described.name !== 'gone') return described;
  // The run may have ended after its record was read and before its process was looked
  // at; then the record says so now.
  return describeState((await store.state(session.id)) ?? session, now, found);
}

/** A paused run counts as running: its turn has not ended. */
export async function isRunning(
  store: Store,
  session: Session,
  now: number,
): Promise<boolean> {
  if (session.deleted || session.closed) return false;
  const found = await findSessionProcess(store, session, now);
  if (found !== null && found !== 'alive') return false;
  // The process of a run ends with its work; a program that uses the library lives on.
  if (session.descriptor.host === 'untildone') return true;
  if (isAtWork(describeState(session, now)) || session.turn?.ended === false) return true;
  return hasNewMessage(store, session);
}

/**
 * What a host with hooks tells waits in the inbox until its next stop: the record still
 * shows the turn before.
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

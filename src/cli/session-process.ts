// The process behind a session. Of our own sessions (our own agent, a driven one, the library) it is known and looked at;
// of a host only the record is known. It only reads.
import { libraryHost, type Session } from '../core/state.ts';
import { findProcessState, type SessionProcessState } from '../engine/session-owner.ts';
import type { Store } from '../engine/store.ts';
import { type DescribedState, describeState, isAtWork } from './describe-session.ts';

/** null: a host runs it, and nothing is known of its process. */
export async function readProcess(
  store: Store,
  session: Session,
  now: number,
): Promise<SessionProcessState | null> {
  const { host, parentId } = session.descriptor;
  const isOurs = host === 'untildone' || host === libraryHost;
  return isOurs ? findProcessState(store, parentId ?? session.id, now) : null;
}

/** As `describeState`, with a look at the process. */
export async function readState(store: Store, session: Session, now: number): Promise<DescribedState> {
  const found = await readProcess(store, session, now);
  const described = describeState(session, now, found);
  if (described.name !== 'gone') return described;
  // A run that ended between the two looks has said so meanwhile.
  return describeState((await store.state(session.id)) ?? session, now, found);
}

/** A paused run counts: its turn has not ended. */
export async function isRunning(store: Store, session: Session, now: number): Promise<boolean> {
  if (session.deleted || session.closed === true) return false;
  const found = await readProcess(store, session, now);
  if (found !== null && found !== 'alive') return false;
  // The process of a run ends with its work; that of a program which uses the library does not.
  if (session.descriptor.host === 'untildone') return true;
  return isAtWork(describeState(session, now)) || session.turn?.ended === false;
}

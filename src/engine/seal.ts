// The seal of a session: a hash of its state, kept with it. Finds a session that was edited in the store (V4). It
// cannot find an edit by someone who computes the seal anew.
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/session.ts';

export function seal(session: Session, hash: HashFunction): Session {
  const { seal: _old, ...rest } = session;
  return { ...rest, seal: hash(JSON.stringify(rest)) };
}

/** As it is, or, if it was edited since it was saved, marked: then nothing in it is proof. */
export function checkSeal(session: Session, hash: HashFunction): Session {
  if (seal(session, hash).seal === session.seal) return session;
  return { ...session, recordBroken: session.recordBroken ?? 'its session is not as it was saved' };
}

// The seal of a session: a hash of its state, kept with it. Finds a session that was edited in the store (V4). It
// cannot find an edit by someone who computes the seal anew.
import type { HashFunction } from '../core/ledger.ts';
import type { Session } from '../core/session.ts';

export function seal(session: Session, hash: HashFunction): Session {
  return { ...session, seal: sealOf(session, hash) };
}

/** The text of everything but the seal, which stands last and is left out of it. */
function sealOf(session: Session, hash: HashFunction): string {
  return hash(JSON.stringify(session.seal === undefined ? session : { ...session, seal: undefined }));
}

/** As it is, or, if it was edited since it was saved, marked: then nothing in it is proof. */
export function checkSeal(session: Session, hash: HashFunction): Session {
  if (sealOf(session, hash) === session.seal) return session;
  return { ...session, recordBroken: session.recordBroken ?? 'its session is not as it was saved' };
}

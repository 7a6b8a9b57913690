// What counts as progress, and what it zeroes (G6, G7). Progress is evidence: first finals, first passes, and a
// workspace that nobody has seen before. Everything else counts at most twice in a row.
import type { Session } from './session.ts';

export type ProgressSignal = 'first-final' | 'first-pass' | 'workspace' | 'weak';

/** Weak changes that may reset stagnation without stronger evidence in between. More would let a toggler go on for ever. */
const weakInRowLimit = 2;

export function countProgress(session: Session, signal: ProgressSignal): Session {
  if (signal === 'weak') return countWeak(session);
  const continuations = signal === 'workspace' ? session.counters.continuations : 0;
  return {
    ...session,
    counters: { ...session.counters, stagnant: 0, continuations },
    progress: { ...session.progress, weakInRow: 0 },
  };
}

function countWeak(session: Session): Session {
  const { weakInRow, weakCounted } = session.progress;
  if (weakCounted || weakInRow >= weakInRowLimit) return session;
  return {
    ...session,
    counters: { ...session.counters, stagnant: 0 },
    progress: { ...session.progress, weakInRow: weakInRow + 1, weakCounted: true },
  };
}

export interface FingerprintSeen {
  readonly session: Session;
  /** Fingerprints to remember as seen. */
  readonly fingerprints: readonly string[];
}

/**
 * A fingerprint counts only if it is new to the session and a tool that can write was called since the last one:
 * somebody else's edits are not this agent's progress. The first one is the baseline.
 */
export function seeFingerprint(
  session: Session,
  fingerprint: string | null,
  seenBefore: boolean,
): FingerprintSeen {
  if (fingerprint === null) return { session: weakWork(session), fingerprints: [] };
  const { work } = session;
  const known = seenBefore || fingerprint === work.fingerprint;
  const isBaseline = work.fingerprint === null;
  const byAgent = work.writes > work.writesAtFingerprint;
  let next: Session = {
    ...session,
    work: {
      ...work,
      fingerprint,
      trees: known || isBaseline ? work.trees : work.trees + 1,
      writesAtFingerprint: known ? work.writesAtFingerprint : work.writes,
    },
  };
  if (!known && !isBaseline && byAgent) {
    next = countProgress(next, 'workspace');
    next = { ...next, progress: { ...next.progress, workspaceMoved: true } };
  }
  return { session: next, fingerprints: known ? [] : [fingerprint] };
}

/** Without fingerprints, calls of writing tools are all there is to see: weak evidence. */
function weakWork(session: Session): Session {
  const { work } = session;
  if (work.fingerprint !== null || work.writes <= work.writesAtFingerprint) return session;
  return countProgress({ ...session, work: { ...work, writesAtFingerprint: work.writes } }, 'weak');
}

// Tries again while another process holds a lock, so that "database is locked" never reaches a caller who could
// simply have waited. It awaits and never blocks. Real time, not the store's clock: a real process holds the lock.
import { UntildoneError } from '../../core/untildone-error.ts';
import { isBusy } from './store-errors.ts';

export interface LockPatience {
  /** How long to go on trying in all. */
  readonly totalMs: number;
  readonly path: string;
}

/** The first pause between two tries, and the longest; in between they double. */
const firstPauseMs = 1;
const longestPauseMs = 20;

export async function waitForLock(attempt: () => void, patience: LockPatience): Promise<void> {
  // Not `performance`: only asking for it loads a part of Node that a hook does not need.
  const now = (): number => process.uptime() * 1000;
  const deadline = now() + patience.totalMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      attempt();
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (now() >= deadline) throw stillBusy(patience, error);
    }
    // Random, so that processes that failed together do not come back together.
    await pause(pauseMs * (0.5 + Math.random()));
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function stillBusy({ path, totalMs }: LockPatience, cause: unknown): UntildoneError {
  return new UntildoneError(
    'store-busy',
    `The store at ${path} was locked by another process for ${Math.round(totalMs / 100) / 10} s; end that process and try again.`,
    cause,
  );
}

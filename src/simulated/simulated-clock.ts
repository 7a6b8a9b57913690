// A clock that moves only when told to. Wake-ups run in order of their time, never in real time.
import type { Clock, Identifiers } from '../engine/host.ts';

export interface SimulatedClock extends Clock {
  /** Moves on, running every wake-up that falls due, and lets their promises settle. */
  advance(milliseconds: number): Promise<void>;
  /** Wake-ups that wait; tells a test that nothing leaks. */
  pending(): number;
}

interface WakeUp {
  readonly at: number;
  readonly callback: () => void;
}

/** Rounds of the event loop that a wake-up's promises get to settle: more than any chain of awaits in the engine. */
const settleRounds = 20;

export function createSimulatedClock(start = 1_800_000_000_000): SimulatedClock {
  let now = start;
  const wakeUps = new Set<WakeUp>();

  function earliest(until: number): WakeUp | null {
    let best: WakeUp | null = null;
    for (const wakeUp of wakeUps)
      if (wakeUp.at <= until && (best === null || wakeUp.at < best.at)) best = wakeUp;
    return best;
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < settleRounds; round++) await new Promise((resolve) => setImmediate(resolve));
  }

  return {
    now: () => now,
    wake(at, callback) {
      const wakeUp = { at, callback };
      wakeUps.add(wakeUp);
      return () => wakeUps.delete(wakeUp);
    },
    pending: () => wakeUps.size,
    async advance(milliseconds) {
      const until = now + milliseconds;
      await settle();
      for (let next = earliest(until); next !== null; next = earliest(until)) {
        now = Math.max(now, next.at);
        wakeUps.delete(next);
        next.callback();
        await settle();
      }
      now = until;
    },
  };
}

/** Ids that read as a sequence, so that a failing test says which one. */
export function createSequentialIdentifiers(prefix = 'id'): Identifiers {
  let count = 0;
  return { next: () => `${prefix}-${++count}` };
}

// A clock that moves only when a test says so. Wake-ups run in the order of their times,
// never in real time.
import type { Clock, Identifiers } from '../engine/host.ts';

/** A clock that a test moves. */
export interface SimulatedClock extends Clock {
  /**
   * Moves the clock, runs every wake-up that falls due, and lets their promises settle.
   */
  advance(milliseconds: number): Promise<void>;
  /** How many wake-ups wait, so that a test can show that none is left. */
  pending(): number;
}

/** Rounds of the event loop: more than any chain of awaits in the engine. */
const settleRounds = 20;

/** Creates a clock that stands still until it is told to advance. */
export function createSimulatedClock(start = 1_800_000_000_000): SimulatedClock {
  let now = start;
  const wakeUps = new Set<{ readonly at: number; readonly callback: () => void }>();
  const earliest = () => [...wakeUps].sort((left, right) => left.at - right.at)[0];

  async function settlePromises(): Promise<void> {
    for (let round = 0; round < settleRounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
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
      await settlePromises();
      for (
        let next = earliest();
        next !== undefined && next.at <= until;
        next = earliest()
      ) {
        now = Math.max(now, next.at);
        wakeUps.delete(next);
        next.callback();
        await settlePromises();
      }
      now = until;
    },
  };
}

/** Makes ids that count up, so that a failing test says which id it was. */
export function createSequentialIdentifiers(prefix = 'id'): Identifiers {
  let count = 0;
  return { next: () => `${prefix}-${++count}` };
}

// Which sessions the human has stopped, known in the very moment in which it is heard (P19). The record knows it a
// little later and is asked before anything is sent; this closes the gap in between, and ends where the record begins.
import type { Clock } from '../../engine/clock.ts';

export interface StoppedSessions {
  has(sessionId: string): boolean;
  stop(sessionId: string): void;
  /** The human spoke, or nothing was to be stopped. */
  lift(sessionId: string): void;
  /** The record has it: from now on it decides, because the human may lift it in another process. */
  recorded(sessionId: string): void;
}

/** Far longer than from the last look at the record to the call of the host. */
const overlapMs = 1000;

export function createStoppedSessions(clock: Clock): StoppedSessions {
  const stops = new Map<string, symbol>();
  return {
    has: (sessionId) => stops.has(sessionId),
    stop: (sessionId) => void stops.set(sessionId, Symbol(sessionId)),
    lift: (sessionId) => void stops.delete(sessionId),
    recorded(sessionId) {
      const stop = stops.get(sessionId);
      if (stop === undefined) return;
      clock.wake(clock.now() + overlapMs, () => {
        if (stops.get(sessionId) === stop) stops.delete(sessionId);
      });
    },
  };
}

// How long a worker may work. Time in which it waits for a human or for a provider's limit is not its own and does not
// count (G9, S7).
import type { Clock } from '../../engine/clock.ts';

export interface TimeLimit {
  readonly isOver: boolean;
  /** Must be followed by `goOn`; pauses may overlap. */
  pause(): void;
  goOn(): void;
  /** Nothing is called any more. */
  close(): void;
}

export function createTimeLimit(clock: Clock, milliseconds: number, onOver: () => void): TimeLimit {
  let left = milliseconds;
  let since = clock.now();
  let pauses = 0;
  let isOver = false;
  let cancel = arm();

  function arm(): () => void {
    return clock.wake(since + left, () => {
      isOver = true;
      onOver();
    });
  }

  return {
    get isOver() {
      return isOver;
    },
    pause() {
      pauses += 1;
      if (pauses > 1) return;
      cancel();
      left -= clock.now() - since;
    },
    goOn() {
      pauses -= 1;
      if (pauses > 0) return;
      since = clock.now();
      cancel = arm();
    },
    close: () => cancel(),
  };
}

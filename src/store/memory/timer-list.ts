// The timers of one host instance, earliest first, so that finding the next one never looks at all of them.
// Entries are placed by binary search; it knows nothing of clocks.
import type { DueTimer } from '../../engine/store.ts';

export class TimerList {
  readonly #timers: DueTimer[] = [];

  insert(timer: DueTimer): void {
    this.#timers.splice(this.#place(timer), 0, timer);
  }

  remove(timer: DueTimer): void {
    this.#timers.splice(this.#place(timer), 1);
  }

  first(): DueTimer | null {
    return this.#timers[0] ?? null;
  }

  due(now: number, limit: number): DueTimer[] {
    const due: DueTimer[] = [];
    for (const timer of this.#timers) {
      if (timer.dueAt > now || due.length >= limit) break;
      due.push(timer);
    }
    return due;
  }

  /** Where the timer stands, or would stand. */
  #place(timer: DueTimer): number {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#timers[middle];
      if (other && isBefore(other, timer)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(one: DueTimer, other: DueTimer): boolean {
  return one.dueAt === other.dueAt ? one.sessionId < other.sessionId : one.dueAt < other.dueAt;
}

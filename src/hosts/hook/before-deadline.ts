// Waits for work until a moment and no longer; the work itself goes on.
import type { Clock } from '../../engine/clock.ts';

/** Null: the moment came first. */
export function beforeDeadline<T>(clock: Clock, work: Promise<T>, deadlineAt: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const cancel = clock.wake(deadlineAt, () => resolve(null));
    work.then(resolve, reject).finally(cancel);
  });
}

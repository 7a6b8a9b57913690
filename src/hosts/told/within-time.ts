// Waits for someone else's code, but not for ever: a callback that never answers must not hold a session up.
import type { Clock } from '../../engine/clock.ts';

export type Answered<T> =
  | { readonly answered: true; readonly value: T }
  /** `late`: it has not failed, it is only not there yet. */
  | { readonly answered: false; readonly late: boolean; readonly error: unknown };

/** Never rejects, even if `ask` throws at once. */
export function withinTime<T>(
  clock: Clock,
  milliseconds: number,
  ask: () => T | PromiseLike<T>,
): Promise<Answered<T>> {
  return new Promise((resolve) => {
    const cancel = clock.wake(clock.now() + milliseconds, () => {
      const error = new Error(`no answer within ${milliseconds} ms`);
      resolve({ answered: false, late: true, error });
    });
    Promise.resolve()
      .then(ask)
      .then(
        (value) => resolve({ answered: true, value }),
        (error: unknown) => resolve({ answered: false, late: false, error }),
      )
      .finally(cancel);
  });
}

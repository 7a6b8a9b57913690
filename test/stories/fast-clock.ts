// A clock on which a minute is over in a blink: real time, counted faster. Waits keep
// their order and their length in the clock's own time, so that a test can see that a
// wait was kept without sitting through it.
import type { Clock } from '../../src/engine/host.ts';

/**
 * A second takes 25 ms: long waits are short, and a busy machine's hiccups still do not
 * look like minutes.
 */
const usualSpeed = 40;

export function createFastClock(speed = usualSpeed): Clock {
  const startedAt = Date.now();
  const now = (): number => startedAt + Math.floor((performance.now() - origin) * speed);
  const origin = performance.now();
  return {
    now,
    wake(at, callback) {
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const delay = Math.min(2 ** 31 - 1, Math.max(0, Math.ceil((at - now()) / speed)));
        timer = setTimeout(() => (now() < at ? arm() : callback()), delay);
        timer.unref();
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
}

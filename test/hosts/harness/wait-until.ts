// Waits for something that another process brings about. A test never sleeps for a guess:
// it names what it waits for.
import { setTimeout as sleep } from 'node:timers/promises';

/** By default twenty times what it takes on a machine with nothing else to do. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(`It did not happen within ${seconds} s: ${what}.`);
    await sleep(25);
  }
}

// Waits for something that another process brings about. A test never sleeps for a guess: it names what it waits for.
import { setTimeout as sleep } from 'node:timers/promises';

export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It did not happen within ${seconds} s: ${what}.`);
    await sleep(25);
  }
}

// Runs the queued checks of one folder, over the store of this user. Decides nothing
// about their results.
import { runQueue } from '../checks/checker.ts';
import type { Environment } from '../engine/policy.ts';
import { systemClock as clock } from '../engine/system.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';

export async function runCheckQueue(
  directory: string,
  holder: string,
  environment: Environment,
) {
  const store = await openUserStore(environment, { clock });
  try {
    await runQueue({ store, clock, directory, holder, environment });
  } finally {
    await store.close();
  }
}

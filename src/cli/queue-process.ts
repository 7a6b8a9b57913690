// The runner of checks as a process of its own, started by a hook: it works through the queue of one folder and ends.
import { runQueue } from '../checks/queue.ts';
import { systemClock } from '../engine/system.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storePath } from '../store/state-directory.ts';

export async function runQueueProcess([directory, holder]: readonly string[]): Promise<void> {
  if (directory === undefined || holder === undefined) return;
  const { env } = process;
  const store = await openSqliteStore({ path: storePath(env), clock: systemClock });
  try {
    await runQueue({ store, clock: systemClock, directory, holder, environment: env });
  } finally {
    await store.close();
  }
}

// The quick way: puts what happened into the inbox and is gone. The next call that has to answer folds it. It loads
// neither the engine nor the checks, because it runs after every tool call of an agent.
import type { Event } from '../../core/events.ts';
import { openSqliteStore } from '../../stores/sqlite/sqlite-store.ts';
import { storePath } from '../../stores/state-directory.ts';
import type { HookMoment } from './hook-request.ts';
import { lockPatienceMs } from './timeouts.ts';

export async function recordEvents(
  events: readonly Event[],
  environment: HookMoment['environment'],
): Promise<void> {
  const path = storePath(environment);
  const store = await openSqliteStore({ path, clock: Date, busyTimeoutMs: lockPatienceMs.other });
  await store.transact(async (transaction) => {
    for (const event of events) await transaction.addEvent(event);
  });
  // Left open on purpose: closing the last connection would copy the log into the store and wait for the disk.
}

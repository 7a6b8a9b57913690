// The quick way: puts what happened into the inbox and is gone. The next call that has to answer folds it. It loads
// neither the engine nor the checks, because it runs after every tool call of an agent.
import type { Policy } from '../../core/config/policy.ts';
import type { Event } from '../../core/events.ts';
import type { Store } from '../../engine/store.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { storePath } from '../../store/state-directory.ts';
import type { HookCall, HookMoment } from './hook-request.ts';
import { lockPatienceMs } from './timeouts.ts';

/** Left open on purpose: closing the last connection would copy the log into the store and wait for the disk. */
export function openHookStore({ timeout }: HookCall, environment: HookMoment['environment']): Promise<Store> {
  const path = storePath(environment);
  return openSqliteStore({ path, clock: Date, busyTimeoutMs: lockPatienceMs[timeout] });
}

/** Our own agent has no hooks: whoever calls one in the name of its session is not its host, but may be itself. */
export async function isOwnSession(store: Store, { sessionId }: HookCall): Promise<boolean> {
  const session = await store.read(async (reader) => reader.session(sessionId));
  return session?.descriptor.host === 'untildone';
}

/** False: this call needs more for sure. */
export function isRecordedQuickly({ asks }: HookCall): boolean {
  return asks.type === 'complete' || (asks.type === 'record' && asks.receipt === null);
}

/** Null: this call needs more than that. */
export async function recordQuickly(store: Store, { asks, sessionId }: HookCall): Promise<'recorded' | null> {
  if (asks.type === 'complete') return (await hasChecks(store, sessionId)) ? null : 'recorded';
  if (asks.type !== 'record' || asks.receipt !== null) return null;
  await addEvents(store, asks.events);
  return 'recorded';
}

/** Into the inbox, all or none. Messages of humans do not come this way: the engine stamps them. */
export function addEvents(store: Store, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return Promise.resolve();
  return store.transact(async (transaction) => {
    for (const event of events) await transaction.addEvent(event);
  });
}

/** Does the policy that the session is judged by know any check at all? Without one no completion can be refused. */
async function hasChecks(store: Store, sessionId: string): Promise<boolean> {
  const text = await store.transact(async (reader) => {
    const spoken = (await reader.pendingEvents(sessionId)).findLast((event) => event.type === 'human-spoke');
    const hash = spoken?.policyHash ?? (await reader.session(sessionId))?.policyHash ?? null;
    return hash === null ? null : reader.policy(hash);
  });
  return text === null || Object.keys((JSON.parse(text) as Policy).checks ?? {}).length > 0;
}

// Everything that a store shows of one session, as plain data, so that "as before" can be compared as a whole.
import type { Store } from '../../src/engine/store.ts';

const all = Number.MAX_SAFE_INTEGER;

export function dump(store: Store, sessionId = 'session-1', planId = sessionId, instance = 'instance-1') {
  return store.read(async (reader) => ({
    session: await reader.session(sessionId),
    sessions: await reader.sessions({ limit: all }),
    todos: await reader.todosOfPlan(planId),
    pending: await reader.pendingEvents(sessionId),
    applied: await reader.appliedEvents(sessionId, 0, all),
    decisions: await reader.decisions(sessionId, all),
    ledger: await reader.ledger(planId),
    timers: await reader.dueTimers(instance, all, all),
    outbox: await reader.outbox(sessionId),
    openOutbox: await reader.openOutbox(instance),
    usage: await reader.usage(sessionId),
  }));
}

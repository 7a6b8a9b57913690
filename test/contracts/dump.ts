// Everything that a store shows of one session, as plain data, so that "as before" can be compared as a whole; and the
// short way to write rows without an engine.
import type { Saved, Store } from '../../src/engine/store.ts';

const all = Number.MAX_SAFE_INTEGER;

export async function dump(
  store: Store,
  sessionId = 'session-1',
  planId = sessionId,
  instance = 'instance-1',
) {
  return {
    state: await store.state(sessionId),
    sessions: await store.sessions({ limit: all }),
    todos: await store.todos({ planId }),
    waiting: await store.events({ sessionId, waiting: true }),
    applied: await store.events({ sessionId, after: 0, limit: all }),
    decisions: await store.decisions(sessionId, all),
    ledger: await store.ledger(planId),
    timers: await store.timers(instance, all, all),
    outbox: await store.outbox({ sessionId }),
    openOutbox: await store.outbox({ instance }),
    usage: await store.usage(sessionId),
  };
}

/** Writes what a step would write. */
export function save(
  store: Store,
  saved: Omit<Saved<null>, 'result'>,
  sessionId = saved.state?.id ?? 'session-1',
) {
  return store.step(sessionId, {}, () => ({ ...saved, result: null }));
}

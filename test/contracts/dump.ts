// Everything that a store shows of one session, as plain data, so that "as before" can be
// compared as a whole; and the short way to write rows without an engine.
import type { Loaded, Saved, Store } from '../../src/engine/store.ts';
import {
  aLedger,
  aLedgerDraft,
  anEvent,
  anOutboxRow,
  aSession,
  aStoredDecision,
  aTodo,
  aUsageRow,
} from '../support/builders.ts';

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
  return store.step(sessionId, () => ({ ...saved, result: null }));
}

export const hash = (text: string): string => `hash of ${text.length}`;

/** What one step can write, added to what is there. */
export function oneOfEverything({
  state,
  head,
}: Partial<Loaded> = {}): Omit<Saved<null>, 'result'> {
  const event = anEvent.stopAttempted();
  return {
    state: {
      ...aSession(),
      epoch: (state?.epoch ?? 0) + 1,
      plan: [...(state?.plan ?? []), aTodo(), aTodo()],
    },
    applied: [event],
    decisions: [aStoredDecision()],
    ledger: aLedger([aLedgerDraft(), aLedgerDraft()], hash, head),
    fingerprints: [{ fingerprint: event.id, at: 1 }],
    timer: { purpose: 'due', dueAt: 5, epoch: 1 },
    outbox: [anOutboxRow()],
    policies: new Map([[`policy of ${event.id}`, '{}']]),
    usage: [aUsageRow()],
  };
}

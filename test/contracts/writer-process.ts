// One of many processes that write the same session at once, for tests of the lock and of
// crashes:
//   node writer-process.ts PATH WRITER COUNT
// Each transaction does what the engine does: load, one event, one todo, one ledger
// entry, one decision, save. Prints "ready" before it begins, then one line per committed
// transaction, so that a killer knows what must be there.
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { linkEntry } from '../../src/core/ledger.ts';
import type { Store } from '../../src/engine/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import {
  aLedgerDraft,
  anEvent,
  aSession,
  aStoredDecision,
  aTodo,
} from '../support/builders.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

async function writeOnce(store: Store, key: string): Promise<void> {
  const event = anEvent.stopAttempted({ id: `event ${key}` });
  await store.step('session-1', ({ state, head, isApplied }) => {
    if (isApplied(event.id)) return { result: null };
    const before = state ?? aSession();
    const todo = aTodo({ id: `todo ${key}` });
    return {
      result: null,
      state: { ...before, epoch: before.epoch + 1, plan: [...before.plan, todo] },
      applied: [event],
      ledger: [linkEntry(aLedgerDraft({ todoId: todo.id }), head, hash)],
      decisions: [aStoredDecision({ eventId: event.id })],
    };
  });
}

async function main(path: string, writer: string, count: number): Promise<void> {
  const store = await openSqliteStore({ path, clock: { now: () => Date.now() } });
  writeSync(1, 'ready\n');
  for (let index = 0; index < count; index += 1) {
    await writeOnce(store, `${writer}-${index}`);
    writeSync(1, `${writer}-${index}\n`);
  }
  await store.close();
}

const [path, writer, count] = process.argv.slice(2);
if (path !== undefined && writer !== undefined)
  await main(path, writer, Number(count ?? 1));

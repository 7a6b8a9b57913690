// The reference store: everything in memory, gone with the process. Tests and `replay` use it, and the other
// stores are held to what it does. Transactions and reads take turns, so that a reader never sees half of one.
import type { Store, StoreReader, StoreTransaction } from '../../engine/store.ts';
import { storeClosed } from '../refused-writes.ts';
import { SerialQueue } from '../serial-queue.ts';
import { MemoryReader } from './memory-reader.ts';
import { createMemoryState } from './memory-state.ts';
import { MemoryTransaction } from './memory-transaction.ts';
import { UndoLog } from './undo-log.ts';

export function createMemoryStore(): Store {
  const state = createMemoryState();
  const reader = new MemoryReader(state);
  const queue = new SerialQueue();
  let closed = false;

  return {
    transact<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T> {
      if (closed) return Promise.reject(storeClosed());
      return queue.run(async () => {
        const undo = new UndoLog();
        try {
          const result = await work(new MemoryTransaction(state, undo));
          undo.commit();
          return result;
        } catch (error) {
          undo.rollback();
          throw error;
        }
      });
    },
    read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
      if (closed) return Promise.reject(storeClosed());
      return queue.run(() => work(reader));
    },
    close(): Promise<void> {
      closed = true;
      // Behind everything that was asked for before.
      return queue.run(() => Promise.resolve());
    },
  };
}

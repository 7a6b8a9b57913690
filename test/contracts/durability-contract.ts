// Contract: what was committed is there when the store is opened again, for stores that outlive their process.
import { describe, expect, it } from 'vitest';
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
import { dump } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

const hash = (text: string): string => `hash of ${text.length}`;

export function describeDurability({ opened }: StoreUnderTest): void {
  describe('durability', () => {
    it('V5: a store that can be opened again shows everything that was committed, and nothing else', async () => {
      const { store, reopen } = opened();
      await store.transact(async (tx) => {
        await tx.saveSession(aSession());
        await tx.createTodos([aTodo(), aTodo({ status: 'completed' })]);
        await tx.addEvent(anEvent.activitySeen());
        await tx.markApplied(anEvent.stopAttempted());
        await tx.addDecision(aStoredDecision());
        await tx.addLedgerEntries(aLedger([aLedgerDraft()], hash));
        await tx.saveTimer('session-1', 'instance-1', { purpose: 'due', dueAt: 5, epoch: 1 });
        await tx.saveOutbox(anOutboxRow());
        await tx.addUsage(aUsageRow());
      });
      const failed = store.transact(async (tx) => {
        await tx.createTodo(aTodo());
        throw new Error('the work failed');
      });
      await expect(failed).rejects.toThrow('the work failed');
      const before = await dump(store);
      const again = reopen ? await reopen() : store;
      expect(await dump(again)).toEqual(before);
      expect(before.todos).toHaveLength(2);
    });
  });
}

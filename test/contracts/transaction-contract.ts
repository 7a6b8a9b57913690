// Contract: a transaction is everything or nothing, and nobody sees half of one.
import { describe, expect, it } from 'vitest';
import type { StoreTransaction } from '../../src/engine/store.ts';
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

async function writeOneOfEverything(tx: StoreTransaction): Promise<void> {
  const event = anEvent.stopAttempted();
  await tx.saveSession(aSession());
  await tx.createTodos([aTodo(), aTodo()]);
  await tx.addEvent(event);
  await tx.markApplied(event);
  await tx.addEvent(anEvent.activitySeen());
  await tx.addDecision(aStoredDecision());
  await tx.addLedgerEntries(
    aLedger([aLedgerDraft(), aLedgerDraft()], hash, await tx.lastLedgerEntry('session-1')),
  );
  await tx.addFingerprint('session-1', event.id, 1);
  await tx.saveTimer('session-1', 'instance-1', { purpose: 'due', dueAt: 5, epoch: 1 });
  await tx.saveOutbox(anOutboxRow());
  await tx.savePolicy(`policy of ${event.id}`, '{}');
  await tx.addUsage(aUsageRow());
  await tx.takeLease('instance-1', 'process-1', 0, 10);
}

export function describeTransactions({ store }: StoreUnderTest): void {
  describe('transactions', () => {
    it('V5: returns what the work returned and keeps what it wrote', async () => {
      const result = await store().transact(async (tx) => {
        await writeOneOfEverything(tx);
        return 'written';
      });
      expect(result).toBe('written');
      const after = await dump(store());
      expect(after.session?.id).toBe('session-1');
      expect(after.todos).toHaveLength(2);
      expect(after.applied).toHaveLength(1);
      expect(after.pending).toHaveLength(1);
      expect(after.ledger).toHaveLength(2);
    });

    it('V5: work that throws leaves every table as it was, in a store that is empty', async () => {
      const before = await dump(store());
      await expect(
        store().transact(async (tx) => {
          await writeOneOfEverything(tx);
          throw new Error('the work failed');
        }),
      ).rejects.toThrow('the work failed');
      expect(await dump(store())).toEqual(before);
      expect(await store().transact(async (tx) => tx.takeLease('instance-1', 'process-2', 1, 9))).toBe(true);
    });

    it('V5: work that throws leaves every table as it was, in a store that is in use', async () => {
      const kept = aTodo();
      await store().transact(async (tx) => {
        await writeOneOfEverything(tx);
        await tx.createTodo(kept);
      });
      const before = await dump(store());
      await expect(
        store().transact(async (tx) => {
          await writeOneOfEverything(tx);
          await tx.saveSession(aSession({ epoch: 9, updatedAt: 9, planId: 'other' }));
          await tx.updateTodo({ ...kept, status: 'completed', planId: 'other', order: -1 });
          await tx.saveOutbox(anOutboxRow({ state: 'sent' }));
          await tx.saveTimer('session-1', 'instance-2', { purpose: 'resend', dueAt: 1, epoch: 2 });
          for (const event of await tx.pendingEvents('session-1')) await tx.markApplied(event);
          await tx.releaseLease('instance-1', 'process-1');
          await tx.saveTimer('session-1', 'instance-1', null);
          await tx.archive(Number.MAX_SAFE_INTEGER, 10);
          throw new Error('the work failed');
        }),
      ).rejects.toThrow('the work failed');
      expect(await dump(store())).toEqual(before);
      expect(await store().transact(async (tx) => tx.takeLease('instance-1', 'process-2', 1, 9))).toBe(false);
    });

    it('V5: a store goes on working after a transaction failed', async () => {
      const failed = store().transact(async () => {
        throw new Error('the work failed');
      });
      const next = store().transact(async (tx) => tx.saveSession(aSession()));
      await expect(failed).rejects.toThrow('the work failed');
      await next;
      expect(await store().read(async (reader) => reader.session('session-1'))).not.toBeNull();
    });

    it('V5: concurrent transactions queue, so that read-modify-write loses nothing', async () => {
      await store().transact(async (tx) => tx.saveSession(aSession()));
      const increments = Array.from({ length: 50 }, () =>
        store().transact(async (tx) => {
          const session = await tx.session('session-1');
          await Promise.resolve();
          await tx.saveSession(aSession({ epoch: (session?.epoch ?? 0) + 1 }));
        }),
      );
      await Promise.all(increments);
      const session = await store().read(async (reader) => reader.session('session-1'));
      expect(session?.epoch).toBe(50);
    });

    it('V5: a transaction sees its own writes', async () => {
      await store().transact(async (tx) => {
        const todo = aTodo({ status: 'in_progress' });
        await tx.createTodo(todo);
        expect(await tx.findTodo(todo.id)).toEqual(todo);
        await tx.updateTodo({ ...todo, outcome: 'half' });
        expect((await tx.findTodo(todo.id))?.outcome).toBe('half');
      });
    });

    it('V5: a reader never sees a transaction that is not committed', async () => {
      await store().transact(async (tx) => tx.saveSession(aSession()));
      let goOn = (): void => {};
      const halfway = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const writing = store().transact(async (tx) => {
        await tx.saveSession(aSession({ epoch: 1 }));
        await halfway;
        await tx.saveSession(aSession({ epoch: 2 }));
      });
      const reading = store().read(async (reader) => reader.session('session-1'));
      // A reader may answer with the state before, or wait for the one after; never with the one between.
      setTimeout(goOn, 5);
      expect((await reading)?.epoch).not.toBe(1);
      await writing;
    });

    it('V5: one read is one consistent view, whatever is committed meanwhile', async () => {
      await store().transact(async (tx) => tx.saveSession(aSession({ epoch: 1 })));
      let writing: Promise<void> = Promise.resolve();
      const seen = await store().read(async (reader) => {
        const first = await reader.session('session-1');
        writing = store().transact(async (tx) => tx.saveSession(aSession({ epoch: 2 })));
        await new Promise((resolve) => setTimeout(resolve, 5));
        const second = await reader.session('session-1');
        return [first?.epoch, second?.epoch];
      });
      expect(seen).toEqual([1, 1]);
      await writing;
      expect((await store().read(async (reader) => reader.session('session-1')))?.epoch).toBe(2);
    });

    it('V5: a transaction that has ended takes no more writes', async () => {
      let late: StoreTransaction | null = null;
      await store().transact(async (tx) => {
        late = tx;
      });
      expect(() => late?.saveSession(aSession())).toThrow('has already ended');
      expect(await store().read(async (reader) => reader.session('session-1'))).toBeNull();
    });

    it('V5: a closed store says that it is closed, after finishing what was asked before', async () => {
      const before = store().transact(async (tx) => tx.savePolicy('hash', 'policy'));
      await store().close();
      await expect(before).resolves.toBeUndefined();
      await expect(store().transact(async () => {})).rejects.toMatchObject({ code: 'store-unavailable' });
      await expect(store().read(async () => {})).rejects.toMatchObject({ code: 'store-unavailable' });
      await expect(store().close()).resolves.toBeUndefined();
    });
  });
}

// Contract: archiving moves old sessions out of the way and loses nothing of them.
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

/** A session that was last touched at `updatedAt`, with a row of everything. Its plan has its name. */
async function write(tx: StoreTransaction, id: string, updatedAt: number): Promise<void> {
  await tx.saveSession(aSession({ id, updatedAt }));
  // Equal ranks: the order of arrival has to survive the archive too.
  const own = { sessionId: id, planId: id, turnId: `turn of ${id}`, order: 1 };
  await tx.createTodos([aTodo(own), aTodo({ ...own, planId: `old plan of ${id}`, order: 2 }), aTodo(own)]);
  for (const at of [1, 1, 0]) await tx.addEvent(anEvent.activitySeen({ sessionId: id, at }));
  await tx.markApplied(anEvent.stopAttempted({ id: `applied ${id}`, sessionId: id }));
  await tx.markApplied(anEvent.stopAttempted({ sessionId: id }));
  await tx.addDecision(aStoredDecision({ sessionId: id }));
  await tx.addDecision(aStoredDecision({ sessionId: id }));
  await tx.addLedgerEntries(aLedger([aLedgerDraft({ planId: id }), aLedgerDraft({ planId: id })], hash));
  await tx.addFingerprint(id, 'tree', 1);
  await tx.saveOutbox(anOutboxRow({ sessionId: id, instance: id }));
  await tx.addUsage(aUsageRow({ sessionId: id }));
}

export function describeArchive({ store }: StoreUnderTest): void {
  const archive = (before: number, limit = 100) => store().transact(async (tx) => tx.archive(before, limit));
  const sessionIds = () =>
    store().read(async (reader) => (await reader.sessions({ limit: 100 })).map(({ id }) => id).sort());

  describe('archive', () => {
    it('V7: sessions untouched since the given time are moved, oldest first, up to the limit', async () => {
      await store().transact(async (tx) => {
        for (const [id, at] of [
          ['c', 30],
          ['a', 10],
          ['b', 20],
          ['d', 40],
        ] as const)
          await write(tx, id, at);
      });
      expect(await archive(40, 2)).toBe(2);
      expect(await sessionIds()).toEqual(['c', 'd']);
      expect(await archive(40, 2)).toBe(1);
      expect(await archive(40, 2)).toBe(0);
      expect(await sessionIds()).toEqual(['d']);
    });

    it('V7: what belongs to an archived session is out of sight; what belongs to others is as before', async () => {
      await store().transact(async (tx) => write(tx, 'new', 20));
      const before = await dump(store(), 'new', 'new', 'new');
      await store().transact(async (tx) => write(tx, 'old', 10));
      expect(await archive(15)).toBe(1);
      expect(await dump(store(), 'old', 'old', 'old')).toEqual({
        session: null,
        sessions: before.sessions,
        todos: [],
        pending: [],
        applied: [],
        decisions: [],
        ledger: [],
        timers: [],
        outbox: [],
        openOutbox: [],
        usage: [],
      });
      expect(await store().read(async (reader) => reader.findTodosByTurn('turn of old'))).toEqual([]);
      expect(await dump(store(), 'new', 'new', 'new')).toEqual(before);
    });

    it('V5: an archived session that is asked for in a transaction comes back whole', async () => {
      await store().transact(async (tx) => write(tx, 'old', 10));
      const before = await dump(store(), 'old', 'old', 'old');
      const turn = await store().read(async (reader) => reader.findTodosByTurn('turn of old'));
      expect(turn).toHaveLength(3);
      await archive(15);
      await store().transact(async (tx) => write(tx, 'other', 99));
      expect((await store().transact(async (tx) => tx.session('old')))?.id).toBe('old');
      const after = await dump(store(), 'old', 'old', 'old');
      expect({ ...after, sessions: [] }).toEqual({ ...before, sessions: [] });
      expect(await store().read(async (reader) => reader.findTodosByTurn('turn of old'))).toEqual(turn);
      const needs = { ids: [], titleKeys: [], positions: [], plan: false, next: 9, dropped: 0, failed: 0 };
      const rows = await store().read(async (reader) =>
        reader.rows(aSession({ id: 'old', planId: 'old' }), {
          ...needs,
          inProgress: 0,
          unverified: 0,
          fingerprint: 'tree',
        }),
      );
      expect(rows.next).toEqual(before.todos);
      expect(rows.fingerprintSeen).toBe(true);
      await store().transact(async (tx) => tx.addDecision(aStoredDecision({ sessionId: 'old' })));
      const [newest] = await store().read(async (reader) => reader.decisions('old', 1));
      expect(newest?.sequence).toBe(3);
    });

    it('V5: a new event for an archived session brings it back; an event it knew stays known', async () => {
      await store().transact(async (tx) => write(tx, 'old', 10));
      await archive(15);
      expect(await store().read(async (reader) => reader.hasEvent('applied old'))).toBe(true);
      const known = anEvent.stopAttempted({ id: 'applied old', sessionId: 'someone-else' });
      expect(await store().transact(async (tx) => tx.addEvent(known))).toBe(false);
      expect(await sessionIds()).toEqual([]);
      const fresh = anEvent.activitySeen({ sessionId: 'old' });
      expect(await store().transact(async (tx) => tx.addEvent(fresh))).toBe(true);
      expect(await sessionIds()).toEqual(['old']);
      const pending = await store().read(async (reader) => reader.pendingEvents('old'));
      expect(pending.map(({ id }) => id)).toContain(fresh.id);
    });

    it('V5: a session can be archived, brought back and archived again', async () => {
      await store().transact(async (tx) => write(tx, 'old', 10));
      const before = await dump(store(), 'old', 'old', 'old');
      for (let round = 0; round < 3; round += 1) {
        expect(await archive(15)).toBe(1);
        await store().transact(async (tx) => tx.session('old'));
      }
      expect(await dump(store(), 'old', 'old', 'old')).toEqual(before);
    });

    it('V5: a session with a timer or with news in its inbox is not archived', async () => {
      await store().transact(async (tx) => {
        await write(tx, 'timed', 10);
        await tx.saveTimer('timed', 'instance-1', { purpose: 'due', dueAt: 5, epoch: 1 });
        await write(tx, 'told', 10);
        await tx.addEvent(anEvent.activitySeen({ sessionId: 'told', at: 15 }));
      });
      expect(await archive(15)).toBe(0);
      expect(await sessionIds()).toEqual(['timed', 'told']);
    });

    it('V7: a plan that was carried to a session still in use stays', async () => {
      await store().transact(async (tx) => {
        await write(tx, 'giver', 10);
        await tx.saveSession(aSession({ id: 'taker', updatedAt: 40 }));
        await tx.saveSession(aSession({ id: 'taker', planId: 'giver', updatedAt: 50 }));
      });
      const before = await dump(store(), 'taker', 'giver');
      expect(await archive(15)).toBe(1);
      const after = await dump(store(), 'taker', 'giver');
      expect(after.todos).toEqual(before.todos);
      expect(after.ledger).toEqual(before.ledger);
      expect(await archive(99)).toBe(1);
      expect(await store().read(async (reader) => reader.todosOfPlan('giver'))).toEqual([]);
      await store().transact(async (tx) => tx.session('giver'));
      expect(await store().read(async (reader) => reader.todosOfPlan('giver'))).toEqual(before.todos);
      expect(await store().read(async (reader) => reader.ledger('giver'))).toEqual(before.ledger);
    });
  });
}

// Contract: archiving moves old sessions out of the way and loses nothing of them.
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/engine/store.ts';
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
import { dump, hash, save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

/**
 * A session that was last touched at `updatedAt`, with a row of everything and a plan
 * that it left before.
 */
async function write(store: Store, id: string, updatedAt: number): Promise<void> {
  const own = { sessionId: id, planId: id, turnId: `turn of ${id}`, order: 1 };
  const old = { ...own, planId: `old plan of ${id}` };
  const session = aSession({ id, updatedAt });
  await save(store, { state: { ...session, planId: old.planId, plan: [aTodo(old)] } });
  await store.append([1, 1, 0].map((at) => anEvent.activitySeen({ sessionId: id, at })));
  await store.step(id, ({ state }) => ({
    result: null,
    left: [state?.plan ?? []],
    // Equal ranks: the order of the array has to survive the archive too.
    state: { ...session, plan: [aTodo(own), aTodo(own)] },
    applied: [
      anEvent.stopAttempted({ id: `applied ${id}`, sessionId: id }),
      anEvent.stopAttempted({ sessionId: id }),
    ],
    decisions: [aStoredDecision({ sessionId: id }), aStoredDecision({ sessionId: id })],
    ledger: aLedger([aLedgerDraft({ planId: id }), aLedgerDraft({ planId: id })], hash),
    fingerprints: [{ fingerprint: 'tree', at: 1 }],
    outbox: [anOutboxRow({ sessionId: id, instance: id })],
    usage: [aUsageRow({ sessionId: id })],
  }));
}

export function describeArchive({ store }: StoreUnderTest): void {
  const archive = (before: number, limit = 100) => store().archive(before, limit);
  const sessionIds = async () =>
    (await store().sessions({ limit: 100 })).map(({ id }) => id).sort();
  const touch = (id: string) => store().step(id, ({ state }) => ({ result: state }));

  describe('archive', () => {
    it('V7: sessions untouched since the given time are moved, oldest first, up to the limit', async () => {
      for (const [id, at] of [
        ['c', 30],
        ['a', 10],
        ['b', 20],
        ['d', 40],
      ] as const)
        await write(store(), id, at);
      expect(await archive(40, 2)).toBe(2);
      expect(await sessionIds()).toEqual(['c', 'd']);
      expect(await archive(40, 2)).toBe(1);
      expect(await archive(40, 2)).toBe(0);
      expect(await sessionIds()).toEqual(['d']);
    });

    it('V7: what belongs to an archived session is out of sight; what belongs to others is as before', async () => {
      await write(store(), 'new', 20);
      const before = await dump(store(), 'new', 'new', 'new');
      await write(store(), 'old', 10);
      expect(await archive(15)).toBe(1);
      expect(await dump(store(), 'old', 'old', 'old')).toEqual({
        state: null,
        sessions: before.sessions,
        todos: [],
        waiting: [],
        applied: [],
        decisions: [],
        ledger: [],
        timers: { due: [], nextAt: null },
        outbox: [],
        openOutbox: [],
        usage: [],
      });
      expect(await store().todos({ turnId: 'turn of old' })).toEqual([]);
      expect(await dump(store(), 'new', 'new', 'new')).toEqual(before);
    });

    it('V5: an archived session that is asked for in a transaction comes back whole', async () => {
      await write(store(), 'old', 10);
      const before = await dump(store(), 'old', 'old', 'old');
      const turn = await store().todos({ turnId: 'turn of old' });
      expect(turn).toHaveLength(3);
      await archive(15);
      await write(store(), 'other', 99);
      expect((await touch('old'))?.id).toBe('old');
      const after = await dump(store(), 'old', 'old', 'old');
      expect({ ...after, sessions: [] }).toEqual({ ...before, sessions: [] });
      expect(await store().todos({ turnId: 'turn of old' })).toEqual(turn);
      const seen = await store().step('old', (loaded) => ({
        result: loaded.wasSeen('tree'),
      }));
      expect(seen).toBe(true);
      await save(store(), { decisions: [aStoredDecision({ sessionId: 'old' })] }, 'old');
      const [newest] = await store().decisions('old', 1);
      expect(newest?.sequence).toBe(3);
    });

    it('V5: a new event for an archived session brings it back; an event it knew stays known', async () => {
      await write(store(), 'old', 10);
      await archive(15);
      expect(await store().events({ ids: ['applied old'] })).toHaveLength(1);
      const known = anEvent.stopAttempted({
        id: 'applied old',
        sessionId: 'someone-else',
      });
      expect(await store().append([known])).toEqual([false]);
      expect(await sessionIds()).toEqual([]);
      const fresh = anEvent.activitySeen({ sessionId: 'old' });
      expect(await store().append([fresh])).toEqual([true]);
      expect(await sessionIds()).toEqual(['old']);
      const waiting = await store().events({ sessionId: 'old', waiting: true });
      expect(waiting.map(({ event }) => event.id)).toContain(fresh.id);
    });

    it('V5: a session can be archived, brought back and archived again', async () => {
      await write(store(), 'old', 10);
      const before = await dump(store(), 'old', 'old', 'old');
      for (let round = 0; round < 3; round += 1) {
        expect(await archive(15)).toBe(1);
        await touch('old');
      }
      expect(await dump(store(), 'old', 'old', 'old')).toEqual(before);
    });

    it('V5: a session with a timer or with news in its inbox is not archived', async () => {
      await write(store(), 'timed', 10);
      await save(store(), { timer: { purpose: 'due', dueAt: 5, epoch: 1 } }, 'timed');
      await write(store(), 'told', 10);
      await store().append([anEvent.activitySeen({ sessionId: 'told', at: 15 })]);
      expect(await archive(15)).toBe(0);
      expect(await sessionIds()).toEqual(['timed', 'told']);
    });

    it('V7: a plan that was carried to a session still in use stays', async () => {
      await write(store(), 'giver', 10);
      const plan = await store().todos({ planId: 'giver' });
      await save(store(), { state: aSession({ id: 'taker', updatedAt: 40 }) });
      // No todo of it was changed by the taker: it stands there as the giver left it.
      await save(store(), {
        state: aSession({ id: 'taker', planId: 'giver', updatedAt: 50 }),
        left: [[]],
      });
      const before = await dump(store(), 'taker', 'giver');
      expect(before.todos).toEqual(plan);
      expect(await archive(15)).toBe(1);
      const after = await dump(store(), 'taker', 'giver');
      expect(after.todos).toEqual(before.todos);
      expect(after.ledger).toEqual(before.ledger);
      expect(await archive(99)).toBe(1);
      expect(await store().todos({ planId: 'giver' })).toEqual([]);
      await touch('giver');
      expect(await store().todos({ planId: 'giver' })).toEqual(before.todos);
      expect(await store().ledger('giver')).toEqual(before.ledger);
    });
  });
}

export function describeForgetting({ store, opened }: StoreUnderTest): void {
  const nothing = {
    state: null,
    todos: [],
    waiting: [],
    applied: [],
    decisions: [],
    ledger: [],
    outbox: [],
    timers: { due: [], nextAt: null },
    openOutbox: [],
    usage: [],
  };

  describe('forget', () => {
    it('door 8: one session goes whole, and those beside it stay as they are', async () => {
      await write(store(), 'kept', 20);
      const before = await dump(store(), 'kept', 'kept', 'kept');
      await write(store(), 'gone', 10);
      await store().record({
        messages: [
          {
            sessionId: 'gone',
            turnId: null,
            at: 1,
            kind: 'agent',
            body: 'a secret word',
          },
        ],
        shown: [{ sessionId: 'gone', body: '{}' }],
      });
      const counted = await store().forget('gone', false);
      expect(counted).toMatchObject({
        sessions: 1,
        todos: 3,
        ledger: 2,
        decisions: 2,
        messages: 1,
        shown: 1,
      });
      expect(await store().state('gone')).not.toBeNull();
      expect(await store().forget('gone', true)).toEqual(counted);
      expect(await dump(store(), 'gone', 'gone', 'gone')).toEqual({
        ...nothing,
        sessions: before.sessions,
      });
      expect(await store().todos({ planId: 'old plan of gone' })).toEqual([]);
      expect(await store().transcript('gone', 0)).toEqual({ messages: [], calls: [] });
      expect(await store().shown('gone', 0)).toEqual([]);
      expect(await dump(store(), 'kept', 'kept', 'kept')).toEqual(before);
      expect(await store().forget('gone', false)).toEqual({});
    });

    it('door 8: a session in the archive is found there, and goes too', async () => {
      await write(store(), 'old', 10);
      await store().archive(15, 100);
      const found = await store().sessions({ idSuffix: 'ld', archived: true, limit: 5 });
      expect(found.map(({ id }) => id)).toEqual(['old']);
      expect(await store().forget('old', true)).toMatchObject({ sessions: 1, todos: 3 });
      expect(await store().sessions({ id: 'old', archived: true, limit: 5 })).toEqual([]);
      // Nobody brings it back: what comes now is a new session.
      expect(await store().step('old', ({ state }) => ({ result: state }))).toBeNull();
    });

    it('door 8: a plan that another session uses stays', async () => {
      await write(store(), 'giver', 10);
      const plan = await store().todos({ planId: 'giver' });
      await save(store(), { state: aSession({ id: 'taker', updatedAt: 40 }) });
      await save(store(), {
        state: aSession({ id: 'taker', planId: 'giver', updatedAt: 50 }),
        left: [[]],
      });
      await store().forget('giver', true);
      expect(await store().todos({ planId: 'giver' })).toEqual(plan);
    });

    it('door 8: what is forgotten is not missed: the session begins anew, also after a restart', async () => {
      await write(store(), 'gone', 10);
      await store().forget('gone', true);
      const reopened = (await opened().reopen?.()) ?? store();
      const seen = await reopened.step('gone', (loaded) => ({
        result: [loaded.state, loaded.wentBack()],
      }));
      expect(seen).toEqual([null, false]);
      await reopened.append([
        anEvent.stopAttempted({ id: 'applied gone', sessionId: 'gone' }),
      ]);
      expect(await reopened.events({ sessionId: 'gone', waiting: true })).toHaveLength(1);
    });
  });
}

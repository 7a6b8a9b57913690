// Contract: a transaction is everything or nothing, and nobody sees half of one.
import { describe, expect, it } from 'vitest';
import type { Loaded, Saved } from '../../src/engine/store.ts';
import {
  aLedger,
  aLedgerDraft,
  anEvent,
  anOutboxRow,
  aSession,
  aTodo,
} from '../support/builders.ts';
import { dump, hash, oneOfEverything, save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeTransactions({ store }: StoreUnderTest): void {
  const failing = (change: (loaded: Loaded) => Omit<Saved<null>, 'result'>) =>
    store().step('session-1', (loaded) => ({
      ...change(loaded),
      result: null,
      // A row that cannot be written, after all the others.
      state: { ...aSession(), plan: [aTodo({ id: 'twice' }), aTodo({ id: 'twice' })] },
    }));

  describe('transactions', () => {
    it('V5: returns what the work returned and keeps what it wrote', async () => {
      const result = await store().step('session-1', (loaded) => ({
        ...oneOfEverything(loaded),
        result: 'written',
      }));
      await store().append([anEvent.activitySeen()]);
      expect(result).toBe('written');
      const after = await dump(store());
      expect(after.state?.id).toBe('session-1');
      expect(after.todos).toHaveLength(2);
      expect(after.applied).toHaveLength(1);
      expect(after.waiting).toHaveLength(1);
      expect(after.ledger).toHaveLength(2);
    });

    it('V5: work that throws leaves every table as it was, in a store that is empty', async () => {
      const before = await dump(store());
      const failed = store().step('session-1', () => {
        throw new Error('the work failed');
      });
      await expect(failed).rejects.toThrow('the work failed');
      await expect(failing(oneOfEverything)).rejects.toThrow('exists already');
      expect(await dump(store())).toEqual(before);
    });

    it('V5: work that throws leaves every table as it was, in a store that is in use', async () => {
      await store().step('session-1', (loaded) => ({
        ...oneOfEverything(loaded),
        result: null,
      }));
      await store().append([anEvent.activitySeen()]);
      const before = await dump(store());
      const failed = store().step('session-1', ({ inbox, state, head }) => ({
        ...oneOfEverything({ state, head }),
        result: null,
        applied: [...inbox, anEvent.stopAttempted()],
        outbox: [anOutboxRow({ state: 'sent' })],
        timer: null,
        // A todo is missing: nothing is ever deleted.
        state: {
          ...aSession({ epoch: 9, updatedAt: 9 }),
          plan: (state?.plan ?? []).slice(1),
        },
      }));
      await expect(failed).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('nothing is ever deleted'),
      });
      expect(await dump(store())).toEqual(before);
    });

    it('V5: a store goes on working after a transaction failed', async () => {
      const failed = store().step('session-1', () => {
        throw new Error('the work failed');
      });
      const next = save(store(), { state: aSession() });
      await expect(failed).rejects.toThrow('the work failed');
      await next;
      expect(await store().state('session-1')).not.toBeNull();
    });

    it('V5: concurrent transactions queue, so that read-modify-write loses nothing', async () => {
      await save(store(), { state: aSession() });
      const increments = Array.from({ length: 50 }, () =>
        store().step('session-1', ({ state }) => ({
          state: { ...aSession(), epoch: (state?.epoch ?? 0) + 1 },
          result: null,
        })),
      );
      await Promise.all(increments);
      expect((await store().state('session-1'))?.epoch).toBe(50);
    });

    it('V5: a step reads what it asks for, is called again with the record, and only its last answer is written', async () => {
      await save(store(), {
        state: { ...aSession(), plan: [aTodo({ id: 'a' })] },
        ledger: aLedger([aLedgerDraft()], hash),
        outbox: [anOutboxRow({ epoch: 3 })],
        policies: new Map([['hash', 'policy']]),
        fingerprints: [{ fingerprint: 'tree', at: 1 }],
        applied: [anEvent.stopAttempted({ id: 'applied' })],
      });
      const asked: Loaded[] = [];
      const known = await store().step('session-1', (loaded) => {
        asked.push(loaded);
        if (loaded.record === null) return 'record';
        const { policy, outboxRow, isApplied, wasSeen } = loaded;
        const policies = ['hash', 'nothing'].map(policy);
        const outbox = [3, 4].map(outboxRow);
        return {
          result: {
            ...loaded,
            policies,
            outbox,
            known: isApplied('applied'),
            seen: wasSeen('tree'),
          },
        };
      });
      expect(asked.map(({ record }) => record === null)).toEqual([true, false]);
      expect(known.policies).toEqual(['policy', null]);
      expect(known.outbox).toEqual([anOutboxRow({ epoch: 3 }), null]);
      expect(known.record).toHaveLength(1);
      expect(known.head).toMatchObject({ sequence: 1 });
      expect(known.known).toBe(true);
      expect(known.seen).toBe(true);
      expect(known.state?.plan).toEqual([expect.objectContaining({ id: 'a' })]);
    });

    it('V5: a reader never sees a transaction that is not committed', async () => {
      await save(store(), { state: aSession({ epoch: 1 }) });
      const seen: Promise<number | undefined>[] = [];
      const writing = store().step('session-1', () => {
        seen.push(
          store()
            .state('session-1')
            .then((state) => state?.epoch),
        );
        return { result: null, state: aSession({ epoch: 2 }) };
      });
      seen.push(
        store()
          .state('session-1')
          .then((state) => state?.epoch),
      );
      await writing;
      // A reader may answer with the state before, or wait for the one after; never with
      // half of it.
      for (const epoch of await Promise.all(seen)) expect([1, 2]).toContain(epoch);
      expect((await store().state('session-1'))?.epoch).toBe(2);
    });

    it('V5: one read is one consistent view: a session and its plan are of the same moment', async () => {
      const grow = () =>
        store().step('session-1', ({ state }) => {
          const plan = [...(state?.plan ?? []), aTodo()];
          return { result: null, state: { ...aSession(), epoch: plan.length, plan } };
        });
      const writing = Promise.all(Array.from({ length: 20 }, grow));
      for (let round = 0; round < 20; round += 1) {
        const state = await store().state('session-1');
        expect(state?.epoch ?? 0).toBe(state?.plan.length ?? 0);
      }
      await writing;
    });

    it('V5: a closed store says that it is closed, after finishing what was asked before', async () => {
      const before = store().record({ policies: new Map([['hash', 'policy']]) });
      await store().close();
      await expect(before).resolves.toBeUndefined();
      await expect(save(store(), {})).rejects.toMatchObject({
        code: 'store-unavailable',
      });
      await expect(store().state('session-1')).rejects.toMatchObject({
        code: 'store-unavailable',
      });
      await expect(store().close()).resolves.toBeUndefined();
    });
  });
}

// Contract: timers, outbox and leases, which belong to host instances.
import { describe, expect, it } from 'vitest';
import type { SessionTimer } from '../../src/core/state.ts';
import { anOutboxRow, aSession } from '../support/builders.ts';
import { save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeDelivery({ store }: StoreUnderTest): void {
  const timer = (dueAt: number, epoch = 1) => ({ purpose: 'due', dueAt, epoch }) as const;
  const saveTimer = (id: string, instance: string, planned: SessionTimer | null) => {
    const state = aSession({ id });
    const descriptor = { ...state.descriptor, instance };
    return save(store(), {
      state: { ...state, descriptor, timer: planned },
      timer: planned,
    });
  };
  const nextAt = async (instance: string) =>
    (await store().timers(instance, 0, 0)).nextAt;
  const dueIn = async (instance: string, now: number, limit = 10) =>
    (await store().timers(instance, now, limit)).due;

  describe('delivery', () => {
    it('V5: due timers of an instance come earliest first, up to the limit', async () => {
      await saveTimer('late', 'instance-1', timer(30));
      await saveTimer('early', 'instance-1', timer(10));
      await saveTimer('middle', 'instance-1', { purpose: 'resend', dueAt: 20, epoch: 4 });
      await saveTimer('also-early', 'instance-1', timer(10));
      await saveTimer('elsewhere', 'instance-2', timer(1));
      expect(await dueIn('instance-1', 20)).toEqual([
        { sessionId: 'also-early', ...timer(10) },
        { sessionId: 'early', ...timer(10) },
        { sessionId: 'middle', purpose: 'resend', dueAt: 20, epoch: 4 },
      ]);
      expect(await dueIn('instance-1', 99, 1)).toHaveLength(1);
      expect(await dueIn('instance-1', 9)).toEqual([]);
      expect(await nextAt('instance-1')).toBe(10);
      expect(await nextAt('instance-2')).toBe(1);
      expect(await nextAt('instance-3')).toBeNull();
    });

    it('V5: the holder of a lease can be looked up until it lets go', async () => {
      expect(await store().lease('instance-1', 'holder-1', 0, 10)).toBe('holder-1');
      expect(await store().lease('instance-1', 'holder-2', 5, 10)).toBe('holder-1');
      expect(await store().leaseHolder('instance-1')).toEqual({
        holder: 'holder-1',
        until: 10,
      });
      expect(await store().leaseHolder('instance-2')).toBeNull();
      expect(await store().lease('instance-1', 'holder-1', 5, null)).toBeNull();
      expect(await store().leaseHolder('instance-1')).toBeNull();
    });

    it('V5: a session has one timer; saving replaces it, null removes it', async () => {
      await saveTimer('session-1', 'instance-1', timer(10));
      await saveTimer('session-1', 'instance-2', timer(20, 2));
      expect(await nextAt('instance-1')).toBeNull();
      expect(await dueIn('instance-2', 99)).toEqual([
        { sessionId: 'session-1', ...timer(20, 2) },
      ]);
      await saveTimer('session-1', 'instance-2', null);
      await saveTimer('never-had-one', 'instance-2', null);
      expect(await nextAt('instance-2')).toBeNull();
    });

    it('V5: the open outbox of an instance holds what is intended or sent, oldest first', async () => {
      await save(store(), {
        outbox: [
          anOutboxRow({ epoch: 2, createdAt: 2, state: 'sent' }),
          anOutboxRow({ epoch: 1, createdAt: 1 }),
          anOutboxRow({ epoch: 3, createdAt: 3, state: 'observed' }),
          anOutboxRow({ epoch: 4, createdAt: 4, state: 'failed' }),
          anOutboxRow({ epoch: 5, createdAt: 5, state: 'unanswered' }),
        ],
      });
      const other = anOutboxRow({ sessionId: 'session-2', instance: 'instance-2' });
      await save(store(), { outbox: [other] }, 'session-2');
      const epochs = async (filter: { sessionId: string } | { instance: string }) =>
        (await store().outbox(filter)).map(({ epoch }) => epoch);
      expect(await epochs({ instance: 'instance-1' })).toEqual([1, 2]);
      expect(await epochs({ sessionId: 'session-1' })).toEqual([1, 2, 3, 4, 5]);
      expect(await epochs({ instance: 'instance-3' })).toEqual([]);
    });

    it('V5: session and epoch are the key of delivery: saving again replaces', async () => {
      const sent = anOutboxRow({ state: 'sent', attempts: 1, updatedAt: 9 });
      await save(store(), { outbox: [anOutboxRow()] });
      await save(store(), { outbox: [sent] });
      await save(
        store(),
        { outbox: [anOutboxRow({ sessionId: 'session-2' })] },
        'session-2',
      );
      expect(await store().outbox({ sessionId: 'session-1' })).toEqual([sent]);
      await save(store(), { outbox: [{ ...sent, state: 'observed' }] });
      const open = await store().outbox({ instance: 'instance-1' });
      expect(open.map(({ sessionId }) => sessionId)).toEqual(['session-2']);
    });

    it('V5: a lease has one holder; it can renew, others wait until it runs out or is released', async () => {
      const take = async (
        holder: string,
        now: number,
        until: number,
        instance = 'instance-1',
      ) => (await store().lease(instance, holder, now, until)) === holder;
      expect(await take('first', 0, 10)).toBe(true);
      expect(await take('second', 9, 20)).toBe(false);
      expect(await take('second', 9, 20, 'instance-2')).toBe(true);
      expect(await take('first', 9, 15)).toBe(true);
      expect(await take('second', 14, 30)).toBe(false);
      expect(await take('second', 15, 30)).toBe(true);
      expect(await take('first', 16, 40)).toBe(false);
      await store().lease('instance-1', 'first', 16, null);
      expect(await take('first', 17, 40)).toBe(false);
      await store().lease('instance-1', 'second', 17, null);
      expect(await take('first', 18, 40)).toBe(true);
    });
  });
}

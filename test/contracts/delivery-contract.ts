// Contract: timers, outbox and leases, which belong to host instances.
import { describe, expect, it } from 'vitest';
import { anOutboxRow } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeDelivery({ store }: StoreUnderTest): void {
  const timer = (dueAt: number, epoch = 1) => ({ purpose: 'due', dueAt, epoch }) as const;

  describe('delivery', () => {
    it('V5: due timers of an instance come earliest first, up to the limit', async () => {
      await store().transact(async (tx) => {
        await tx.saveTimer('late', 'instance-1', timer(30));
        await tx.saveTimer('early', 'instance-1', timer(10));
        await tx.saveTimer('middle', 'instance-1', { purpose: 'resend', dueAt: 20, epoch: 4 });
        await tx.saveTimer('also-early', 'instance-1', timer(10));
        await tx.saveTimer('elsewhere', 'instance-2', timer(1));
      });
      await store().read(async (reader) => {
        expect(await reader.dueTimers('instance-1', 20, 10)).toEqual([
          { sessionId: 'also-early', ...timer(10) },
          { sessionId: 'early', ...timer(10) },
          { sessionId: 'middle', purpose: 'resend', dueAt: 20, epoch: 4 },
        ]);
        expect(await reader.dueTimers('instance-1', 99, 1)).toHaveLength(1);
        expect(await reader.dueTimers('instance-1', 9, 10)).toEqual([]);
        expect(await reader.nextTimerAt('instance-1')).toBe(10);
        expect(await reader.nextTimerAt('instance-2')).toBe(1);
        expect(await reader.nextTimerAt('instance-3')).toBeNull();
      });
    });

    it('V5: the holder of a lease can be looked up until it lets go', async () => {
      await store().transact(async (tx) => {
        expect(await tx.leaseHolder('instance-1')).toBeNull();
        await tx.takeLease('instance-1', 'holder-1', 0, 10);
        expect(await tx.leaseHolder('instance-1')).toBe('holder-1');
        await tx.releaseLease('instance-1', 'holder-1');
        expect(await tx.leaseHolder('instance-1')).toBeNull();
      });
    });

    it('V5: a session has one timer; saving replaces it, null removes it', async () => {
      await store().transact(async (tx) => {
        await tx.saveTimer('session-1', 'instance-1', timer(10));
        await tx.saveTimer('session-1', 'instance-2', timer(20, 2));
      });
      expect(await store().read(async (reader) => reader.nextTimerAt('instance-1'))).toBeNull();
      expect(await store().read(async (reader) => reader.dueTimers('instance-2', 99, 9))).toEqual([
        { sessionId: 'session-1', ...timer(20, 2) },
      ]);
      await store().transact(async (tx) => {
        await tx.saveTimer('session-1', 'instance-2', null);
        await tx.saveTimer('never-had-one', 'instance-2', null);
      });
      expect(await store().read(async (reader) => reader.nextTimerAt('instance-2'))).toBeNull();
    });

    it('V5: the open outbox of an instance holds what is intended or sent, oldest first', async () => {
      await store().transact(async (tx) => {
        await tx.saveOutbox(anOutboxRow({ epoch: 2, createdAt: 2, state: 'sent' }));
        await tx.saveOutbox(anOutboxRow({ epoch: 1, createdAt: 1 }));
        await tx.saveOutbox(anOutboxRow({ epoch: 3, createdAt: 3, state: 'observed' }));
        await tx.saveOutbox(anOutboxRow({ epoch: 4, createdAt: 4, state: 'failed' }));
        await tx.saveOutbox(anOutboxRow({ epoch: 5, createdAt: 5, state: 'unanswered' }));
        await tx.saveOutbox(anOutboxRow({ sessionId: 'session-2', instance: 'instance-2' }));
      });
      await store().read(async (reader) => {
        expect((await reader.openOutbox('instance-1')).map(({ epoch }) => epoch)).toEqual([1, 2]);
        expect((await reader.outbox('session-1')).map(({ epoch }) => epoch)).toEqual([1, 2, 3, 4, 5]);
        expect(await reader.openOutbox('instance-3')).toEqual([]);
      });
    });

    it('V5: session and epoch are the key of delivery: saving again replaces', async () => {
      await store().transact(async (tx) => {
        await tx.saveOutbox(anOutboxRow());
        await tx.saveOutbox(anOutboxRow({ state: 'sent', attempts: 1, updatedAt: 9 }));
        await tx.saveOutbox(anOutboxRow({ sessionId: 'session-2' }));
      });
      const sent = anOutboxRow({ state: 'sent', attempts: 1, updatedAt: 9 });
      expect(await store().read(async (reader) => reader.outbox('session-1'))).toEqual([sent]);
      expect(await store().read(async (reader) => reader.outboxRow('session-1', 1))).toEqual(sent);
      expect(await store().read(async (reader) => reader.outboxRow('session-1', 2))).toBeNull();
      await store().transact(async (tx) => tx.saveOutbox({ ...sent, state: 'observed' }));
      const open = await store().read(async (reader) => reader.openOutbox('instance-1'));
      expect(open.map(({ sessionId }) => sessionId)).toEqual(['session-2']);
    });

    it('V5: a lease has one holder; it can renew, others wait until it runs out or is released', async () => {
      const take = (holder: string, now: number, until: number, instance = 'instance-1') =>
        store().transact(async (tx) => tx.takeLease(instance, holder, now, until));
      expect(await take('first', 0, 10)).toBe(true);
      expect(await take('second', 9, 20)).toBe(false);
      expect(await take('second', 9, 20, 'instance-2')).toBe(true);
      expect(await take('first', 9, 15)).toBe(true);
      expect(await take('second', 14, 30)).toBe(false);
      expect(await take('second', 15, 30)).toBe(true);
      expect(await take('first', 16, 40)).toBe(false);
      await store().transact(async (tx) => tx.releaseLease('instance-1', 'first'));
      expect(await take('first', 17, 40)).toBe(false);
      await store().transact(async (tx) => tx.releaseLease('instance-1', 'second'));
      expect(await take('first', 18, 40)).toBe(true);
    });
  });
}

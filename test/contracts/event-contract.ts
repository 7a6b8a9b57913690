// Contract: the inbox and the record of what was applied, in its order.
import { describe, expect, it } from 'vitest';
import { anEvent } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeEvents({ store }: StoreUnderTest): void {
  const pendingIds = (sessionId = 'session-1') =>
    store().read(async (reader) => (await reader.pendingEvents(sessionId)).map(({ id }) => id));

  describe('events', () => {
    it('V5: an event is taken into the inbox once, however often it is delivered', async () => {
      const event = anEvent.humanSpoke({ text: 'first' });
      expect(await store().transact(async (tx) => tx.addEvent(event))).toBe(true);
      expect(await store().transact(async (tx) => tx.addEvent({ ...event, text: 'second' }))).toBe(false);
      expect(await store().read(async (reader) => reader.pendingEvents('session-1'))).toEqual([event]);
      expect(await store().read(async (reader) => reader.hasEvent(event.id))).toBe(true);
      expect(await store().read(async (reader) => reader.hasEvent('unknown'))).toBe(false);
    });

    it('V5: an applied event is known and never comes back into the inbox', async () => {
      const event = anEvent.activitySeen();
      await store().transact(async (tx) => {
        await tx.addEvent(event);
        await tx.markApplied(event);
      });
      expect(await store().transact(async (tx) => tx.addEvent(event))).toBe(false);
      expect(await store().transact(async (tx) => tx.hasEvent(event.id))).toBe(true);
      expect(await pendingIds()).toEqual([]);
    });

    it('G5: the inbox is given by time, then by arrival, for each session alone', async () => {
      await store().transact(async (tx) => {
        await tx.addEvent(anEvent.activitySeen({ id: 'late', at: 30 }));
        await tx.addEvent(anEvent.activitySeen({ id: 'early', at: 10 }));
        await tx.addEvent(anEvent.toolEnded({ id: 'z-first', at: 20 }));
        await tx.addEvent(anEvent.activitySeen({ id: 'a-second', at: 20 }));
        await tx.addEvent(anEvent.activitySeen({ id: 'other', at: 5, sessionId: 'session-2' }));
      });
      expect(await pendingIds()).toEqual(['early', 'z-first', 'a-second', 'late']);
      expect(await pendingIds('session-2')).toEqual(['other']);
    });

    it('V6: applied events keep the order in which they were applied, not that of their time', async () => {
      const first = anEvent.activitySeen({ at: 30 });
      const second = anEvent.activitySeen({ at: 10 });
      const third = anEvent.activitySeen({ at: 20 });
      const foreign = anEvent.activitySeen({ sessionId: 'session-2' });
      await store().transact(async (tx) => {
        for (const event of [third, second, first, foreign]) await tx.addEvent(event);
      });
      for (const event of [first, foreign, second, third]) {
        await store().transact(async (tx) => tx.markApplied(event));
      }
      await store().read(async (reader) => {
        expect(await reader.appliedEvents('session-1', 0, 10)).toEqual([
          { applied: 1, event: first },
          { applied: 2, event: second },
          { applied: 3, event: third },
        ]);
        expect(await reader.appliedEvents('session-1', 1, 1)).toEqual([{ applied: 2, event: second }]);
        expect(await reader.appliedEvents('session-1', 3, 10)).toEqual([]);
        expect(await reader.appliedEvents('session-2', 0, 10)).toEqual([{ applied: 1, event: foreign }]);
      });
    });

    it('V6: an event is recorded as it was applied, with what the engine filled in', async () => {
      const event = anEvent.humanSpoke({ policyHash: null });
      await store().transact(async (tx) => tx.addEvent(event));
      await store().transact(async (tx) => tx.markApplied({ ...event, policyHash: 'hash' }));
      const [stored] = await store().read(async (reader) => reader.appliedEvents('session-1', 0, 1));
      expect(stored?.event).toEqual({ ...event, policyHash: 'hash' });
    });

    it('V5: an event that was never in the inbox can be applied at once, and is known from then on', async () => {
      const event = anEvent.stopAttempted();
      await store().transact(async (tx) => tx.markApplied(event));
      expect(await store().read(async (reader) => reader.appliedEvents('session-1', 0, 9))).toEqual([
        { applied: 1, event },
      ]);
      expect(await store().transact(async (tx) => tx.addEvent(event))).toBe(false);
    });

    it('V5: an event whose transaction failed still waits in the inbox', async () => {
      const event = anEvent.stopAttempted();
      await store().transact(async (tx) => tx.addEvent(event));
      const failed = store().transact(async (tx) => {
        await tx.markApplied(event);
        throw new Error('the work failed');
      });
      await expect(failed).rejects.toThrow('the work failed');
      expect(await pendingIds()).toEqual([event.id]);
      expect(await store().read(async (reader) => reader.appliedEvents('session-1', 0, 9))).toEqual([]);
    });

    it('V5: an event is applied once: a second time is told and writes nothing', async () => {
      const event = anEvent.stopAttempted();
      await store().transact(async (tx) => tx.markApplied(event));
      expect(await store().transact(async (tx) => tx.markApplied({ ...event, at: 9 }))).toBe(false);
      expect(await store().read(async (reader) => reader.appliedEvents('session-1', 0, 9))).toMatchObject([
        { event: { at: event.at } },
      ]);
    });
  });
}

// Contract: the inbox and the record of what was applied, in its order.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/events.ts';
import { anEvent } from '../support/builders.ts';
import { save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeEvents({ store }: StoreUnderTest): void {
  const waiting = async (sessionId = 'session-1') =>
    (await store().events({ sessionId, waiting: true })).map(({ event }) => event);
  const waitingIds = async (sessionId = 'session-1') =>
    (await waiting(sessionId)).map(({ id }) => id);
  const applied = (after = 0, limit = 10, sessionId = 'session-1') =>
    store().events({ sessionId, after, limit });
  const apply = (event: Event) => save(store(), { applied: [event] }, event.sessionId);
  const isKnown = async (id: string) => (await store().events({ ids: [id] })).length > 0;

  describe('events', () => {
    it('V5: an event is taken into the inbox once, however often it is delivered', async () => {
      const event = anEvent.humanSpoke({ text: 'first' });
      expect(await store().append([event])).toEqual([true]);
      expect(await store().append([{ ...event, text: 'second' }])).toEqual([false]);
      expect(await waiting()).toEqual([event]);
      expect(await isKnown(event.id)).toBe(true);
      expect(await isKnown('unknown')).toBe(false);
    });

    it('V5: an applied event is known and never comes back into the inbox', async () => {
      const event = anEvent.activitySeen();
      await store().append([event]);
      await apply(event);
      expect(await store().append([event])).toEqual([false]);
      expect(await isKnown(event.id)).toBe(true);
      expect(await waitingIds()).toEqual([]);
      const known = await store().step('session-1', ({ isApplied }) => ({
        result: [event.id, 'unknown'].map(isApplied),
      }));
      expect(known).toEqual([true, false]);
    });

    it('G5: the inbox is given by arrival, for each session alone', async () => {
      await store().append([
        anEvent.activitySeen({ id: 'late', at: 30 }),
        anEvent.activitySeen({ id: 'early', at: 10 }),
        anEvent.activitySeen({ id: 'other', at: 5, sessionId: 'session-2' }),
      ]);
      await store().append([anEvent.toolEnded({ id: 'a-third', at: 20 })]);
      expect(await waitingIds()).toEqual(['late', 'early', 'a-third']);
      expect(await waitingIds('session-2')).toEqual(['other']);
      const inbox = await store().step('session-1', (loaded) => ({
        result: loaded.inbox.map(({ id }) => id),
      }));
      expect(inbox).toEqual(['late', 'early', 'a-third']);
    });

    it('V6: applied events keep the order in which they were applied, not that of their time', async () => {
      const first = anEvent.activitySeen({ at: 30 });
      const second = anEvent.activitySeen({ at: 10 });
      const third = anEvent.activitySeen({ at: 20 });
      const foreign = anEvent.activitySeen({ sessionId: 'session-2' });
      await store().append([third, second, first, foreign]);
      await apply(first);
      await apply(foreign);
      await save(store(), { applied: [second, third] });
      expect(await applied()).toEqual([
        { applied: 1, event: first },
        { applied: 2, event: second },
        { applied: 3, event: third },
      ]);
      expect(await applied(1, 1)).toEqual([{ applied: 2, event: second }]);
      expect(await applied(3)).toEqual([]);
      expect(await applied(0, 10, 'session-2')).toEqual([{ applied: 1, event: foreign }]);
    });

    it('V6: an event is recorded as it was applied, with what the engine filled in', async () => {
      const event = anEvent.humanSpoke({ policyHash: null });
      await store().append([event]);
      await apply({ ...event, policyHash: 'hash' });
      const [stored] = await applied(0, 1);
      expect(stored?.event).toEqual({ ...event, policyHash: 'hash' });
    });

    it('V5: an event that was never in the inbox can be applied at once, and is known from then on', async () => {
      const event = anEvent.stopAttempted();
      await apply(event);
      expect(await applied()).toEqual([{ applied: 1, event }]);
      expect(await store().append([event])).toEqual([false]);
    });

    it('V5: an event whose transaction failed still waits in the inbox', async () => {
      const event = anEvent.stopAttempted();
      await store().append([event]);
      const entry = { sequence: 1, previousHash: '0', hash: 'a', planId: 'session-1' };
      const twice = [entry, entry] as never;
      await expect(save(store(), { applied: [event], ledger: twice })).rejects.toThrow(
        'has an entry 1 already',
      );
      expect(await waitingIds()).toEqual([event.id]);
      expect(await applied()).toEqual([]);
    });

    it('V5: an event is applied once: a second time writes nothing', async () => {
      const event = anEvent.stopAttempted();
      await apply(event);
      await apply({ ...event, at: 9 });
      expect(await applied()).toMatchObject([{ event: { at: event.at } }]);
    });
  });
}

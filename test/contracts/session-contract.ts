// Contract: sessions are kept whole and found by what people filter by.
import { describe, expect, it } from 'vitest';
import type { SessionFilter } from '../../src/engine/store.ts';
import { aSession, aTodo } from '../support/builders.ts';
import { save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeSessions({ store }: StoreUnderTest): void {
  describe('sessions', () => {
    const { descriptor } = aSession();

    it('V7: a session comes back as it was saved, and the last save wins', async () => {
      const session = aSession({
        goal: {
          unit: { state: 'passed', passedBefore: true, flaky: false, tail: null },
        },
      });
      await save(store(), { state: session });
      expect(await store().state('session-1')).toEqual(session);
      const changed = {
        ...session,
        planId: 'other-plan',
        updatedAt: session.updatedAt + 1,
        epoch: 3,
      };
      await save(store(), { state: changed, left: [[]] });
      expect(await store().state('session-1')).toEqual(changed);
    });

    it('T3: a session that begins another plan leaves the old one as it was left', async () => {
      const first = aTodo({ planId: 'session-1' });
      const open = { ...aSession(), plan: [first] };
      await save(store(), { state: open });
      const left = { ...first, status: 'in_progress' } as const;
      const second = aTodo({ planId: 'plan-2' });
      await store().step('session-1', () => ({
        result: null,
        left: [[left]],
        state: { ...open, planId: 'plan-2', plan: [second] },
      }));
      expect((await store().state('session-1'))?.plan).toEqual([second]);
      expect(await store().todos({ planId: 'session-1' })).toEqual([left]);
    });

    it('V7: an unknown session is null', async () => {
      expect(await store().state('nobody')).toBeNull();
      expect(await store().step('nobody', ({ state }) => ({ result: state }))).toBeNull();
    });

    it('V7: sessions are listed newest first, filtered by host, directory and the start of the id', async () => {
      const states = [
        aSession({ id: 'a-1', updatedAt: 1 }),
        aSession({
          id: 'a-2',
          updatedAt: 3,
          descriptor: { ...descriptor, host: 'other' },
        }),
        aSession({
          id: 'b-1',
          updatedAt: 2,
          descriptor: { ...descriptor, directory: null },
        }),
        aSession({ id: 'b-2', updatedAt: 2 }),
        aSession({ id: 'a-1', updatedAt: 4 }),
      ];
      for (const state of states) await save(store(), { state });
      const list = async (filter: Partial<SessionFilter>) =>
        (await store().sessions({ limit: 10, ...filter })).map(({ id }) => id);
      expect(await list({})).toEqual(['a-1', 'a-2', 'b-1', 'b-2']);
      expect(await list({ limit: 2 })).toEqual(['a-1', 'a-2']);
      expect(await list({ host: 'scripted' })).toEqual(['a-1', 'b-1', 'b-2']);
      expect(await list({ directory: '/workspace' })).toEqual(['a-1', 'a-2', 'b-2']);
      expect(await list({ idPrefix: 'b-' })).toEqual(['b-1', 'b-2']);
      expect(await list({ idPrefix: 'b-', directory: '/workspace' })).toEqual(['b-2']);
      expect(await list({ idSuffix: '-1' })).toEqual(['a-1', 'b-1']);
      expect(await list({ idSuffix: 'x-b-1' })).toEqual([]);
      expect(await list({ idSuffix: '%1' })).toEqual([]);
      expect(await list({ idPrefix: 'b-%' })).toEqual([]);
      expect(await list({ idPrefix: '' })).toEqual(['a-1', 'a-2', 'b-1', 'b-2']);
    });
  });
}

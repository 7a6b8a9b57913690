// Contract: sessions are kept whole and found by what people filter by.
import { describe, expect, it } from 'vitest';
import type { SessionFilter } from '../../src/engine/store.ts';
import { aSession } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeSessions({ store }: StoreUnderTest): void {
  describe('sessions', () => {
    const { descriptor } = aSession();

    it('V7: a session comes back as it was saved, and the last save wins', async () => {
      const session = aSession({
        goal: {
          unit: { state: 'passed', passedBefore: true, flaky: false, tail: null, fingerprint: 'tree' },
        },
      });
      await store().transact(async (tx) => tx.saveSession(session));
      expect(await store().read(async (reader) => reader.session('session-1'))).toEqual(session);
      const changed = { ...session, planId: 'other-plan', updatedAt: session.updatedAt + 1, epoch: 3 };
      await store().transact(async (tx) => tx.saveSession(changed));
      expect(await store().read(async (reader) => reader.session('session-1'))).toEqual(changed);
    });

    it('V7: an unknown session is null', async () => {
      expect(await store().read(async (reader) => reader.session('nobody'))).toBeNull();
      expect(await store().transact(async (tx) => tx.session('nobody'))).toBeNull();
    });

    it('V7: sessions are listed newest first, filtered by host, directory and the start of the id', async () => {
      await store().transact(async (tx) => {
        await tx.saveSession(aSession({ id: 'a-1', updatedAt: 1 }));
        await tx.saveSession(
          aSession({ id: 'a-2', updatedAt: 3, descriptor: { ...descriptor, host: 'other' } }),
        );
        await tx.saveSession(
          aSession({ id: 'b-1', updatedAt: 2, descriptor: { ...descriptor, directory: null } }),
        );
        await tx.saveSession(aSession({ id: 'b-2', updatedAt: 2 }));
        await tx.saveSession(aSession({ id: 'a-1', updatedAt: 4 }));
      });
      const list = (filter: Partial<SessionFilter>) =>
        store().read(async (reader) => (await reader.sessions({ limit: 10, ...filter })).map(({ id }) => id));
      expect(await list({})).toEqual(['a-1', 'a-2', 'b-1', 'b-2']);
      expect(await list({ limit: 2 })).toEqual(['a-1', 'a-2']);
      expect(await list({ host: 'scripted' })).toEqual(['a-1', 'b-1', 'b-2']);
      expect(await list({ directory: '/workspace' })).toEqual(['a-1', 'a-2', 'b-2']);
      expect(await list({ idPrefix: 'b-' })).toEqual(['b-1', 'b-2']);
      expect(await list({ idPrefix: 'b-', directory: '/workspace' })).toEqual(['b-2']);
      expect(await list({ idPrefix: 'b-%' })).toEqual([]);
      expect(await list({ idPrefix: '' })).toEqual(['a-1', 'a-2', 'b-1', 'b-2']);
    });
  });
}

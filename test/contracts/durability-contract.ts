// Contract: what was committed is there when the store is opened again, for stores that
// outlive their process.
import { describe, expect, it } from 'vitest';
import { anEvent, aSession, aTodo } from '../support/builders.ts';
import { dump, oneOfEverything, save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeDurability({ opened }: StoreUnderTest): void {
  describe('durability', () => {
    it('V5: a store that can be opened again shows everything that was committed, and nothing else', async () => {
      const { store, reopen } = opened();
      await store.append([anEvent.activitySeen()]);
      const state = { ...aSession(), plan: [aTodo(), aTodo({ status: 'completed' })] };
      await save(store, { ...oneOfEverything(), state });
      const failed = store.step('session-1', () => {
        throw new Error('the work failed');
      });
      await expect(failed).rejects.toThrow('the work failed');
      const before = await dump(store);
      const again = reopen ? await reopen() : store;
      expect(await dump(again)).toEqual(before);
      expect(before.todos).toHaveLength(2);
    });

    it('V5: what another process writes is seen, also by one that keeps the plan', async () => {
      const { store, beside } = opened();
      if (beside === undefined) return;
      const other = await beside();
      const first = aTodo();
      const second = aTodo();
      await save(store, { state: { ...aSession(), plan: [first] } });
      expect((await other.state('session-1'))?.plan).toEqual([first]);
      for (const [one, two] of [
        [store, other],
        [other, store],
        [store, other],
      ] as const) {
        await one.step('session-1', ({ state }) => {
          const [todo, ...rest] = state?.plan ?? [];
          const changed = { ...(todo ?? first), attempts: (todo?.attempts ?? 0) + 1 };
          return { result: null, state: { ...aSession(), plan: [changed, ...rest] } };
        });
        expect(await two.state('session-1')).toEqual(await one.state('session-1'));
      }
      await other.step('session-1', ({ state }) => ({
        result: null,
        state: { ...aSession(), plan: [...(state?.plan ?? []), second] },
      }));
      const plan = await store.step('session-1', ({ state }) => ({
        result: state?.plan,
      }));
      expect(plan?.map(({ id, attempts }) => [id, attempts])).toEqual([
        [first.id, 3],
        [second.id, 0],
      ]);
    });
  });
}

// Contract: rows() gives exactly the rows that `needs` names (T5 and the marks of T2, V4).
import { beforeEach, describe, expect, it } from 'vitest';
import { type Needs, noNeeds, noRows } from '../../src/core/rows.ts';
import type { Todo } from '../../src/core/todo.ts';
import { aSession, aTodo, restartTestIds } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeRows({ store }: StoreUnderTest): void {
  const session = aSession();
  const rowsOf = (needs: Partial<Needs>) =>
    store().read(async (reader) => reader.rows(session, { ...noNeeds, ...needs }));
  const create = (...todos: Todo[]) => store().transact(async (tx) => tx.createTodos(todos));

  describe('rows', () => {
    beforeEach(() => restartTestIds());

    it('T4: nothing needed, nothing loaded', async () => {
      await create(aTodo(), aTodo({ status: 'in_progress' }));
      expect(await rowsOf({})).toEqual(noRows);
    });

    it('T4: the whole plan comes in order, without the rows of other plans', async () => {
      const [last, first] = [aTodo({ order: 9, status: 'cancelled' }), aTodo({ order: 1 })];
      await create(last, first, aTodo({ planId: 'other', order: 5 }));
      expect((await rowsOf({ plan: true })).plan).toEqual([first, last]);
    });

    it('T4: rows are found by our id or the host’s key, each once, only in this plan', async () => {
      const [one, two, three] = [aTodo({ hostKey: '1' }), aTodo({ hostKey: '2' }), aTodo()];
      const foreign = aTodo({ planId: 'other', hostKey: '1' });
      await create(one, two, three, foreign);
      const { byId } = await rowsOf({ ids: ['2', three.id, one.id, '1', 'unknown', foreign.id] });
      expect(byId).toEqual([two, three, one]);
    });

    it('T6: rows are found by title unless they are completed or cancelled', async () => {
      const same = { title: 'Same', planId: 'session-1' };
      const found = [
        aTodo({ ...same }),
        aTodo({ ...same, status: 'blocked' }),
        aTodo({ ...same, status: 'in_progress' }),
      ];
      await create(
        ...found,
        aTodo({ ...same, status: 'completed' }),
        aTodo({ ...same, status: 'cancelled' }),
        aTodo({ ...same, planId: 'other' }),
        aTodo({ title: 'Other' }),
      );
      expect((await rowsOf({ titleKeys: ['same', 'unknown', 'same'] })).byTitle).toEqual(found);
    });

    it('M1: positions count every row from one; past the end there is none', async () => {
      const plan = [aTodo({ order: 1 }), aTodo({ order: 2, status: 'completed' }), aTodo({ order: 3 })];
      await create(...plan);
      const { atPosition } = await rowsOf({ positions: [3, 1, 4, 2, 0, -1, 1.5] });
      const expected = Object.fromEntries([1, 2, 3].map((position) => [position, plan[position - 1]]));
      expect(atPosition).toEqual(expected);
    });

    it('T5: the next todo is the highest priority, then the one in progress, then the first in order', async () => {
      const expected = [
        aTodo({ priority: 'high', status: 'in_progress', order: 9 }),
        aTodo({ priority: 'high', order: 1 }),
        aTodo({ priority: 'high', order: 8, droppedAt: 1 }),
        aTodo({ priority: 'medium', status: 'in_progress', order: 7 }),
        aTodo({ priority: 'medium', order: 6 }),
        aTodo({ priority: 'low', status: 'in_progress', order: 0 }),
        aTodo({ priority: 'low', order: -1 }),
      ];
      const notOpen = (['completed', 'cancelled', 'blocked'] as const).map((status) =>
        aTodo({ status, priority: 'high', order: -5 }),
      );
      await create(
        ...[...expected, ...notOpen].reverse(),
        aTodo({ planId: 'other', priority: 'high', order: -9 }),
      );
      expect((await rowsOf({ next: 50 })).next).toEqual(expected);
      expect((await rowsOf({ next: 2 })).next).toEqual(expected.slice(0, 2));
    });

    it('T5: the next todo follows when one is started, finished and opened again', async () => {
      const [first, second] = [aTodo({ order: 1 }), aTodo({ order: 2 })];
      await create(first, second);
      const next = async () => (await rowsOf({ next: 1 })).next[0]?.id;
      const update = (todo: Todo) => store().transact(async (tx) => tx.updateTodo(todo));
      expect(await next()).toBe(first.id);
      await update({ ...second, status: 'in_progress' });
      expect(await next()).toBe(second.id);
      await update({ ...second, status: 'completed' });
      expect(await next()).toBe(first.id);
      await update({ ...first, status: 'blocked' });
      expect(await next()).toBeUndefined();
      await update({ ...second, status: 'pending', priority: 'high' });
      expect(await next()).toBe(second.id);
    });

    it('V4: dropped rows are those still open that no continuation has named', async () => {
      const first = aTodo({ droppedAt: 1 });
      const dropped = [first, aTodo({ droppedAt: 1, status: 'in_progress' })];
      await create(
        aTodo(),
        aTodo({ droppedAt: 1, droppedNamedAt: 2 }),
        aTodo({ droppedAt: 1, status: 'cancelled' }),
        ...dropped,
      );
      expect((await rowsOf({ dropped: 10 })).dropped).toEqual(dropped);
      expect((await rowsOf({ dropped: 1 })).dropped).toEqual(dropped.slice(0, 1));
      await store().transact(async (tx) => tx.updateTodo({ ...first, droppedNamedAt: 3 }));
      expect((await rowsOf({ dropped: 10 })).dropped).toEqual(dropped.slice(1));
    });

    it('V1: failed rows are open ones whose check failed', async () => {
      const first = aTodo({ verification: 'failed', status: 'in_progress' });
      const failed = [first, aTodo({ verification: 'failed' })];
      await create(aTodo({ verification: 'failed', status: 'blocked' }), ...failed, aTodo());
      expect((await rowsOf({ failed: 10 })).failed).toEqual(failed);
      expect((await rowsOf({ failed: 1 })).failed).toEqual(failed.slice(0, 1));
      await store().transact(async (tx) => tx.updateTodo({ ...first, verification: 'passed' }));
      expect((await rowsOf({ failed: 10 })).failed).toEqual(failed.slice(1));
    });

    it('T7: rows in progress come in order', async () => {
      const active = [aTodo({ status: 'in_progress' }), aTodo({ status: 'in_progress', priority: 'high' })];
      await create(aTodo(), ...active, aTodo({ status: 'completed' }));
      expect((await rowsOf({ inProgress: 10 })).inProgress).toEqual(active);
      expect((await rowsOf({ inProgress: 1 })).inProgress).toEqual(active.slice(0, 1));
    });

    it('V1: unverified rows are completed ones whose own checks have not passed', async () => {
      const own = { status: 'completed', checks: ['unit'] } as const;
      const unverified = [
        aTodo({ ...own, verification: 'claimed' }),
        aTodo({ ...own, verification: 'running' }),
      ];
      await create(
        ...unverified,
        aTodo({ ...own, verification: 'passed' }),
        aTodo({ ...own, checks: [], verification: 'claimed' }),
        aTodo({ ...own, status: 'in_progress', verification: 'running' }),
      );
      expect((await rowsOf({ unverified: 10 })).unverified).toEqual(unverified);
      expect((await rowsOf({ unverified: 1 })).unverified).toEqual(unverified.slice(0, 1));
    });

    it('G7: a fingerprint counts as seen only in its own session', async () => {
      await store().transact(async (tx) => {
        await tx.addFingerprint('session-1', 'tree-1', 1);
        await tx.addFingerprint('session-1', 'tree-1', 2);
        await tx.addFingerprint('session-2', 'tree-2', 1);
      });
      expect((await rowsOf({ fingerprint: 'tree-1' })).fingerprintSeen).toBe(true);
      expect((await rowsOf({ fingerprint: 'tree-2' })).fingerprintSeen).toBe(false);
      expect((await rowsOf({ fingerprint: null })).fingerprintSeen).toBe(false);
    });

    it('T4: every need of one call is answered together', async () => {
      const todo = aTodo({
        status: 'in_progress',
        hostKey: 'k',
        title: 'All',
        verification: 'failed',
        droppedAt: 1,
      });
      await create(todo);
      const rows = await rowsOf({
        plan: true,
        ids: ['k'],
        titleKeys: ['all'],
        positions: [1],
        next: 1,
        dropped: 1,
        failed: 1,
        inProgress: 1,
        unverified: 1,
      });
      const once = [todo];
      expect(rows).toEqual({
        plan: once,
        byId: once,
        byTitle: once,
        atPosition: { 1: todo },
        next: once,
        dropped: once,
        failed: once,
        inProgress: once,
        unverified: [],
        fingerprintSeen: false,
      });
    });
  });
}

// Contract: the todo repository (T4): a plan is saved and loaded as one list, in its
// order.
import { describe, expect, it } from 'vitest';
import type { Todo } from '../../src/core/todo.ts';
import { aSession, aTodo } from '../support/builders.ts';
import { save } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeTodos({ store }: StoreUnderTest): void {
  const savePlan = (...plan: Todo[]) => save(store(), { state: { ...aSession(), plan } });
  const change = (work: (plan: readonly Todo[]) => readonly Todo[]) =>
    store().step('session-1', ({ state }) => ({
      result: null,
      state: { ...aSession(), plan: work(state?.plan ?? []) },
    }));

  describe('todos', () => {
    it('T4: create and findById give back every field', async () => {
      const todo = aTodo({
        hostKey: '7',
        context: 'context',
        completionCriteria: 'criteria',
        agentType: 'worker',
        status: 'completed',
        outcome: 'outcome',
        reason: 'reason',
        attempts: 2,
        verification: 'passed',
        checks: ['unit', 'lint'],
        failureTail: 'tail',
        evidence: [{ check: 'unit', fingerprint: 'tree', flaky: false }],
        droppedAt: 1,
        droppedNamedAt: 2,
        startedAt: 3,
        completedAt: 4,
        finalAt: 5,
        passedAt: 6,
        late: true,
        createdWork: 7,
        endedIn: 8,
      });
      const plain = aTodo({ order: 0, createdAt: 0 });
      await savePlan(todo, plain);
      expect(await store().todos({ ids: [todo.id, 'unknown', plain.id] })).toEqual([
        todo,
        plain,
      ]);
    });

    it('T4: createBatch is one transaction: a todo that exists already undoes all of them', async () => {
      const first = aTodo();
      await savePlan(first);
      const elsewhere = {
        ...aSession({ id: 'other' }),
        plan: [aTodo(), { ...first, title: 'changed' }, aTodo()],
      };
      await expect(save(store(), { state: elsewhere })).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('exists already'),
      });
      expect(await store().todos({ planId: 'session-1' })).toEqual([first]);
      expect(await store().state('other')).toBeNull();
    });

    it('T4: findByTurn takes no status, one or many, and answers in order', async () => {
      const done = aTodo({ status: 'completed' });
      const active = aTodo({ status: 'in_progress' });
      const late = aTodo({ status: 'pending' });
      const elsewhere = aTodo({ turnId: 'turn-2' });
      await savePlan(elsewhere, done, active, late);
      expect(await store().todos({ turnId: 'turn-1' })).toEqual([done, active, late]);
      expect(await store().todos({ turnId: 'turn-1', statuses: ['pending'] })).toEqual([
        late,
      ]);
      expect(
        await store().todos({ turnId: 'turn-1', statuses: ['pending', 'completed'] }),
      ).toEqual([done, late]);
      expect(await store().todos({ turnId: 'turn-1', statuses: [] })).toEqual([]);
      expect(await store().todos({ turnId: 'turn-2' })).toEqual([elsewhere]);
      expect(await store().todos({ turnId: 'turn-3' })).toEqual([]);
    });

    it('T4: update replaces the whole todo, also its place, its title and its turn', async () => {
      const first = aTodo();
      const second = aTodo();
      await savePlan(first, second);
      const started = { ...first, status: 'in_progress', startedAt: 9 } as const;
      await change(([, other = second]) => [started, other]);
      expect(await store().todos({ planId: 'session-1' })).toEqual([started, second]);
      const moved = {
        ...started,
        title: 'New',
        titleKey: 'new',
        hostKey: 'host-9',
        turnId: 'turn-2',
      };
      await change(() => [second, moved]);
      expect(await store().todos({ planId: 'session-1' })).toEqual([second, moved]);
      expect(await store().todos({ turnId: 'turn-1' })).toEqual([second]);
      expect(await store().todos({ turnId: 'turn-2' })).toEqual([moved]);
    });

    it('T4: the array is the truth of the order, whatever the ranks of its todos are', async () => {
      const todos = Array.from({ length: 5 }, () => aTodo({ order: 7 }));
      const [a, b, c, d, e] = todos as [Todo, Todo, Todo, Todo, Todo];
      await savePlan(...todos);
      const ids = async () =>
        (await store().todos({ planId: 'session-1' })).map(({ id }) => id);
      expect(await ids()).toEqual(todos.map(({ id }) => id));
      const between = aTodo({ order: 7 });
      await change((plan) => {
        const [one, two, ...rest] = plan as [Todo, Todo, ...Todo[]];
        return [two, between, one, ...rest];
      });
      expect(await ids()).toEqual([b.id, between.id, a.id, c.id, d.id, e.id]);
    });

    it('T4: what did not change is the same object in the next step of the same process', async () => {
      await savePlan(aTodo(), aTodo());
      const plans: (readonly Todo[])[] = [];
      for (let round = 0; round < 2; round += 1)
        await change((plan) => {
          plans.push(plan);
          return [{ ...(plan[0] as Todo), attempts: round + 1 }, ...plan.slice(1)];
        });
      expect(plans[1]?.[1]).toBe(plans[0]?.[1]);
      expect(plans[1]?.[0]?.attempts).toBe(1);
    });

    it('G7: a fingerprint counts as seen only in its own session', async () => {
      const tree = (fingerprint: string, at: number) => ({
        fingerprints: [{ fingerprint, at }],
      });
      await save(store(), tree('tree-1', 1));
      await save(store(), tree('tree-1', 2));
      await save(store(), tree('tree-2', 1), 'session-2');
      const isSeen = (fingerprint: string) =>
        store().step('session-1', ({ wasSeen }) => ({ result: wasSeen(fingerprint) }));
      expect(await isSeen('tree-1')).toBe(true);
      expect(await isSeen('tree-2')).toBe(false);
      expect(await isSeen('')).toBe(false);
    });
  });
}

// Contract: the todo repository (T4).
import { describe, expect, it } from 'vitest';
import { aTodo } from '../support/builders.ts';
import type { StoreUnderTest } from './store-contract.ts';

export function describeTodos({ store }: StoreUnderTest): void {
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
        createdTrees: 8,
        idleEnd: true,
      });
      await store().transact(async (tx) => tx.createTodo(todo));
      expect(await store().read(async (reader) => reader.findTodo(todo.id))).toEqual(todo);
      expect(await store().read(async (reader) => reader.findTodo('unknown'))).toBeNull();
    });

    it('T4: createBatch is one transaction: a todo that exists already undoes all of them', async () => {
      const first = aTodo();
      await store().transact(async (tx) => tx.createTodo(first));
      const batch = [aTodo(), { ...first, title: 'changed' }, aTodo()];
      await expect(store().transact(async (tx) => tx.createTodos(batch))).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('exists already'),
      });
      expect(await store().read(async (reader) => reader.todosOfPlan('session-1'))).toEqual([first]);
    });

    it('T4: findByTurn takes no status, one or many, and answers in order', async () => {
      const late = aTodo({ order: 30, status: 'pending' });
      const done = aTodo({ order: 10, status: 'completed' });
      const active = aTodo({ order: 20, status: 'in_progress' });
      const elsewhere = aTodo({ order: 5, turnId: 'turn-2' });
      await store().transact(async (tx) => tx.createTodos([late, done, active, elsewhere]));
      await store().read(async (reader) => {
        expect(await reader.findTodosByTurn('turn-1')).toEqual([done, active, late]);
        expect(await reader.findTodosByTurn('turn-1', ['pending'])).toEqual([late]);
        expect(await reader.findTodosByTurn('turn-1', ['pending', 'completed'])).toEqual([done, late]);
        expect(await reader.findTodosByTurn('turn-1', [])).toEqual([]);
        expect(await reader.findTodosByTurn('turn-2')).toEqual([elsewhere]);
        expect(await reader.findTodosByTurn('turn-3')).toEqual([]);
      });
    });

    it('T4: countByStatus names every status, also those with none', async () => {
      const statuses = ['pending', 'pending', 'in_progress', 'completed', 'cancelled', 'cancelled'] as const;
      await store().transact(async (tx) => tx.createTodos(statuses.map((status) => aTodo({ status }))));
      expect(await store().read(async (reader) => reader.countTodosByStatus('turn-1'))).toEqual({
        pending: 2,
        in_progress: 1,
        completed: 1,
        cancelled: 2,
        blocked: 0,
      });
    });

    it('T4: update replaces the whole todo, also its place, its title and its plan', async () => {
      const [first, second] = [aTodo({ order: 1 }), aTodo({ order: 2 })];
      await store().transact(async (tx) => tx.createTodos([first, second]));
      const started = { ...first, status: 'in_progress', startedAt: 9 } as const;
      await store().transact(async (tx) => tx.updateTodo(started));
      expect(await store().read(async (reader) => reader.todosOfPlan('session-1'))).toEqual([
        started,
        second,
      ]);
      const moved = {
        ...started,
        order: 3,
        title: 'New',
        titleKey: 'new',
        hostKey: 'host-9',
        turnId: 'turn-2',
      };
      await store().transact(async (tx) => tx.updateTodo(moved));
      expect(await store().read(async (reader) => reader.todosOfPlan('session-1'))).toEqual([second, moved]);
      expect(await store().read(async (reader) => reader.findTodosByTurn('turn-1'))).toEqual([second]);
      expect(await store().read(async (reader) => reader.findTodosByTurn('turn-2'))).toEqual([moved]);
      const carried = { ...moved, planId: 'other-plan' };
      await store().transact(async (tx) => tx.updateTodo(carried));
      expect(await store().read(async (reader) => reader.todosOfPlan('session-1'))).toEqual([second]);
      expect(await store().read(async (reader) => reader.todosOfPlan('other-plan'))).toEqual([carried]);
    });

    it('T4: updating a todo that is not there is refused, so that no change is lost in silence', async () => {
      await expect(store().transact(async (tx) => tx.updateTodo(aTodo()))).rejects.toMatchObject({
        code: 'store-unavailable',
        message: expect.stringContaining('no todo with the id'),
      });
    });

    it('T4: equal ranks keep the order in which the todos were created', async () => {
      const first = aTodo({ order: 7 });
      const todos = [first, ...Array.from({ length: 4 }, () => aTodo({ order: 7 }))];
      await store().transact(async (tx) => tx.createTodos(todos));
      await store().transact(async (tx) => tx.updateTodo({ ...first, attempts: 1 }));
      const ids = await store().read(async (reader) =>
        (await reader.todosOfPlan('session-1')).map(({ id }) => id),
      );
      expect(ids).toEqual(todos.map(({ id }) => id));
    });
  });
}

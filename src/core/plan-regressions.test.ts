import { expect, it } from 'vitest';
import { createCoreDriver } from '../../test/properties/core-driver.ts';
import { edit } from '../../test/properties/edit-plan.ts';
import { aTodo } from '../../test/support/builders.ts';
import type { NewTodo } from './events.ts';
import { matchWritten } from './reconcile.ts';
import { countPlan, planSize } from './state.ts';
import type { Todo } from './todo.ts';

const plan = (...rows: Partial<Todo>[]) =>
  rows.map((row, i) => aTodo({ id: `t${i}`, order: (i + 1) * 1024, ...row }));

function write(
  rows: readonly Todo[],
  items: {
    id?: string;
    content: string;
    status?: string;
    freshId?: string;
    priority?: string;
  }[],
  actor: 'agent' | 'human' = 'agent',
) {
  const fresh = items.map((item, i) => ({ freshId: `n${i}`, ...item }));
  return edit(rows, { type: 'plan-written', actor, items: fresh });
}

function create(rows: readonly Todo[], items: readonly NewTodo[]) {
  return edit(rows, { type: 'todos-created', actor: 'agent', items });
}

const ids = ({ state }: ReturnType<typeof edit>) => state.plan.map(({ id }) => id);

it('T7: a list with two todos in progress is reported', () => {
  const { reply } = write(
    [],
    [
      { content: 'A', status: 'in_progress' },
      { content: 'B', status: 'in_progress' },
    ],
  );
  expect(reply.notices.join()).toMatch(/in progress/);
});
it('T7: a list with the same title open twice is reported', () => {
  const { reply } = write(
    [],
    [
      { content: 'A', status: 'pending' },
      { content: 'a.', status: 'pending' },
    ],
  );
  expect(reply.notices.join()).toMatch(/twice/);
});
it('T7: creating two todos in progress is reported', () => {
  const { reply } = create(
    [],
    [
      { id: 'a', title: 'A', status: 'in_progress' },
      { id: 'b', title: 'B', status: 'in_progress' },
    ],
  );
  expect(reply.notices.join()).toMatch(/in progress/);
});
it('M5: an unchanged list with a finished and an open namesake changes nothing', () => {
  const rows = plan(
    {
      title: 'Run tests',
      status: 'completed',
      verification: 'claimed',
      completedAt: 1,
      finalAt: 1,
    },
    { title: 'Run tests' },
  );
  const { reply } = write(rows, [
    { content: 'Run tests', status: 'completed' },
    { content: 'Run tests', status: 'pending' },
  ]);
  expect(reply.changed).toEqual([]);
});
it('V4: a reworded finished todo keeps its row', () => {
  const rows = plan(
    {
      title: 'Write the parser',
      status: 'completed',
      verification: 'claimed',
      completedAt: 1,
      finalAt: 1,
    },
    { title: 'Ship it' },
  );
  const { reply } = write(rows, [
    { content: 'Write the parser module', status: 'completed' },
    { content: 'Ship it', status: 'pending' },
  ]);
  expect(reply.created).toEqual([]);
});
it('V4: 150 reworded titles in one gap are all recognised', () => {
  const rows = Array.from({ length: 150 }, (_, i) =>
    aTodo({
      id: `t${i}`,
      title: `Implement feature number ${i} of the service`,
      order: i + 1,
    }),
  );
  const { rowOf } = matchWritten(
    rows.map((row, i) => ({ content: `${row.title} now`, freshId: `n${i}` })),
    rows,
  );
  expect(rowOf.filter((row) => row === null).length).toBe(0);
});
it('V4: 90 reworded titles in one gap are matched to their own rows', () => {
  const rows = Array.from({ length: 90 }, (_, i) =>
    aTodo({
      id: `t${i}`,
      title: `Implement feature number ${i} of the service`,
      order: i + 1,
    }),
  );
  const { rowOf } = matchWritten(
    rows.map((row, i) => ({ content: `${row.title} now`, freshId: `n${i}` })),
    rows,
  );
  expect(rowOf.map((row) => row?.id)).toEqual(rows.map((r) => r.id));
});
it('V4: a title whose best match is taken gets its second best', () => {
  const rows = plan(
    { title: 'Write unit tests for parser' },
    { title: 'Write unit tests for lexer' },
  );
  const { rowOf } = matchWritten(
    [
      { content: 'Write unit tests for parsers' },
      { content: 'Write more unit tests for parser' },
    ],
    rows,
  );
  expect(rowOf.map((row) => row?.id)).toEqual(['t0', 't1']);
});
it('M1: positions in one call refer to the plan as it is after the items before', () => {
  const edited = create(plan({}, {}), [
    { id: 'x', title: 'X', order: 1 },
    { id: 'y', title: 'Y', order: 2 },
  ]);
  expect(ids(edited)).toEqual(['x', 'y', 't0', 't1']);
});
it('M1: two items for the same position stand in reverse order of arrival', () => {
  const edited = create(plan({}, {}), [
    { id: 'x', title: 'X', order: 1 },
    { id: 'y', title: 'Y', order: 1 },
  ]);
  expect(ids(edited)).toEqual(['y', 'x', 't0', 't1']);
});
it('M4: an unknown agentType is refused in an update too', () => {
  const changes = { agentType: 'nobody' };
  const { reply } = edit(plan({}), {
    type: 'todo-updated',
    actor: 'agent',
    todoId: 't0',
    changes,
  });
  expect(reply.refused).toHaveLength(1);
});
it('M3: a todo that was cancelled without a reason can still be explained', () => {
  const explained = { todoId: 't0', status: 'cancelled', outcome: 'not needed' } as const;
  const rows = plan({ status: 'cancelled', reason: null });
  const { reply } = edit(rows, { type: 'todo-completed', actor: 'agent', ...explained });
  expect(reply.refused).toEqual([]);
});
it('T6: a list that would create two rows with one id is refused', () => {
  const { reply } = write(
    [],
    [
      { content: 'A', freshId: 'x' },
      { content: 'B', freshId: 'x' },
    ],
  );
  expect(reply.refused).toHaveLength(1);
});
it("T6: an item that would take another row's id is refused", () => {
  const { reply } = write(plan({ title: 'Q' }), [
    { content: 'Q' },
    { content: 'B', freshId: 't0' },
  ]);
  expect(reply.refused).toHaveLength(1);
});
it('T2: counts stay right when an item is refused for its id', () => {
  const rows = plan({ title: 'A' }, { title: 'B' });
  const { state } = write(rows, [
    { content: 'A', freshId: 'x' },
    { content: 'B', freshId: 't0' },
  ]);
  expect(planSize(countPlan(state.plan))).toBe(2);
});
it('M5: the duplicate notice names the todo of highest priority', () => {
  const rows = plan(
    { title: 'low', priority: 'low' },
    { title: 'high', priority: 'high' },
  );
  expect(
    write(rows, [{ content: 'low' }, { content: 'high' }]).reply.notices.join(),
  ).toMatch(/"high"/);
});
it('T6: a refused item keeps its row in a permuted list', () => {
  const rows = plan({ title: 'A' }, { title: 'B' }, { title: 'C' });
  const { reply } = write(rows, [
    { content: 'C' },
    { content: 'B', status: 'bogus' },
    { content: 'A' },
  ]);
  const after = rows
    .map((r) => reply.changed.find((c) => c.id === r.id) ?? r)
    .sort((a, b) => a.order - b.order)
    .map((r) => r.title);
  expect(after).toEqual(['C', 'B', 'A']);
});
it('V4: a blocked todo that is left out is not dropped', () => {
  const rows = plan({ title: 'A', status: 'blocked', reason: 'x' });
  expect(write(rows, []).reply.changed).toEqual([]);
});
it('T2: a blocked todo written again without a reason keeps the one it has', () => {
  const rows = plan({ title: 'A', status: 'blocked', reason: 'x' });
  expect(write(rows, [{ content: 'A', status: 'blocked' }]).reply.changed).toEqual([]);
});
it('M5: a permuted list is ranked anew', () => {
  const rows = plan({ title: 'A' }, { title: 'B' });
  const { state } = write(rows, [{ content: 'B' }, { content: 'A' }, { content: 'C' }]);
  expect(state.plan.map(({ title, order }) => [title, order])).toEqual([
    ['B', 1024],
    ['A', 2048],
    ['C', 3072],
  ]);
});

function refusedWrite() {
  const driver = createCoreDriver();
  driver.says('hello');
  driver.plans('A');
  driver.stops({ end: 'cancelled' });
  driver.says('something else');
  const before = driver.state;
  const items = ['A', 'B'].map((content) => ({ id: 'x', content, freshId: content }));
  const { state, ledger } = driver.happens({
    type: 'plan-written',
    actor: 'agent',
    items,
  });
  return { before, state, ledger };
}
it('T6: a write that is refused as a whole does not take the plan up', () => {
  expect(refusedWrite().state.turn?.touchedPlan).toBe(false);
});
it('T6: a write that is refused as a whole leaves no trace', () => {
  const { before, state, ledger } = refusedWrite();
  expect(state).toEqual(before);
  expect(ledger).toEqual([]);
});

it('M1: positions on an empty plan are honoured among the new todos themselves', () => {
  const items = [3, 1, 2].map((order) => ({
    id: `at-${order}`,
    title: `At ${order}`,
    order,
  }));
  expect(ids(create([], items))).toEqual(['at-1', 'at-2', 'at-3']);
});
it('M5: todos that a permuted list leaves out keep their place, and no two ranks are equal', () => {
  const rows = plan({ title: 'A' }, { title: 'B' }, { title: 'C' });
  const { state } = write(rows, [{ content: 'C' }, { content: 'A' }]);
  expect(state.plan.map(({ title }) => title)).toEqual(['C', 'A', 'B']);
  expect(new Set(state.plan.map(({ order }) => order)).size).toBe(3);
});

import { expect, it } from 'vitest';
import { aSession, aTodo } from '../../../test/support/builders.ts';
import { sha256 } from '../../engine/system.ts';
import { createScriptedHost } from '../../simulated/scripted-host.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../../simulated/simulated-clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { defaultSettings } from '../config/settings.ts';
import { noRows } from '../rows.ts';
import type { Session } from '../session.ts';
import type { Todo } from '../todo.ts';
import { createTodos } from './create-todos.ts';
import { matchWritten } from './match-written.ts';
import { createPlanDraft } from './plan-draft.ts';
import { recount } from './tally.ts';
import { completeTodo, updateTodo } from './update-todo.ts';
import { writeList } from './write-list.ts';

const positions = (rows: readonly Todo[]) => Object.fromEntries(rows.map((row, index) => [index + 1, row]));

const plan = (...rows: Partial<Todo>[]) =>
  rows.map((row, i) => aTodo({ id: `t${i}`, order: (i + 1) * 1024, ...row }));
const withPlan = (rows: readonly Todo[]): Session => ({
  ...aSession(),
  counts: recount(rows),
  lastOrder: rows.at(-1)?.order ?? 0,
});
function write(
  rows: readonly Todo[],
  items: { id?: string; content: string; status?: string; freshId?: string; priority?: string }[],
  actor: 'agent' | 'human' = 'agent',
) {
  const draft = createPlanDraft(withPlan(rows), actor, 5);
  writeList(
    draft,
    items.map((item, i) => ({ freshId: `n${i}`, ...item })),
    { ...noRows, plan: rows },
    defaultSettings,
  );
  return draft.finish();
}

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
  const draft = createPlanDraft(aSession(), 'agent', 5);
  createTodos(
    draft,
    [
      { id: 'a', title: 'A', status: 'in_progress' },
      { id: 'b', title: 'B', status: 'in_progress' },
    ],
    noRows,
    defaultSettings,
  );
  expect(draft.finish().reply.notices.join()).toMatch(/in progress/);
});
it('M5: an unchanged list with a finished and an open namesake changes nothing', () => {
  const rows = plan(
    { title: 'Run tests', status: 'completed', verification: 'claimed', completedAt: 1, finalAt: 1 },
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
    { title: 'Write the parser', status: 'completed', verification: 'claimed', completedAt: 1, finalAt: 1 },
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
    aTodo({ id: `t${i}`, title: `Implement feature number ${i} of the service`, order: i + 1 }),
  );
  const { rowOf } = matchWritten(
    rows.map((row, i) => ({ content: `${row.title} now`, freshId: `n${i}` })),
    rows,
  );
  expect(rowOf.filter((row) => row === null).length).toBe(0);
});
it('V4: 90 reworded titles in one gap are matched to their own rows', () => {
  const rows = Array.from({ length: 90 }, (_, i) =>
    aTodo({ id: `t${i}`, title: `Implement feature number ${i} of the service`, order: i + 1 }),
  );
  const { rowOf } = matchWritten(
    rows.map((row, i) => ({ content: `${row.title} now`, freshId: `n${i}` })),
    rows,
  );
  expect(rowOf.map((row) => row?.id)).toEqual(rows.map((r) => r.id));
});
it('V4: a title whose best match is taken gets its second best', () => {
  const rows = plan({ title: 'Write unit tests for parser' }, { title: 'Write unit tests for lexer' });
  const { rowOf } = matchWritten(
    [
      { content: 'Write unit tests for parsers', freshId: 'a' },
      { content: 'Write more unit tests for parser', freshId: 'b' },
    ],
    rows,
  );
  expect(rowOf.map((row) => row?.id)).toEqual(['t0', 't1']);
});
it('M1: positions in one call refer to the plan as it is after the items before', () => {
  const rows = plan({}, {});
  const draft = createPlanDraft(withPlan(rows), 'agent', 5);
  createTodos(
    draft,
    [
      { id: 'x', title: 'X', order: 1 },
      { id: 'y', title: 'Y', order: 2 },
    ],
    { ...noRows, atPosition: positions(rows) },
    defaultSettings,
  );
  const created = draft.finish().reply.created;
  const all = [...rows, ...created].sort((a, b) => a.order - b.order).map((r) => r.id);
  expect(all).toEqual(['x', 'y', 't0', 't1']);
});
it('M1: two items for the same position stand in reverse order of arrival', () => {
  const rows = plan({}, {});
  const draft = createPlanDraft(withPlan(rows), 'agent', 5);
  createTodos(
    draft,
    [
      { id: 'x', title: 'X', order: 1 },
      { id: 'y', title: 'Y', order: 1 },
    ],
    { ...noRows, atPosition: positions(rows) },
    defaultSettings,
  );
  const all = [...rows, ...draft.finish().reply.created].sort((a, b) => a.order - b.order);
  expect(all.map(({ id }) => id)).toEqual(['y', 'x', 't0', 't1']);
});
it('M4: an unknown agentType is refused in an update too', () => {
  const rows = plan({});
  const draft = createPlanDraft(withPlan(rows), 'agent', 5);
  updateTodo(draft, 't0', { agentType: 'nobody' }, { ...noRows, byId: rows }, defaultSettings);
  expect(draft.finish().reply.refused).toHaveLength(1);
});
it('M3: a todo that was cancelled without a reason can still be explained', () => {
  const rows = plan({ status: 'cancelled', reason: null });
  const draft = createPlanDraft(withPlan(rows), 'agent', 5);
  completeTodo(draft, 't0', 'cancelled', 'not needed', { ...noRows, byId: rows });
  expect(draft.finish().reply.refused).toEqual([]);
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
  const { reply } = write(plan({ title: 'Q' }), [{ content: 'Q' }, { content: 'B', freshId: 't0' }]);
  expect(reply.refused).toHaveLength(1);
});
it('T2: counts stay right when an item is refused for its id', () => {
  const rows = plan({ title: 'A' }, { title: 'B' });
  const { session, reply } = write(rows, [
    { content: 'A', freshId: 'x' },
    { content: 'B', freshId: 't0' },
  ]);
  const after = new Map([...rows, ...reply.created, ...reply.changed].map((r) => [r.id, r]));
  expect(session.counts).toEqual(recount(after.values()));
});
it('M5: the duplicate notice names the todo of highest priority', () => {
  const rows = plan({ title: 'low', priority: 'low' }, { title: 'high', priority: 'high' });
  expect(write(rows, [{ content: 'low' }, { content: 'high' }]).reply.notices.join()).toMatch(/"high"/);
});
it('T6: a refused item keeps its row in a permuted list', () => {
  const rows = plan({ title: 'A' }, { title: 'B' }, { title: 'C' });
  const { reply } = write(rows, [{ content: 'C' }, { content: 'B', status: 'bogus' }, { content: 'A' }]);
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
  const { session } = write(rows, [{ content: 'B' }, { content: 'A' }, { content: 'C' }]);
  expect(session.lastOrder).toBe(3072);
});

async function refusedWrite() {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: [] }),
  });
  await host.open();
  await host.says('hello');
  await host.plans('A');
  await host.stops({ end: 'cancelled' });
  await host.says('something else');
  const before = await store.read(async (r) => ({
    s: await r.session('session-1'),
    n: (await r.appliedEvents('session-1', 0, 100)).length,
  }));
  await host.happens({
    type: 'plan-written',
    actor: 'agent',
    items: [
      { id: 'x', content: 'A', freshId: 'f1' },
      { id: 'x', content: 'B', freshId: 'f2' },
    ],
  });
  const after = await store.read(async (r) => ({
    s: await r.session('session-1'),
    n: (await r.appliedEvents('session-1', 0, 100)).length,
  }));
  return { before, after };
}
it('T6: a write that is refused as a whole does not take the plan up', async () => {
  const { after } = await refusedWrite();
  expect(after.s?.turn?.touchedPlan).toBe(false);
});
it('T6: a write that is refused as a whole leaves no trace', async () => {
  const { before, after } = await refusedWrite();
  expect(after).toEqual(before);
});

it('M1: positions on an empty plan are honoured among the new todos themselves', () => {
  const draft = createPlanDraft(withPlan([]), 'agent', 5);
  const items = [3, 1, 2].map((order) => ({ id: `at-${order}`, title: `At ${order}`, order }));
  createTodos(draft, items, noRows, defaultSettings);
  const created = [...draft.finish().reply.created].sort((a, b) => a.order - b.order);
  expect(created.map(({ id }) => id)).toEqual(['at-1', 'at-2', 'at-3']);
});

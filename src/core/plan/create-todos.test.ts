import { describe, expect, it } from 'vitest';
import { createCoreDriver } from '../../../test/properties/core-driver.ts';
import { aSession, aTodo } from '../../../test/support/builders.ts';
import { defaultSettings, type Settings } from '../config/settings.ts';
import type { NewTodo } from '../events.ts';
import { noRows, type Rows } from '../rows.ts';
import { isOpen, normaliseTitle, type Todo } from '../todo.ts';
import { createTodos } from './create-todos.ts';
import { createPlanDraft } from './plan-draft.ts';
import { recount } from './tally.ts';

const at = 5000;
const workers: Settings = { ...defaultSettings, agentTypes: ['tester', 'writer'] };

function plan(...titles: string[]): Todo[] {
  return titles.map((title, index) => aTodo({ id: `t${index + 1}`, title, order: (index + 1) * 1024 }));
}

/** The rows that `needs` would name for these items. */
function neededRows(rows: readonly Todo[], items: readonly NewTodo[]): Rows {
  const keys = items.map(({ title }) => normaliseTitle(title));
  return {
    ...noRows,
    byId: rows.filter(({ id }) => items.some((item) => item.id === id)),
    byTitle: rows.filter((row) => isOpen(row) && keys.includes(row.titleKey)),
    atPosition: Object.fromEntries(rows.map((row, index) => [index + 1, row])),
  };
}

function create(
  rows: readonly Todo[],
  items: readonly (Partial<NewTodo> | string)[],
  settings: Settings = workers,
) {
  const session = { ...aSession(), counts: recount(rows), lastOrder: rows.at(-1)?.order ?? 0 };
  const draft = createPlanDraft(session, 'agent', at);
  const wanted = items.map((item, index) => ({
    id: `new-${index + 1}`,
    title: '',
    ...(typeof item === 'string' ? { title: item } : item),
  }));
  createTodos(draft, wanted, neededRows(rows, wanted), settings);
  const { session: after, reply, rowChanges } = draft.finish();
  const inOrder = [...rows, ...reply.created].sort((one, other) => one.order - other.order);
  return { session: after, reply, rowChanges, titles: inOrder.map(({ title }) => title) };
}

describe('createTodos', () => {
  it('T1: a new todo has every field, with the defaults of T6', () => {
    const { reply } = create(
      [],
      [
        {
          title: ' Build ',
          context: 'why',
          completionCriteria: 'it runs',
          agentType: 'tester',
          checks: ['unit'],
          hostKey: '7',
        },
      ],
    );
    expect(reply.created).toEqual([
      {
        ...aTodo({ id: 'new-1', title: 'Build', order: 1024 }),
        turnId: 'session-1',
        context: 'why',
        completionCriteria: 'it runs',
        agentType: 'tester',
        checks: ['unit'],
        hostKey: '7',
        createdAt: at,
      },
    ]);
  });

  it('M1: appends by default, and inserts at a 1-based position without touching another row', () => {
    expect(create(plan('A', 'B'), ['C', 'D']).titles).toEqual(['A', 'B', 'C', 'D']);
    expect(create(plan('A', 'B'), [{ title: 'X', order: 1 }]).titles).toEqual(['X', 'A', 'B']);
    expect(create(plan('A', 'B'), [{ title: 'X', order: 2 }]).titles).toEqual(['A', 'X', 'B']);
    expect(create(plan('A', 'B'), [{ title: 'X', order: 3 }]).titles).toEqual(['A', 'B', 'X']);
    const far = create(plan('A', 'B'), [{ title: 'X', order: 99 }, 'Y']);
    expect(far.titles).toEqual(['A', 'B', 'X', 'Y']);
    expect(far.rowChanges.updated).toEqual([]);
  });

  it('M1: a refused item with a position does not shift the positions of the others', () => {
    const { titles } = create(plan('A', 'B'), [
      { title: '', order: 1 },
      { title: 'X', order: 2 },
    ]);
    expect(titles).toEqual(['A', 'X', 'B']);
  });

  it('M1: fifty inserts at the same place keep their order', () => {
    let rows = plan('A', 'B');
    for (let index = 0; index < 50; index++) {
      const { reply } = create(rows, [{ id: `x${index}`, title: `X${index}`, order: 2 }]);
      rows = [...rows, ...reply.created].sort((one, other) => one.order - other.order);
    }
    expect(rows.map(({ title }) => title).slice(0, 3)).toEqual(['A', 'X49', 'X48']);
    expect(rows.at(-1)?.title).toBe('B');
  });

  it('M1: an unknown agentType is refused and the known ones are named', () => {
    const { reply } = create([], [{ title: 'A', agentType: 'wizard' }, 'B']);
    expect(reply.refused).toMatchObject([{ index: 0, code: 'unknown-agent-type' }]);
    expect(reply.refused[0]?.sentence).toContain('tester, writer');
    expect(reply.created).toHaveLength(1);
    expect(
      create([], [{ title: 'A', agentType: 'x' }], defaultSettings).reply.refused[0]?.sentence,
    ).toContain('none');
  });

  it('T6: bad items are refused one by one, the good ones apply', () => {
    const { reply, session } = create(
      [],
      ['', 'A', { title: 'B', status: 'halfway' }, { title: 'C', priority: 'urgent' }],
    );
    expect(reply.refused.map(({ index, code }) => [index, code])).toEqual([
      [0, 'no-title'],
      [2, 'unknown-status'],
      [3, 'unknown-priority'],
    ]);
    expect(session.counts).toEqual(recount(reply.created));
  });

  it('T6: above maxTodos, or with an id twice, nothing is added', () => {
    const many = create(plan('A', 'B'), ['C'], { ...defaultSettings, maxTodos: 2 });
    expect(many.reply).toMatchObject({ applied: false, refused: [{ index: null, code: 'too-many-todos' }] });
    const twice = create(
      [],
      [
        { id: 'x', title: 'A' },
        { id: 'x', title: 'B' },
      ],
    );
    expect(twice.reply).toMatchObject({ applied: false, refused: [{ index: null, code: 'duplicate-id' }] });
  });

  it('T6: an id that exists already is refused for its item alone', () => {
    const { reply } = create(plan('A'), [{ id: 't1', title: 'B' }, 'C']);
    expect(reply).toMatchObject({ refused: [{ index: 0, code: 'known-id' }], created: [{ title: 'C' }] });
  });

  it('T7: the same title open twice is reported, in the plan and within one call', () => {
    expect(create(plan('Run tests'), ['run TESTS.']).reply.notices).toEqual([
      expect.stringContaining('run TESTS'),
    ]);
    expect(create([], ['A', 'a']).reply.notices).toHaveLength(1);
    expect(create([], ['A', 'B']).reply.notices).toEqual([]);
  });

  it('G7: a todo added after a stop attempt is late, and remembers how much work was done before', () => {
    const session = {
      ...aSession(),
      turn: {
        id: 'turn-1',
        number: 1,
        startedAt: 1,
        ended: false,
        touchedPlan: true,
        touchedWorkspace: false,
        goesOn: false,
        stopSeen: true,
      },
      work: { ...aSession().work, calls: 4, trees: 2 },
    };
    const draft = createPlanDraft(session, 'agent', at);
    createTodos(draft, [{ id: 'x', title: 'X' }], noRows, defaultSettings);
    expect(draft.finish().reply.created).toMatchObject([{ late: true, createdWork: 4, createdTrees: 2 }]);
  });

  it('V4: every todo is written to the ledger with its title', () => {
    const { rowChanges } = create([], ['A', { title: 'B', status: 'in_progress' }]);
    expect(rowChanges.ledger).toMatchObject([
      { change: 'created', todoId: 'new-1', detail: { title: 'A' }, actor: 'agent', at },
      { change: 'created', todoId: 'new-2' },
      { change: 'started', todoId: 'new-2' },
    ]);
  });
});

describe('two families of todo tools', () => {
  it('V7: the same title from the host’s list and from ours is one todo', () => {
    const driver = createCoreDriver();
    driver.says();
    const [ours = ''] = driver.plans('Write the parser');
    const item = { id: 'host-1', hostKey: '7', title: 'write the parser.', status: 'in_progress' };
    driver.happens({ type: 'todos-created', actor: 'agent', items: [item] });
    expect(driver.todos()).toMatchObject([{ id: ours, hostKey: '7', status: 'in_progress' }]);
    driver.happens({
      type: 'todo-completed',
      actor: 'agent',
      todoId: '7',
      status: 'completed',
      outcome: 'ok',
    });
    expect(driver.todo(ours).status).toBe('completed');
  });

  it('V7: and the other way round, with a word to the model', () => {
    const driver = createCoreDriver();
    driver.says();
    const item = { id: 'host-1', hostKey: '7', title: 'Write the parser' };
    driver.happens({ type: 'todos-created', actor: 'agent', items: [item] });
    const again = {
      type: 'todos-created',
      actor: 'agent',
      items: [{ id: 'mine', title: 'Write the parser' }],
    };
    const { commands } = driver.happens(again as Parameters<typeof driver.happens>[0]);
    expect(driver.todos().map(({ id }) => id)).toEqual(['host-1']);
    expect(JSON.stringify(commands)).toContain('is in the plan already, as host-1');
  });

  it('T7: two of the host with the same title stay two', () => {
    const driver = createCoreDriver();
    driver.says();
    const items = ['1', '2'].map((hostKey) => ({
      id: `host-${hostKey}`,
      hostKey,
      title: 'Write the parser',
    }));
    for (const item of items) driver.happens({ type: 'todos-created', actor: 'agent', items: [item] });
    expect(driver.todos()).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import { createCoreDriver } from '../../test/properties/core-driver.ts';
import { editedAt as at, edit } from '../../test/properties/edit-plan.ts';
import { aSession, aTodo } from '../../test/support/builders.ts';
import type { NewTodo } from './events.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { newTurn, type State } from './state.ts';
import type { Todo } from './todo.ts';

const workers: Settings = { ...defaultSettings, agentTypes: ['tester', 'writer'] };

function plan(...titles: string[]): Todo[] {
  return titles.map((title, index) =>
    aTodo({ id: `t${index + 1}`, title, order: (index + 1) * 1024 }),
  );
}

function create(
  rows: readonly Todo[],
  items: readonly (Partial<NewTodo> | string)[],
  settings: Settings = workers,
  session: Partial<State> = {},
) {
  const wanted = items.map((item, index) => ({
    id: `new-${index + 1}`,
    title: '',
    ...(typeof item === 'string' ? { title: item } : item),
  }));
  const edited = edit(
    rows,
    { type: 'todos-created', actor: 'agent', items: wanted },
    settings,
    session,
  );
  return { ...edited, titles: edited.state.plan.map(({ title }) => title) };
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
    expect(create(plan('A', 'B'), [{ title: 'X', order: 1 }]).titles).toEqual([
      'X',
      'A',
      'B',
    ]);
    expect(create(plan('A', 'B'), [{ title: 'X', order: 2 }]).titles).toEqual([
      'A',
      'X',
      'B',
    ]);
    expect(create(plan('A', 'B'), [{ title: 'X', order: 3 }]).titles).toEqual([
      'A',
      'B',
      'X',
    ]);
    const far = create(plan('A', 'B'), [{ title: 'X', order: 99 }, 'Y']);
    expect(far.titles).toEqual(['A', 'B', 'X', 'Y']);
    expect(far.reply.changed).toEqual([]);
  });

  it('M1: a refused item with a position does not shift the positions of the others', () => {
    const { titles } = create(plan('A', 'B'), [
      { title: '', order: 1 },
      { title: 'X', order: 2 },
    ]);
    expect(titles).toEqual(['A', 'X', 'B']);
  });

  it('M1: any number of inserts at the same place keep their order', () => {
    let rows: readonly Todo[] = plan('A', 'B');
    for (let index = 0; index < 150; index++) {
      rows = create(rows, [{ id: `x${index}`, title: `X${index}`, order: 2 }]).state.plan;
      expect(
        rows.every(
          ({ order }, place) => place === 0 || order > (rows[place - 1]?.order ?? 0),
        ),
      ).toBe(true);
    }
    expect(rows.map(({ title }) => title).slice(0, 3)).toEqual(['A', 'X149', 'X148']);
    expect(rows.at(-1)?.title).toBe('B');
  });

  it('M1: an unknown agentType is refused and the known ones are named', () => {
    const { reply } = create([], [{ title: 'A', agentType: 'wizard' }, 'B']);
    expect(reply.refused).toMatchObject([{ index: 0, code: 'unknown-agent-type' }]);
    expect(reply.refused[0]?.sentence).toContain('tester, writer');
    expect(reply.created).toHaveLength(1);
    expect(
      create([], [{ title: 'A', agentType: 'x' }], defaultSettings).reply.refused[0]
        ?.sentence,
    ).toContain('none');
  });

  it('T6: bad items are refused one by one, the good ones apply', () => {
    const { reply, state } = create([], ['', 'A', { title: 'B', status: '' }]);
    expect(reply.refused.map(({ index, code }) => [index, code])).toEqual([
      [0, 'no-title'],
      [2, 'invalid-item'],
    ]);
    expect(state.plan).toEqual(reply.created);
  });

  it('T6 P45: a status or priority that we do not know is pending or medium, with a notice; letter case is no matter', () => {
    const { reply, state } = create(
      [],
      [
        { title: 'B', status: 'halfway' },
        { title: 'C', priority: 'urgent' },
        { title: 'D', priority: 'High' },
      ],
    );
    expect(reply.refused).toEqual([]);
    expect(state.plan.map(({ status, priority }) => [status, priority])).toEqual([
      ['pending', 'medium'],
      ['pending', 'medium'],
      ['pending', 'high'],
    ]);
    expect(reply.notices).toEqual([
      'item 1 has the unknown status "halfway", taken as pending; use one of pending, in_progress, completed, cancelled, blocked.',
      'item 2 has the unknown priority "urgent", taken as medium; use one of high, medium, low.',
    ]);
  });

  it('T6: above maxTodos, or with an id twice, nothing is added', () => {
    const many = create(plan('A', 'B'), ['C'], { ...defaultSettings, maxTodos: 2 });
    expect(many.reply).toMatchObject({
      applied: false,
      refused: [{ index: null, code: 'too-many-todos' }],
    });
    const twice = create(
      [],
      [
        { id: 'x', title: 'A' },
        { id: 'x', title: 'B' },
      ],
    );
    expect(twice.reply).toMatchObject({
      applied: false,
      refused: [{ index: null, code: 'duplicate-id' }],
    });
  });

  it('T6: an id that exists already is refused for its item alone', () => {
    const { reply } = create(plan('A'), [{ id: 't1', title: 'B' }, 'C']);
    expect(reply).toMatchObject({
      refused: [{ index: 0, code: 'known-id' }],
      created: [{ title: 'C' }],
    });
  });

  it('T7: the same title open twice is reported, in the plan and within one call', () => {
    expect(create(plan('Run tests'), ['run TESTS.']).reply.notices).toEqual([
      expect.stringContaining('run TESTS'),
    ]);
    expect(create([], ['A', 'a']).reply.notices).toHaveLength(1);
    expect(create([], ['A', 'B']).reply.notices).toEqual([]);
  });

  it('G7: a todo added after a stop attempt is late, and remembers how much work was done before', () => {
    const turn = { ...newTurn('turn-1', 1), touchedPlan: true, stopSeen: true };
    const work = { ...aSession().work, calls: 4 };
    const { reply } = create([], ['X'], defaultSettings, { turn, work });
    expect(reply.created).toMatchObject([{ late: true, createdWork: 4 }]);
  });

  it('V4: every todo is written to the ledger with its title', () => {
    const { ledger } = create([], ['A', { title: 'B', status: 'in_progress' }]);
    expect(ledger).toMatchObject([
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
    const item = {
      id: 'host-1',
      hostKey: '7',
      title: 'write the parser.',
      status: 'in_progress',
    };
    driver.happens({ type: 'todos-created', actor: 'agent', items: [item] });
    expect(driver.todos()).toMatchObject([
      { id: ours, hostKey: '7', status: 'in_progress' },
    ]);
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
    for (const item of items)
      driver.happens({ type: 'todos-created', actor: 'agent', items: [item] });
    expect(driver.todos()).toHaveLength(2);
  });
});

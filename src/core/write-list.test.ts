import { describe, expect, it } from 'vitest';
import { editedAt as at, edit } from '../../test/properties/edit-plan.ts';
import { aTodo } from '../../test/support/builders.ts';
import type { WrittenTodo } from './events.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { countPlan } from './state.ts';
import type { Actor, Todo } from './todo.ts';

function plan(...rows: (Partial<Todo> | string)[]): Todo[] {
  return rows.map((row, index) =>
    aTodo({
      id: `t${index + 1}`,
      order: (index + 1) * 1024,
      ...(typeof row === 'string' ? { title: row } : row),
    }),
  );
}

/** `rows`: the whole plan afterwards, in order. */
function write(
  rows: readonly Todo[],
  items: readonly (Partial<WrittenTodo> | string)[],
  actor: Actor = 'agent',
  settings: Settings = defaultSettings,
) {
  const written = items.map((item, index) => ({
    content: '',
    freshId: `new-${index + 1}`,
    ...(typeof item === 'string' ? { content: item } : item),
  }));
  const { state, reply, ledger } = edit(
    rows,
    { type: 'plan-written', actor, items: written },
    settings,
  );
  const told = ledger.map(({ change, todoId }) => `${change} ${todoId ?? '-'}`);
  return { reply, ledger: told, rows: state.plan, counts: countPlan(state.plan) };
}

const titles = (rows: readonly Todo[]) => rows.map(({ title }) => title);

describe('writeList', () => {
  it('M5: creates what is new with the defaults of T6 and keeps the order of the list', () => {
    const { rows } = write(
      [],
      ['Plan', { content: ' Build ', status: 'in_progress', priority: 'high' }],
    );
    expect(rows).toMatchObject([
      {
        id: 'new-1',
        title: 'Plan',
        status: 'pending',
        priority: 'medium',
        hostKey: null,
      },
      {
        id: 'new-2',
        title: 'Build',
        status: 'in_progress',
        priority: 'high',
        startedAt: at,
      },
    ]);
  });

  it("M5: an id nobody knows is kept as the host's own", () => {
    expect(write([], [{ id: '7', content: 'Build' }]).rows).toMatchObject([
      { id: 'new-1', hostKey: '7' },
    ]);
  });

  it("T2: hosts' words for a status are understood", () => {
    const { rows } = write(plan('A', 'B', 'C'), [
      { content: 'A', status: 'done' },
      { content: 'B', status: 'In Progress' },
      { content: 'C', status: 'deleted' },
    ]);
    expect(rows).toMatchObject([
      { status: 'completed', verification: 'claimed' },
      { status: 'in_progress' },
      { status: 'pending', droppedAt: at },
    ]);
  });

  it('M5: an equal list is a duplicate: nothing changes and the active todo is named', () => {
    const rows = plan(
      { title: 'A', status: 'completed', verification: 'claimed' },
      { title: 'B', status: 'in_progress' },
      'C',
    );
    const written = write(rows, [
      { content: 'A', status: 'completed' },
      { content: 'B', status: 'in_progress' },
      { content: 'C', status: 'pending' },
    ]);
    expect(written.reply).toMatchObject({
      applied: false,
      created: [],
      changed: [],
      refused: [],
    });
    expect(written.reply.notices).toEqual([expect.stringContaining('"B"')]);
    expect(written.ledger).toEqual(['duplicate-write -']);
  });

  it('M5: an equal list with nothing open needs no notice', () => {
    const rows = plan({ title: 'A', status: 'completed', verification: 'claimed' });
    const written = write(rows, [{ content: 'A', status: 'completed' }]);
    expect([written.reply.notices, written.ledger]).toEqual([[], []]);
  });

  it('M5: another status, another priority or another order is no duplicate', () => {
    const rows = plan('A', 'B');
    expect(write(rows, [{ content: 'A', status: 'in_progress' }, 'B']).ledger).toEqual([
      'started t1',
    ]);
    expect(write(rows, ['A', { content: 'B', priority: 'high' }]).ledger).toEqual([
      'edited t2',
    ]);
    const permuted = write(rows, ['B', 'A']);
    expect(titles(permuted.rows)).toEqual(['B', 'A']);
    expect(permuted.reply.notices).toEqual([]);
  });

  it('M5: a write without priorities leaves them as they are', () => {
    expect(write(plan({ title: 'A', priority: 'high' }), ['A']).rows).toMatchObject([
      { priority: 'high' },
    ]);
  });

  it('V4: a reworded todo keeps its id, and the ledger tells both titles', () => {
    const rows = plan('Start', 'Tests für den Parser schreiben', 'End');
    const { ledger, rows: after } = write(rows, [
      'Start',
      'Unit-Tests für den Parser schreiben',
      'End',
    ]);
    expect(ledger).toEqual(['reworded t2']);
    expect(after[1]).toMatchObject({
      id: 't2',
      title: 'Unit-Tests für den Parser schreiben',
    });
  });

  it('V4: what is left out is dropped and stays open; mentioned again it is restored', () => {
    const dropped = write(plan('A', 'B'), ['A']);
    expect(dropped.ledger).toEqual(['dropped t2']);
    expect(dropped.counts).toMatchObject({ pending: 2, dropped: 1, unnamedDrops: 1 });
    const restored = write(dropped.rows, ['A', 'B']);
    expect(restored.ledger).toEqual(['restored t2']);
    expect(restored.counts).toMatchObject({ pending: 2, dropped: 0, unnamedDrops: 0 });
  });

  it('V4: dropped, named, left out again: cancelled-unexplained; not named yet: still open', () => {
    const rows = plan(
      'A',
      { title: 'B', droppedAt: 3 },
      { title: 'C', droppedAt: 3, droppedNamedAt: 4 },
    );
    const { ledger, counts } = write(rows, ['A']);
    expect(ledger).toEqual(['cancelled-unexplained t3']);
    expect(counts).toMatchObject({
      pending: 2,
      dropped: 1,
      cancelled: 1,
      unexplained: 1,
    });
  });

  it('T2: completed, cancelled and blocked todos may be left out and stay as they are', () => {
    const rows = plan(
      { title: 'A', status: 'completed' },
      { title: 'B', status: 'cancelled', reason: 'no need' },
      { title: 'C', status: 'blocked', reason: 'no key' },
    );
    expect(write(rows, ['D']).ledger).toEqual(['created new-1']);
  });

  it('V4: cancelled with a reason is final, without one it is dropped', () => {
    const { rows } = write(plan('A', 'B'), [
      { content: 'A', status: 'cancelled', reason: 'no need' },
      { content: 'B', status: 'cancelled' },
    ]);
    expect(rows).toMatchObject([
      { status: 'cancelled', reason: 'no need' },
      { status: 'pending', droppedAt: at },
    ]);
  });

  it('a human who removes rows cancels them; completed ones stay completed', () => {
    const rows = plan(
      'A',
      { title: 'B', status: 'completed' },
      { title: 'C', status: 'blocked', reason: 'no key' },
    );
    const { ledger, rows: after } = write(rows, [], 'human');
    expect(ledger).toEqual(['cancelled t1', 'cancelled t3']);
    expect(after).toMatchObject([
      { status: 'cancelled', reason: 'cancelled by the human' },
      { status: 'completed' },
      { status: 'cancelled', reason: 'cancelled by the human' },
    ]);
  });

  it('T6: bad items are refused one by one, the good ones apply', () => {
    const { reply, rows } = write(plan('A'), [
      'A',
      { content: '   ' },
      { content: 'x'.repeat(4097) },
      { content: 'B', status: '' },
      'D',
    ]);
    expect(reply.refused).toMatchObject([
      { index: 1, code: 'no-title' },
      { index: 2, code: 'title-too-long' },
      { index: 3, code: 'invalid-item' },
    ]);
    expect(titles(rows)).toEqual(['A', 'D']);
  });

  it('T6 P45: a word that we do not know makes no todo vanish: it is open, medium, and told', () => {
    const rows = plan(
      { title: 'A', status: 'completed' },
      { title: 'B', priority: 'high' },
    );
    const { reply, rows: after } = write(rows, [
      { content: 'A', status: 'failed' },
      { content: 'B', priority: 'critical' },
      { content: 'C', status: 'waiting' },
    ]);
    expect(after.map(({ title, status, priority }) => [title, status, priority])).toEqual(
      [
        ['A', 'pending', 'medium'],
        ['B', 'pending', 'medium'],
        ['C', 'pending', 'medium'],
      ],
    );
    expect(reply.refused).toEqual([]);
    expect(reply.notices.join('\n')).toMatch(/"failed".*\n.*"critical".*\n.*"waiting"/u);
  });

  it('T6: titles are measured in bytes', () => {
    expect(write([], ['界'.repeat(1365)]).reply.refused).toEqual([]);
    expect(write([], ['界'.repeat(1366)]).reply.refused).toMatchObject([
      { code: 'title-too-long' },
    ]);
    expect(write([], ['😀'.repeat(1025)]).reply.refused).toMatchObject([
      { code: 'title-too-long' },
    ]);
  });

  it.each([
    ['by id', { id: 't2', content: '', status: 'pending' }],
    ['by title', { content: 'Build', status: '' }],
    ['as reworded', { content: 'Build it', status: '' }],
  ])('T6: what a refused item matched %s stays untouched', (_how, item) => {
    const rows = plan('A', { title: 'Build', status: 'in_progress' }, 'C');
    const { reply, ledger, rows: after } = write(rows, ['A', item, 'C']);
    expect(reply.refused).toHaveLength(1);
    expect(ledger).toEqual([]);
    expect(after).toEqual(rows);
  });

  it('T6: a list with an id twice, or above maxTodos, is refused as a whole', () => {
    const rows = plan('A');
    const twice = write(rows, [
      { id: 'x', content: 'B' },
      { id: 'x', content: 'C' },
    ]);
    expect(twice.reply).toMatchObject({
      applied: false,
      refused: [{ index: null, code: 'duplicate-id' }],
    });
    const many = write(rows, ['A', 'B', 'C'], 'agent', {
      ...defaultSettings,
      maxTodos: 2,
    });
    expect(many.reply).toMatchObject({
      applied: false,
      refused: [{ index: null, code: 'too-many-todos' }],
    });
    expect([twice.rows, many.rows, twice.ledger, many.ledger]).toEqual([
      rows,
      rows,
      [],
      [],
    ]);
  });

  it('inserts at the start, between and at the end without touching the rows around', () => {
    const rows = plan('A', 'B');
    const { ledger, rows: after } = write(rows, ['X', 'A', 'Y', 'Z', 'B', 'W']);
    expect(titles(after)).toEqual(['X', 'A', 'Y', 'Z', 'B', 'W']);
    expect(ledger).toEqual([
      'created new-1',
      'created new-3',
      'created new-4',
      'created new-6',
    ]);
  });

  it('a second write of a permuted list is a duplicate again', () => {
    const { rows } = write(plan('A', 'B', 'C'), ['C', 'A', 'B']);
    expect(write(rows, ['C', 'A', 'B']).ledger).toEqual(['duplicate-write -']);
  });

  it('keeps counts equal to a recount through a long life of a list', () => {
    let { rows } = write([], ['A', 'B', 'C', 'D']);
    const lists: (readonly (Partial<WrittenTodo> | string)[])[] = [
      [{ content: 'A', status: 'completed' }, 'B', 'D'],
      [{ content: 'D', status: 'in_progress' }, 'A', 'B'],
      [
        { content: 'E', freshId: 'e' },
        { content: 'B', status: 'blocked', reason: 'no key' },
      ],
      [],
      [
        'A',
        'B',
        'C',
        'D',
        'E',
        { content: 'F', freshId: 'f' },
        { content: 'G', status: 'bogus' },
      ],
    ];
    for (const list of lists) {
      ({ rows } = write(rows, list));
      expect(new Set(rows.map(({ order }) => order)).size).toBe(rows.length);
    }
  });

  it('T6: a list of 10,000 is written as one', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) =>
      aTodo({
        id: `t${index}`,
        title: `Do part ${index} of the work`,
        order: (index + 1) * 1024,
      }),
    );
    const items = rows.map(({ title }) => ({ content: title, status: 'completed' }));
    expect(write(rows, items).reply.changed).toHaveLength(10_000);
  });
});

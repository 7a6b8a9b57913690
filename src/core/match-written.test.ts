import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import type { WrittenTodo } from './events.ts';
import { matchWritten } from './reconcile.ts';
import type { Todo } from './todo.ts';

function plan(...rows: (Partial<Todo> | string)[]): Todo[] {
  return rows.map((row, index) =>
    aTodo({
      id: `t${index + 1}`,
      order: (index + 1) * 1024,
      ...(typeof row === 'string' ? { title: row } : row),
    }),
  );
}

function write(...items: (Partial<WrittenTodo> | string)[]): WrittenTodo[] {
  return items.map((item, index) => ({
    content: '',
    freshId: `new-${index + 1}`,
    ...(typeof item === 'string' ? { content: item } : item),
  }));
}

function matched(items: readonly WrittenTodo[], rows: readonly Todo[]) {
  const { rowOf, unmatched } = matchWritten(items, rows);
  return {
    rows: rowOf.map((row) => row?.id ?? null),
    unmatched: unmatched.map(({ id }) => id),
  };
}

describe('matchWritten', () => {
  it('M5: an id wins over every title', () => {
    const rows = plan('Build', 'Ship');
    expect(
      matched(write({ id: 't2', content: 'Build' }, { content: 'Build' }), rows),
    ).toEqual({
      rows: ['t2', 't1'],
      unmatched: [],
    });
  });

  it("M5: the host's own id finds its row, and ours wins where both could be meant", () => {
    const rows = plan({ title: 'Build', hostKey: '1' }, { title: 'Ship', hostKey: 't1' });
    expect(
      matched(write({ id: '1', content: 'Something else entirely' }), rows).rows,
    ).toEqual(['t1']);
    expect(
      matched(write({ id: 't1', content: 'Something else entirely' }), rows).rows,
    ).toEqual(['t1']);
  });

  it('M5: an unknown id falls back to the title', () => {
    expect(
      matched(write({ id: 'nobody', content: 'Ship' }), plan('Build', 'Ship')).rows,
    ).toEqual(['t2']);
  });

  it('M5: letter case, spacing, list markers and end punctuation do not make another title', () => {
    const rows = plan('Write the parser', 'Ship it');
    expect(matched(write('  2) SHIP   it!', '- write the PARSER.'), rows).rows).toEqual([
      't2',
      't1',
    ]);
  });

  it('M5: two todos with one title are matched in order, each once', () => {
    const rows = plan('Run tests', 'Build', 'Run tests');
    expect(matched(write('Run tests', 'Run tests', 'Run tests'), rows)).toEqual({
      rows: ['t1', 't3', null],
      unmatched: ['t2'],
    });
  });

  it('M5: a finished namesake does not swallow the mention of an open todo', () => {
    const rows = plan({ title: 'Run tests', status: 'completed' }, 'Run tests');
    expect(matched(write('Run tests'), rows)).toEqual({
      rows: ['t2'],
      unmatched: ['t1'],
    });
  });

  it('V4: a reworded title between the same neighbours keeps its todo, in any language', () => {
    const rows = plan(
      'Start',
      'Tests für den Parser schreiben',
      'Middle',
      '为解析器编写测试',
      'End',
    );
    const items = write(
      'Start',
      'Unit-Tests für den Parser schreiben',
      'Middle',
      '为新解析器编写测试',
      'End',
    );
    expect(matched(items, rows)).toEqual({
      rows: ['t1', 't2', 't3', 't4', 't5'],
      unmatched: [],
    });
  });

  it('V4: a title that overlaps but stands elsewhere is another todo', () => {
    const rows = plan('Write tests for the parser', 'Build', 'Ship');
    expect(
      matched(write('Build', 'Write unit tests for the parser', 'Ship'), rows),
    ).toEqual({
      rows: ['t2', null, 't3'],
      unmatched: ['t1'],
    });
  });

  it('V4: between other neighbours, on one side only, it is another todo as well', () => {
    const rows = plan('Build', 'Write tests for the parser', 'Ship', 'Rest');
    expect(
      matched(write('Build', 'Write unit tests for the parser', 'Rest', 'Ship'), rows),
    ).toEqual({
      rows: ['t1', null, 't4', 't3'],
      unmatched: ['t2'],
    });
  });

  it('V4: a title that stands in the right place but shares too little is another todo', () => {
    expect(
      matched(
        write('Start', 'Update the README', 'End'),
        plan('Start', 'Migrate payments', 'End'),
      ),
    ).toEqual({
      rows: ['t1', null, 't3'],
      unmatched: ['t2'],
    });
  });

  it('V4: several reworded titles in one gap go to the rows they resemble most', () => {
    const rows = plan(
      'Write the lexer of the language',
      'Write the parser of the language',
    );
    const items = write(
      'Write the parser of this language',
      'Write the lexer of this language',
    );
    expect(matched(items, rows).rows).toEqual(['t2', 't1']);
  });

  it('V4: whose best row is taken gets the second best', () => {
    const rows = plan('Write unit tests for parser', 'Write unit tests for lexer');
    const items = write(
      'Write unit tests for parsers',
      'Write more unit tests for parser',
    );
    expect(matched(items, rows)).toEqual({ rows: ['t1', 't2'], unmatched: [] });
  });

  it('V4: at the start, at the end and in a list without any match the edges are the neighbours', () => {
    expect(
      matched(write('Write the docs now', 'Build'), plan('Write the docs', 'Build')).rows,
    ).toEqual(['t1', 't2']);
    expect(
      matched(write('Build', 'Write the docs now'), plan('Build', 'Write the docs')).rows,
    ).toEqual(['t1', 't2']);
    expect(matched(write('Write the docs now'), plan('Write the docs')).rows).toEqual([
      't1',
    ]);
  });

  it('matches a permuted list by title, whatever the order', () => {
    const rows = plan('A one', 'B two', 'C three', 'D four');
    expect(matched(write('D four', 'B two', 'A one', 'C three'), rows)).toEqual({
      rows: ['t4', 't2', 't1', 't3'],
      unmatched: [],
    });
  });

  it('takes every row at most once and leaves none unaccounted for', () => {
    const titles = ['Run tests', 'Run the tests', 'Run all tests', 'Run tests again'];
    const rows = plan(...titles, ...titles);
    const { rowOf, unmatched } = matchWritten(
      write('Run some tests', ...titles, 'Run tests', 'Run the test'),
      rows,
    );
    const taken = rowOf.filter((row) => row !== null).map(({ id }) => id);
    expect(new Set(taken).size).toBe(taken.length);
    expect([...taken, ...unmatched.map(({ id }) => id)].sort()).toEqual(
      rows.map(({ id }) => id).sort(),
    );
  });

  it('is quick on 10,000 rows whose every title changed', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) =>
      aTodo({ id: `t${index}`, title: `Do part ${index} of the work`, order: index + 1 }),
    );
    const items = write(...rows.map(({ title }) => `${title} properly`));
    const start = performance.now();
    matchWritten(items, rows);
    // A comparison of everything with everything would take minutes.
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

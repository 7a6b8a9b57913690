import { describe, expect, it } from 'vitest';
import { todoView } from '../../../test/support/sample-run.ts';
import type { TodoView } from '../../agent/agent-event.ts';
import { planHead, planLines } from './event-lines.ts';
import { createPage } from './page.ts';

function progress(
  columns: number | null = null,
): (todos: readonly TodoView[]) => string[] {
  const page = createPage({ columns, color: false, unicode: true });
  let before: readonly TodoView[] = [];
  return (todos) => {
    const lines = planLines(page, before, todos);
    before = todos;
    return lines;
  };
}

const a = todoView('a', 'A');
const b = todoView('b', 'B', { status: 'in_progress' });

describe('the plan while it is worked on', () => {
  it('first-use, smaller: is shown whole the first time, then a finished todo has one line', () => {
    const show = progress();
    expect(show([a, b])).toEqual(['plan [░░░░░░░░] 0/2', '  [ ] A', '  [>] B']);
    const claimed = { ...a, status: 'completed' } as const;
    expect(show([claimed, b])).toEqual(['plan [▒▒▒▒░░░░] 1/2 [x] A (claimed)']);
    const checked = { ...claimed, verification: 'passed' } as const;
    expect(show([checked, { ...b, title: 'C' }])).toEqual([
      'plan [████░░░░] 1/2 [x] A (checked)',
      '  [>] C',
    ]);
  });

  it('has no room for both on a narrow terminal, and cuts the title on a wider one', () => {
    const long = { ...a, title: 'x'.repeat(90) };
    const shown = (columns: number): string[] => {
      const show = progress(columns);
      show([long, b]);
      return show([{ ...long, status: 'completed' }, b]);
    };
    expect(shown(40)).toEqual([
      'plan [▒▒▒▒░░░░] 1/2, 1 only claimed',
      `  [x] ${'x'.repeat(23)}… (claimed)`,
    ]);
    expect(shown(60)).toEqual([`plan [▒▒▒▒░░░░] 1/2 [x] ${'x'.repeat(25)}… (claimed)`]);
  });

  it('is not shown again when nothing changed that can be seen', () => {
    const show = progress();
    show([a, b]);
    expect(show([{ ...a, priority: 'high', outcome: 'x' }, b])).toEqual([]);
    expect(show([a])).toEqual(['plan [░░░░░░░░] 0/1']);
    expect(show([])).toEqual(['plan: no todos']);
  });

  it('marks what was dropped, what is checked and what failed', () => {
    const lines = progress()([
      { ...a, dropped: true },
      { ...b, verification: 'failed' },
      { ...a, id: 'c', status: 'completed', verification: 'running' },
    ]);
    expect(lines.slice(1)).toEqual([
      '  [ ] A (dropped)',
      '  [>] B (check failed)',
      '  [x] A (check runs)',
    ]);
  });

  it('keeps a long plan short', () => {
    const todos = Array.from({ length: 100 }, (_, index) =>
      todoView(`${index}`, `Todo ${index}`),
    );
    const show = progress();
    const first = show(todos);
    expect(first).toHaveLength(42);
    expect(first.at(-1)).toBe('  and 60 more');
    const changed = show(todos.map((todo) => ({ ...todo, status: 'cancelled' })));
    expect(changed).toHaveLength(10);
    expect(changed[0]).toBe('plan [░░░░░░░░] 0/100, 100 cancelled');
    expect(changed.at(-1)).toBe('  and 92 more');
  });

  it.each([
    [0, 0, 100, '░░░░░░░░'],
    [1, 0, 100, '▒░░░░░░░'],
    [1, 1, 100, '█░░░░░░░'],
    [99, 99, 100, '███████░'],
    [100, 100, 100, '████████'],
    [3, 0, 3, '▒▒▒▒▒▒▒▒'],
    [3, 2, 3, '██████▒▒'],
    [100, 99, 100, '███████▒'],
  ])(
    'first-use 14: %i completed, %i of them checked, of %i: claims and evidence are told apart',
    (completed, checked, total, bar) => {
      const todos = Array.from({ length: total }, (_, index) =>
        todoView(`${index}`, 'T', {
          status: index < completed ? 'completed' : 'pending',
          verification: index < checked ? 'passed' : 'none',
        }),
      );
      const head = planHead(
        createPage({ columns: null, color: false, unicode: true }),
        todos,
      );
      expect(head).toContain(`plan [${bar}] ${completed}/${total}`);
      expect(head.includes(`${completed - checked} only claimed`)).toBe(
        completed > checked,
      );
    },
  );

  it('cuts the title and keeps the remark where the terminal is narrow', () => {
    const long = { ...a, title: 'x'.repeat(60), dropped: true };
    expect(progress(40)([long])[1]).toBe(`  [ ] ${'x'.repeat(23)}… (dropped)`);
  });
});

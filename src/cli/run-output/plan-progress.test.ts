import { describe, expect, it } from 'vitest';
import { todoView } from '../../../test/support/sample-run.ts';
import type { EventOf, TodoView } from '../../agent/agent-event.ts';
import { createPage } from './page.ts';
import { createPlanProgress } from './plan-progress.ts';

function plan(todos: readonly TodoView[], completed = 0, total = todos.length): EventOf<'plan-changed'> {
  return { type: 'plan-changed', at: 0, sessionId: 's', todos, completed, total };
}

function progress(columns: number | null = null): (event: EventOf<'plan-changed'>) => string[] {
  return createPlanProgress(createPage({ columns, color: false, unicode: true }));
}

const a = todoView('a', 'A');
const b = todoView('b', 'B', { status: 'in_progress' });

describe('the plan while it is worked on', () => {
  it('is shown whole the first time, then only what changed and the current todo', () => {
    const show = progress();
    expect(show(plan([a, b]))).toEqual(['plan [░░░░░░░░] 0/2', '  [ ] A', '  [>] B']);
    expect(show(plan([{ ...a, status: 'completed' }, b], 1))).toEqual([
      'plan [████░░░░] 1/2',
      '  [x] A (claimed)',
      '  [>] B',
    ]);
    expect(
      show(
        plan(
          [
            { ...a, status: 'completed', verification: 'passed' },
            { ...b, title: 'C' },
          ],
          1,
        ),
      ),
    ).toEqual(['plan [████░░░░] 1/2', '  [x] A (checked)', '  [>] C']);
  });

  it('is not shown again when nothing changed that can be seen', () => {
    const show = progress();
    show(plan([a, b]));
    expect(show(plan([{ ...a, priority: 'high', outcome: 'x' }, b]))).toEqual([]);
    expect(show(plan([a]))).toEqual(['plan [░░░░░░░░] 0/1']);
    expect(show(plan([]))).toEqual(['plan no todos']);
  });

  it('marks what was dropped, what is checked and what failed', () => {
    const lines = progress()(
      plan([
        { ...a, dropped: true },
        { ...b, verification: 'failed' },
        { ...a, id: 'c', status: 'completed', verification: 'running' },
      ]),
    );
    expect(lines.slice(1)).toEqual(['  [ ] A (dropped)', '  [>] B (check failed)', '  [x] A (check runs)']);
  });

  it('keeps a long plan short', () => {
    const todos = Array.from({ length: 100 }, (_, index) => todoView(`${index}`, `Todo ${index}`));
    const show = progress();
    const first = show(plan(todos));
    expect(first).toHaveLength(42);
    expect(first.at(-1)).toBe('  and 60 more');
    const changed = show(plan(todos.map((todo) => ({ ...todo, status: 'cancelled' }))));
    expect(changed).toHaveLength(10);
    expect(changed[0]).toBe('plan [░░░░░░░░] 0/100, 100 cancelled');
    expect(changed.at(-1)).toBe('  and 92 more');
  });

  it.each([
    [0, 100, '░░░░░░░░'],
    [1, 100, '█░░░░░░░'],
    [99, 100, '███████░'],
    [100, 100, '████████'],
    [7, 3, '████████'],
  ])('the bar at %i of %i is full only at the end and empty only at the start', (completed, total, bar) => {
    expect(progress()(plan([a], completed, total))[0]).toBe(`plan [${bar}] ${completed}/${total}`);
  });

  it('cuts the title and keeps the remark where the terminal is narrow', () => {
    const long = { ...a, title: 'x'.repeat(60), dropped: true };
    expect(progress(40)(plan([long]))[1]).toBe(`  [ ] ${'x'.repeat(23)}… (dropped)`);
  });
});

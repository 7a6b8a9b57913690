// Keeps the session's counts in step with its rows without ever reading the whole list.
import { noCounts, type PlanCounts } from '../session.ts';
import { isDropped, isOpen, type Todo } from '../todo.ts';

/** What one row adds to the counts. */
export function tally(todo: Todo): PlanCounts {
  const completed = todo.status === 'completed';
  const checked = todo.checks.length > 0;
  const dropped = isDropped(todo);
  const on = (condition: boolean) => (condition ? 1 : 0);
  return {
    pending: on(todo.status === 'pending'),
    inProgress: on(todo.status === 'in_progress'),
    completed: on(completed),
    cancelled: on(todo.status === 'cancelled'),
    blocked: on(todo.status === 'blocked'),
    dropped: on(dropped),
    unnamedDrops: on(dropped && todo.droppedNamedAt === null),
    uncovered: on(completed && !checked),
    unverified: on(completed && checked && todo.verification !== 'passed'),
    running: on(todo.verification === 'running'),
    passed: on(completed && checked && todo.verification === 'passed'),
    flaky: on(completed && todo.evidence.some(({ flaky }) => flaky)),
    failed: on(isOpen(todo) && todo.verification === 'failed'),
    unexplained: on(todo.status === 'cancelled' && todo.reason === null),
    unproved: on(todo.status === 'cancelled' && checked),
    idleClaims: on(todo.idleEnd && completed),
    idleEnds: on(todo.idleEnd && !completed),
  };
}

/** The counts after one row went from `before` (null: it was not there) to `after`. */
export function shiftCounts(counts: PlanCounts, before: Todo | null, after: Todo): PlanCounts {
  const minus = before === null ? noCounts : tally(before);
  const plus = tally(after);
  const result = { ...counts } as Record<keyof PlanCounts, number>;
  for (const key of Object.keys(noCounts) as (keyof PlanCounts)[]) {
    result[key] = counts[key] - minus[key] + plus[key];
  }
  return result;
}

export function recount(todos: Iterable<Todo>): PlanCounts {
  let counts = noCounts;
  for (const todo of todos) counts = shiftCounts(counts, null, todo);
  return counts;
}

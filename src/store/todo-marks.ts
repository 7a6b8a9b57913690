// What a store must be able to find a todo by, worked out from one row: the same answers for every store.
// It judges nothing beyond the row itself; counts and rules are core's.
import { isDropped, isOpen, priorities, type Todo } from '../core/todo.ts';

/** T5 as one number, smallest first: priority, then in_progress before pending. Null: the todo is not open. */
export function nextRank(todo: Todo): number | null {
  if (!isOpen(todo)) return null;
  return priorities.indexOf(todo.priority) * 2 + (todo.status === 'in_progress' ? 0 : 1);
}

/** Dropped, still open, and no continuation has named it yet. */
export function isUnnamedDrop(todo: Todo): boolean {
  return isDropped(todo) && todo.droppedNamedAt === null;
}

/** Open again because its check failed. */
export function hasFailedCheck(todo: Todo): boolean {
  return isOpen(todo) && todo.verification === 'failed';
}

/** Completed, with checks of its own that have not passed. */
export function isUnverified(todo: Todo): boolean {
  return todo.status === 'completed' && todo.checks.length > 0 && todo.verification !== 'passed';
}

/** A new todo with the same title would be a second one of these. */
export function isFoundByTitle(todo: Todo): boolean {
  return todo.status !== 'completed' && todo.status !== 'cancelled';
}

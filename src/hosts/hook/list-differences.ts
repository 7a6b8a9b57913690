// Compares a host's own list with what we last knew of it (G5). Only differences are changes: what our own tools or
// checks did to a todo since is not undone by a list that has not moved.
import type { NewTodo, TodoChanges } from '../../core/events.ts';
import { statusFromWord, type TodoStatus } from '../../core/todo.ts';
import type { ListedTodo } from './hook-request.ts';
import type { KnownTodo } from './trail.ts';

export type ListDifference =
  | { readonly type: 'created'; readonly item: NewTodo & { readonly hostKey: string } }
  | { readonly type: 'changed'; readonly key: string; readonly changes: TodoChanges };

export function listDifferences(
  known: Readonly<Record<string, KnownTodo>>,
  listed: readonly ListedTodo[],
  idOf: (key: string) => string,
): readonly ListDifference[] {
  const shown = new Set(listed.map(({ key }) => key));
  const differences = listed.flatMap((todo) => compare(known[todo.key], todo, idOf));
  for (const [key, { status }] of Object.entries(known)) {
    // Finished todos leave a host's list without a word; an open one that does was deleted (T2).
    if (shown.has(key) || status === 'completed' || status === 'gone') continue;
    differences.push({ type: 'changed', key, changes: { status: 'cancelled' } });
  }
  return differences;
}

function compare(
  before: KnownTodo | undefined,
  todo: ListedTodo,
  idOf: (key: string) => string,
): ListDifference[] {
  const status = statusFromWord(todo.status);
  if (status === null) return [];
  if (before === undefined) {
    const { key, title, context } = todo;
    const item = { id: idOf(key), title, hostKey: key, status, ...(context === null ? {} : { context }) };
    return [{ type: 'created', item }];
  }
  const changes: { status?: TodoStatus; title?: string } = {};
  if (status !== before.status) changes.status = status;
  if (todo.title !== before.title && todo.title.trim() !== '') changes.title = todo.title;
  return Object.keys(changes).length === 0 ? [] : [{ type: 'changed', key: todo.key, changes }];
}

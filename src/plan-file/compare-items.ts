// What changed in a plan file since it was read last, as changes of the plan. Pure. A tick is a claim, a tick taken
// out reopens, a line that is gone drops its todo; checks of a todo that exists are never changed by the file.
import type { NewTodo, TodoChanges } from '../core/events.ts';
import { isDropped, isOpen, type Todo } from '../core/todo.ts';
import { type KnownFile, type KnownItem, knownItem } from './known-file.ts';
import { type Link, linkItems } from './link-items.ts';
import type { PlanFileProblem, PlanItem } from './plan-file.ts';

/** A plan event without what the sender fills in. */
export type FileChange =
  | { readonly type: 'todos-created'; readonly items: readonly NewTodo[] }
  | { readonly type: 'todo-updated'; readonly todoId: string; readonly changes: TodoChanges }
  | {
      readonly type: 'todo-completed';
      readonly todoId: string;
      readonly status: 'completed';
      readonly outcome: string;
    };

export interface Comparison {
  readonly changes: readonly FileChange[];
  readonly items: readonly KnownItem[];
  readonly removed: readonly string[];
  readonly notices: readonly PlanFileProblem[];
}

export interface CompareOptions {
  readonly known: KnownFile | null;
  /** In order. */
  readonly plan: readonly Todo[];
  /** V3: only what a human allowed is put on a todo. */
  readonly isAllowed: (check: string) => boolean;
  readonly nextId: () => string;
  /** How the outcome of a ticked todo names the file. */
  readonly fileName: string;
}

export function compareItems(items: readonly PlanItem[], options: CompareOptions): Comparison {
  const { known, plan, nextId } = options;
  const { ofItem, gone } = linkItems(items, known, plan);
  const positions = newPositions(ofItem, plan);
  const created: NewTodo[] = [];
  const changes: FileChange[] = [];
  const notices: PlanFileProblem[] = [];
  const next = items.map((item, index): KnownItem => {
    const link = ofItem[index] ?? null;
    if (link !== null) {
      changes.push(...changesOf(item, link, options.fileName));
      if (checksDiffer(item, link)) {
        notices.push({
          line: item.line,
          sentence: 'the checks of a todo that is in the plan already are not changed by the file',
        });
      }
      return knownItem(item, link.todo.id);
    }
    const id = nextId();
    created.push(newTodo(item, id, positions[index], options, notices));
    if (item.blocked !== null) changes.push(blockedBy(id, item.blocked));
    return knownItem(item, id);
  });
  const removed = new Set(known?.removed);
  const dropped = gone.concat(plan.filter(({ id }) => removed.has(id)));
  const back = new Set(next.map(({ todoId }) => todoId));
  const missing = dropped.filter((todo) => isOpen(todo) && !back.has(todo.id));
  // Named in a continuation and left out again: said once more, it is settled as cancelled without a reason (V4).
  const said = missing.filter((todo) => !isDropped(todo) || todo.droppedNamedAt !== null);
  return {
    changes: [
      ...(created.length === 0 ? [] : [{ type: 'todos-created' as const, items: created }]),
      ...changes,
      ...said.map(({ id }) => update(id, { status: 'cancelled' })),
    ],
    items: next,
    removed: missing.map(({ id }) => id),
    notices,
  };
}

function update(todoId: string, changes: TodoChanges): FileChange {
  return { type: 'todo-updated', todoId, changes };
}

function blockedBy(todoId: string, reason: string): FileChange {
  return update(todoId, { status: 'blocked', reason });
}

function changesOf(item: PlanItem, { todo, known }: Link, fileName: string): FileChange[] {
  const fields = fieldChanges(item, todo, known);
  return [
    ...(Object.keys(fields).length === 0 ? [] : [update(todo.id, fields)]),
    ...boxChanges(item, todo, known, fileName),
  ];
}

/** Only what the file says otherwise than before: what others changed meanwhile stays theirs. */
function fieldChanges(item: PlanItem, todo: Todo, known: KnownItem | null): TodoChanges {
  const { title, context, completionCriteria } = item;
  const changed = <T>(now: T, before: T | undefined, held: T): now is T & {} =>
    now !== null && now !== before && now !== held;
  const priority = item.priority ?? (known === null || known.priority === null ? null : 'medium');
  return {
    ...(known !== null && changed(title, known.title, todo.title) ? { title } : {}),
    ...(changed(context, known?.context, todo.context) ? { context } : {}),
    ...(changed(completionCriteria, known?.completionCriteria, todo.completionCriteria)
      ? { completionCriteria }
      : {}),
    ...(changed(priority, known?.priority, todo.priority) ? { priority } : {}),
  };
}

function boxChanges(item: PlanItem, todo: Todo, known: KnownItem | null, fileName: string): FileChange[] {
  const { checked, blocked } = item;
  const isBack = known === null && (isDropped(todo) || todo.status === 'cancelled');
  if (checked && !known?.checked) {
    const outcome = `ticked in ${fileName}`;
    return todo.status === 'completed'
      ? []
      : [{ type: 'todo-completed', todoId: todo.id, status: 'completed', outcome }];
  }
  if (known?.checked && !checked && todo.status === 'completed')
    return [update(todo.id, { status: 'pending' })];
  if (checked) return [];
  if (blocked !== null && blocked !== known?.blocked) {
    const differs = todo.status !== 'blocked' || todo.reason !== blocked;
    return differs && todo.status !== 'completed' ? [blockedBy(todo.id, blocked)] : [];
  }
  if (blocked === null && known?.blocked && todo.status === 'blocked')
    return [update(todo.id, { status: 'pending' })];
  if (isBack) return [update(todo.id, { status: todo.status === 'in_progress' ? 'in_progress' : 'pending' })];
  return [];
}

function checksDiffer(item: PlanItem, { todo, known }: Link): boolean {
  const before = known?.checks ?? todo.checks;
  return item.checks.length !== before.length || item.checks.some((check) => !before.includes(check));
}

function newTodo(
  item: PlanItem,
  id: string,
  order: number | undefined,
  { isAllowed }: CompareOptions,
  notices: PlanFileProblem[],
): NewTodo {
  const checks = item.checks.filter(isAllowed);
  if (checks.length < item.checks.length) {
    notices.push({
      line: item.line,
      sentence: 'a check that no human allowed was left out; it counts from the human’s next import',
    });
  }
  return {
    id,
    title: item.title,
    ...(item.context === null ? {} : { context: item.context }),
    ...(item.completionCriteria === null ? {} : { completionCriteria: item.completionCriteria }),
    ...(item.priority === null ? {} : { priority: item.priority }),
    ...(order === undefined ? {} : { order }),
    ...(checks.length === 0 ? {} : { checks }),
    ...(item.checked ? { status: 'completed' } : {}),
  };
}

/**
 * Where new lines go: behind the todo of the line before them. Todos are placed one after the other, so that each
 * position counts those placed before it. Where the file and the plan do not share an order, they go to the end.
 */
function newPositions(links: readonly (Link | null)[], plan: readonly Todo[]): (number | undefined)[] {
  const place = new Map(plan.map(({ id }, index) => [id, index + 1]));
  const places = links.flatMap((link) => (link === null ? [] : [place.get(link.todo.id) ?? 0]));
  const inOrder = places.every((at, index) => index === 0 || at > (places[index - 1] ?? 0));
  let after = 0;
  let placed = 0;
  return links.map((link) => {
    if (link !== null) {
      after = place.get(link.todo.id) ?? after;
      return undefined;
    }
    if (!inOrder || places.length === 0 || after === plan.length) return undefined;
    placed += 1;
    return after + placed;
  });
}

// What changed in a plan file since it was read last, and what each box should show. Pure. Only differences are changes:
// a box that is still empty does not reopen what the agent just completed.
import { basename } from 'node:path';
import type { NewTodo, PlanChange, TodoChanges } from '../core/events.ts';
import { matchWritten } from '../core/reconcile.ts';
import { type Infer, list, object, text } from '../core/schema.ts';
import { isDropped, isOpen, normaliseTitle, type Todo } from '../core/todo.ts';
import type { Identifiers } from '../engine/host.ts';
import { inLine } from './line-text.ts';
import { lineFields, type PlanItem, type PlanReading } from './plan-file.ts';

const knownItem = object({ ...lineFields, todoId: text() });
type KnownItem = Infer<typeof knownItem>;

/** What the last reading said, and which todo each line stands for. */
export const knownFile = object({
  planId: text(),
  hash: text(),
  items: list(knownItem),
  /** Todos that lost their lines and are not settled yet. */
  removed: list(text()),
});
export type KnownFile = Infer<typeof knownFile>;

type Link = Readonly<{ todo: Todo; known: KnownItem | null }>;

/** Which line is which todo: as in the last reading, else by title; null: a new one. `gone`: todos without their line. */
function linkItems(items: readonly PlanItem[], known: KnownFile | null, plan: readonly Todo[]) {
  const rows = new Map(plan.map((todo) => [todo.id, todo]));
  const before = (known?.items ?? []).filter(({ todoId }) => rows.has(todoId));
  const knownOf = new Map(before.map((item) => [item.todoId, item]));
  const boxStatus = ({ checked }: KnownItem | PlanItem) => (checked ? 'completed' : 'pending');
  // By what the file said: what the agent has done since must not keep a line from its todo.
  const lastWritten = before.map((item) => {
    const titleKey = normaliseTitle(item.title);
    return { id: item.todoId, hostKey: null, titleKey, status: boxStatus(item) } as const;
  });
  const written = items.map((item) => ({ content: item.title, status: boxStatus(item) }));
  const { rowOf, unmatched } = matchWritten(written, lastWritten);
  // What was cancelled with a reason is not brought back.
  const isOver = ({ status, reason }: Todo) => status === 'cancelled' && reason !== null;
  const free = plan.filter((todo) => !knownOf.has(todo.id) && !isOver(todo));
  const unlinked = written.filter((_, index) => rowOf[index] === null);
  const others = matchWritten(unlinked, free).rowOf.values();
  const links = items.map(({ title }, index): Link | null => {
    const row = rowOf[index] ?? null;
    const todo = row === null ? others.next().value : rows.get(row.id);
    // A line that only resembles a todo of somebody else is a new one.
    if (!todo || (row === null && todo.titleKey !== normaliseTitle(title))) return null;
    return { todo, known: knownOf.get(todo.id) ?? null };
  });
  return { links, gone: unmatched.map(({ id }) => id) };
}

export interface CompareOptions {
  readonly path: string;
  readonly identifiers: Identifiers;
  /** For new todos: at a human's import all, else the checks of the human's last message (V3). */
  readonly isAllowed: (check: string) => boolean;
}

const keptChecks = 'the checks of a todo that is in the plan already are not changed by the file';
const unknownCheck = 'a check that no human allowed was left out; it counts from the human’s next import';

/** A tick is a claim, a tick taken out reopens, a line that is gone drops its todo. */
export function compareItems(
  items: readonly PlanItem[],
  known: KnownFile | null,
  plan: readonly Todo[],
  { path, identifiers, isAllowed }: CompareOptions,
) {
  const { links, gone } = linkItems(items, known, plan);
  const positions = newPositions(links, plan);
  const created: NewTodo[] = [];
  const changes: PlanChange[] = [];
  const notices: string[] = [];
  const next = items.map(({ boxOffset: _, line, ...item }, index): KnownItem => {
    const link = links[index] ?? null;
    const todoId = link?.todo.id ?? identifiers.next();
    const checks = link ? (link.known?.checks ?? link.todo.checks) : item.checks.filter(isAllowed);
    if (checks.length !== item.checks.length || item.checks.some((check) => !checks.includes(check)))
      notices.push(inLine(line, link ? keptChecks : unknownCheck));
    if (link !== null) changes.push(...fieldChanges(item, link), ...boxChanges(item, link, basename(path)));
    else {
      created.push({
        id: todoId,
        title: item.title,
        order: positions[index],
        context: item.context ?? undefined,
        completionCriteria: item.completionCriteria ?? undefined,
        priority: item.priority ?? undefined,
        checks: checks.length === 0 ? undefined : checks,
        status: item.checked ? 'completed' : undefined,
      });
      if (item.blocked !== null) changes.push(update(todoId, { status: 'blocked', reason: item.blocked }));
    }
    return { ...item, todoId };
  });
  const removed = new Set([...gone, ...(known?.removed ?? [])]);
  for (const { todoId } of next) removed.delete(todoId);
  const missing = plan.filter((todo) => removed.has(todo.id) && isOpen(todo));
  // Once more for what was named as dropped: that settles it as cancelled without a reason (V4).
  const said = missing.filter((todo) => !isDropped(todo) || todo.droppedNamedAt !== null);
  const creation: PlanChange[] = created.length === 0 ? [] : [{ type: 'todos-created', items: created }];
  return {
    changes: [...creation, ...changes, ...said.map(({ id }) => update(id, { status: 'cancelled' }))],
    items: next,
    removed: missing.map(({ id }) => id),
    notices,
  };
}

const update = (todoId: string, changes: TodoChanges) => ({ type: 'todo-updated', todoId, changes }) as const;

type Line = Omit<KnownItem, 'todoId'>;

/** What others changed stays theirs. */
function fieldChanges(item: Line, { todo, known }: Link): PlanChange[] {
  const priority = item.priority ?? (known?.priority ? 'medium' : null);
  const now = { ...item, title: known && item.title, priority };
  const fields = (['title', 'context', 'completionCriteria', 'priority'] as const).filter(
    (name) => now[name] !== null && now[name] !== known?.[name] && now[name] !== todo[name],
  );
  const changes: TodoChanges = Object.fromEntries(fields.map((name) => [name, now[name]]));
  return fields.length === 0 ? [] : [update(todo.id, changes)];
}

function boxChanges({ checked, blocked }: Line, { todo, known }: Link, fileName: string): PlanChange[] {
  const { id: todoId, status, reason } = todo;
  if (checked) {
    if (known?.checked || status === 'completed') return [];
    return [{ type: 'todo-completed', todoId, status: 'completed', outcome: `ticked in ${fileName}` }];
  }
  if (status === 'completed') return known?.checked ? [update(todoId, { status: 'pending' })] : [];
  if (blocked !== null && blocked !== known?.blocked) {
    const isSame = status === 'blocked' && reason === blocked;
    return isSame ? [] : [update(todoId, { status: 'blocked', reason: blocked })];
  }
  const isUnblocked = blocked === null && known?.blocked && status === 'blocked';
  const isBack = known === null && (isDropped(todo) || status === 'cancelled');
  if (!isUnblocked && !isBack) return [];
  return [update(todoId, { status: status === 'in_progress' ? 'in_progress' : 'pending' })];
}

/** Behind the todo of the line before; at the end where file and plan do not share an order. */
function newPositions(links: readonly (Link | null)[], plan: readonly Todo[]): (number | undefined)[] {
  const place = new Map(plan.map(({ id }, index) => [id, index + 1]));
  const places = links.map((link) => link && (place.get(link.todo.id) ?? 0));
  const kept = places.filter((at) => at !== null);
  if (kept.length === 0 || kept.some((at, index) => at <= (kept[index - 1] ?? -1))) return [];
  let after = 0;
  let placed = 0;
  return places.map((at) => {
    after = at ?? after;
    return at !== null || after === plan.length ? undefined : after + ++placed;
  });
}

/** A box that somebody changed since the last reading is theirs; an unknown one is only ever ticked. */
export function wantedBoxes({ hash, plan }: PlanReading, known: KnownFile | null, todos: readonly Todo[]) {
  const rows = new Map(todos.map((todo) => [todo.id, todo]));
  // The same text: its lines are the known ones, one for one.
  const links =
    known?.hash === hash
      ? known.items.map((item) => ({ todo: rows.get(item.todoId), known: item }))
      : linkItems(plan.items, known, todos).links;
  const boxes = plan.items.map(({ checked }, index) => {
    const { todo, known: before = null } = links[index] ?? {};
    if (todo === undefined) return checked;
    rows.delete(todo.id);
    const isDone = todo.status === 'completed';
    const mayWrite = before === null ? isDone : before.checked === checked && todo.status !== 'cancelled';
    return mayWrite ? isDone : checked;
  });
  const withoutLine = [...rows.values()].filter(({ status }) => status !== 'cancelled').length;
  return { boxes, withoutLine };
}

// What changed in a plan file since it was read last, as changes of the plan, and what each box should show.
// Only differences from the last reading are changes: a box that is still empty does not reopen what the agent completed
// a moment ago, and checks of a todo that exists are never changed by the file. Pure; core's matching does the work.
import { basename } from 'node:path';
import type { NewTodo, PlanChange, TodoChanges } from '../core/events.ts';
import { matchWritten } from '../core/reconcile.ts';
import { type Infer, list, object, text } from '../core/schema.ts';
import { isDropped, isOpen, normaliseTitle, type Todo } from '../core/todo.ts';
import type { Identifiers } from '../engine/host.ts';
import { boxFor } from './format-plan.ts';
import { lineFields, type PlanFile, type PlanFileProblem, type PlanItem } from './plan-file.ts';

export interface Reading {
  readonly text: string;
  readonly hash: string;
  readonly plan: PlanFile;
}

const knownItem = object({ ...lineFields, todoId: text() });
type KnownItem = Infer<typeof knownItem>;

/** What the last reading of a plan file said, and which todo each line stands for. */
export const knownFile = object({
  planId: text(),
  /** Of the text that was read or written last. */
  hash: text(),
  items: list(knownItem),
  /** Todos whose lines were removed and that are not settled yet. */
  removed: list(text()),
});
export type KnownFile = Infer<typeof knownFile>;

/** `known`: what the file said of it last; null: no line stood for it. */
interface Link {
  readonly todo: Todo;
  readonly known: KnownItem | null;
}

/**
 * Which line is which todo: first as in the last reading (by title, then as reworded between the same neighbours), then
 * by title among the todos that no line stands for. One for each line; null: it is new. `gone`: todos without their line.
 */
function linkItems(items: readonly PlanItem[], known: KnownFile | null, plan: readonly Todo[]) {
  const rows = new Map(plan.map((todo) => [todo.id, todo]));
  const before = (known?.items ?? []).filter(({ todoId }) => rows.has(todoId));
  const knownOf = new Map(before.map((item) => [item.todoId, item]));
  const boxStatus = ({ checked }: KnownItem | PlanItem) => (checked ? 'completed' : 'pending');
  // The row as the file knew it: what the agent has done since must not keep a line from its todo.
  const lastWritten = before.map((item) => {
    const titleKey = normaliseTitle(item.title);
    return { id: item.todoId, hostKey: null, titleKey, status: boxStatus(item) } as const;
  });
  const written = items.map((item) => ({ content: item.title, status: boxStatus(item) }));
  const { rowOf, unmatched } = matchWritten(written, lastWritten);
  // Of the others, one that was cancelled with a reason is not brought back.
  const free = plan.filter(
    ({ id, status, reason }) => !knownOf.has(id) && !(status === 'cancelled' && reason !== null),
  );
  const unlinked = written.filter((_, index) => rowOf[index] === null);
  const others = matchWritten(unlinked, free).rowOf.values();
  const links = items.map(({ title }, index): Link | null => {
    const row = rowOf[index] ?? null;
    const todo = row === null ? others.next().value : rows.get(row.id);
    // A line that only resembles a todo of somebody else is a new one.
    if (!todo || (row === null && todo.titleKey !== normaliseTitle(title))) return null;
    return { todo, known: knownOf.get(todo.id) ?? null };
  });
  return { links, gone: unmatched.flatMap(({ id }) => rows.get(id) ?? []) };
}

export interface CompareOptions {
  /** The outcome of a ticked todo names the file. */
  readonly path: string;
  readonly identifiers: Identifiers;
  /**
   * V3: which checks may be put on new todos. At a human's import all that stand in the file; while an agent works
   * only those of the snapshot that the human's last message took, since the agent can edit the file.
   */
  readonly isAllowed: (check: string) => boolean;
}

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
  const notices: PlanFileProblem[] = [];
  const next = items.map(({ boxOffset: _, line, ...item }, index): KnownItem => {
    const link = links[index] ?? null;
    if (link !== null) {
      changes.push(...fieldChanges(item, link), ...boxChanges(item, link, basename(path)));
      const before = link.known?.checks ?? link.todo.checks;
      if (item.checks.length !== before.length || item.checks.some((check) => !before.includes(check))) {
        const sentence = 'the checks of a todo that is in the plan already are not changed by the file';
        notices.push({ line, sentence });
      }
      return { ...item, todoId: link.todo.id };
    }
    const todoId = identifiers.next();
    const checks = item.checks.filter(isAllowed);
    if (checks.length < item.checks.length) {
      const sentence = 'a check that no human allowed was left out; it counts from the human’s next import';
      notices.push({ line, sentence });
    }
    created.push({
      id: todoId,
      title: item.title,
      context: item.context ?? undefined,
      completionCriteria: item.completionCriteria ?? undefined,
      priority: item.priority ?? undefined,
      order: positions[index],
      checks: checks.length === 0 ? undefined : checks,
      status: item.checked ? 'completed' : undefined,
    });
    if (item.blocked !== null) changes.push(update(todoId, { status: 'blocked', reason: item.blocked }));
    return { ...item, todoId };
  });
  const removed = new Set([...gone.map(({ id }) => id), ...(known?.removed ?? [])]);
  for (const { todoId } of next) removed.delete(todoId);
  const missing = plan.filter((todo) => removed.has(todo.id) && isOpen(todo));
  // Named in a continuation and left out again: said once more, it is settled as cancelled without a reason (V4).
  const said = missing.filter((todo) => !isDropped(todo) || todo.droppedNamedAt !== null);
  const creation: PlanChange[] = created.length === 0 ? [] : [{ type: 'todos-created', items: created }];
  return {
    changes: [...creation, ...changes, ...said.map(({ id }) => update(id, { status: 'cancelled' }))],
    items: next,
    removed: missing.map(({ id }) => id),
    notices,
  };
}

const update = (todoId: string, changes: TodoChanges): PlanChange => ({
  type: 'todo-updated',
  todoId,
  changes,
});

type Line = Omit<KnownItem, 'todoId'>;

/** Only what the file says otherwise than before: what others changed meanwhile stays theirs. */
function fieldChanges(item: Line, { todo, known }: Link): PlanChange[] {
  const priority = item.priority ?? (known === null || known.priority === null ? null : 'medium');
  const now = { ...item, title: known === null ? null : item.title, priority };
  const fields = (['title', 'context', 'completionCriteria', 'priority'] as const).filter(
    (name) => now[name] !== null && now[name] !== known?.[name] && now[name] !== todo[name],
  );
  const changes: TodoChanges = Object.fromEntries(fields.map((name) => [name, now[name]]));
  return fields.length === 0 ? [] : [update(todo.id, changes)];
}

function boxChanges({ checked, blocked }: Line, { todo, known }: Link, fileName: string): PlanChange[] {
  const { id: todoId, status } = todo;
  if (checked) {
    const outcome = `ticked in ${fileName}`;
    const isNews = !known?.checked && status !== 'completed';
    return isNews ? [{ type: 'todo-completed', todoId, status: 'completed', outcome }] : [];
  }
  if (known?.checked && status === 'completed') return [update(todoId, { status: 'pending' })];
  if (blocked !== null && blocked !== known?.blocked) {
    const differs = status !== 'blocked' || todo.reason !== blocked;
    return differs && status !== 'completed' ? [update(todoId, { status: 'blocked', reason: blocked })] : [];
  }
  if (blocked === null && known?.blocked && status === 'blocked')
    return [update(todoId, { status: 'pending' })];
  const isBack = known === null && (isDropped(todo) || status === 'cancelled');
  return isBack ? [update(todoId, { status: status === 'in_progress' ? 'in_progress' : 'pending' })] : [];
}

/**
 * Where new lines go: behind the todo of the line before them. Todos are placed one after the other, so that each
 * position counts those placed before it. Where the file and the plan do not share an order, they go to the end.
 */
function newPositions(links: readonly (Link | null)[], plan: readonly Todo[]): (number | undefined)[] {
  const place = new Map(plan.map(({ id }, index) => [id, index + 1]));
  const places = links.map((link) => link && (place.get(link.todo.id) ?? 0));
  const kept = places.filter((at) => at !== null);
  if (kept.length === 0 || kept.some((at, index) => at <= (kept[index - 1] ?? -1))) return [];
  let after = 0;
  let placed = 0;
  return places.map((at) => {
    after = at ?? after;
    if (at !== null || after === plan.length) return undefined;
    placed += 1;
    return after + placed;
  });
}

/**
 * What each box should show, and how many todos no line stands for, cancelled ones aside. A box that somebody changed
 * since the last reading is theirs until it was pulled; where nothing is known of a line, a box is only ever ticked.
 */
export function wantedBoxes({ plan, hash }: Reading, known: KnownFile | null, todos: readonly Todo[]) {
  const rows = new Map(todos.map((todo) => [todo.id, todo]));
  // The text is the one that was read last: its lines are the known ones, one for one.
  const links =
    known?.hash === hash
      ? known.items.map((item) => ({ todo: rows.get(item.todoId), known: item }))
      : linkItems(plan.items, known, todos).links;
  const boxes = plan.items.map(({ checked }, index) => {
    const { todo, known: before = null } = links[index] ?? {};
    if (todo === undefined) return checked;
    rows.delete(todo.id);
    const mayWrite = before === null ? todo.status === 'completed' : before.checked === checked;
    return (mayWrite ? boxFor(todo.status) : null) ?? checked;
  });
  const withoutLine = [...rows.values()].filter(({ status }) => status !== 'cancelled').length;
  return { boxes, withoutLine };
}

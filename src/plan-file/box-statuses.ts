// Which status each box of a plan file should show. A box that somebody changed since the last reading is theirs
// until it was pulled; where nothing is known of a line, a box is only ever ticked. Pure.
import type { Todo, TodoStatus } from '../core/todo.ts';
import type { KnownFile } from './known-file.ts';
import { type Link, linkItems } from './link-items.ts';
import type { PlanItem } from './plan-file.ts';

export interface BoxStatuses {
  /** By index of the item; what is missing stays as it is. */
  readonly statuses: ReadonlyMap<number, TodoStatus>;
  /** Todos that no line stands for, cancelled ones aside. */
  readonly withoutLine: number;
}

/** @param hash of the text that the items were read from */
export function boxStatuses(
  items: readonly PlanItem[],
  hash: string,
  known: KnownFile | null,
  plan: readonly Todo[],
): BoxStatuses {
  const links = known?.hash === hash ? knownLinks(known, plan) : linkItems(items, known, plan).ofItem;
  const statuses = new Map<number, TodoStatus>();
  const linked = new Set<string>();
  items.forEach(({ checked }, index) => {
    const link = links[index] ?? null;
    if (link === null) return;
    linked.add(link.todo.id);
    const mayWrite = link.known === null ? link.todo.status === 'completed' : link.known.checked === checked;
    if (mayWrite) statuses.set(index, link.todo.status);
  });
  const live = plan.filter(({ id, status }) => status !== 'cancelled' && !linked.has(id));
  return { statuses, withoutLine: live.length };
}

/** The text is the one that was read last: its lines are the known ones, one for one. */
function knownLinks(known: KnownFile, plan: readonly Todo[]): (Link | null)[] {
  const rows = new Map(plan.map((todo) => [todo.id, todo]));
  return known.items.map((item) => {
    const todo = rows.get(item.todoId);
    return todo === undefined ? null : { todo, known: item };
  });
}

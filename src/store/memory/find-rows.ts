// Picks the rows that `needs` names out of a plan that is held in memory, by looking at every row.
// Meant to be obviously right rather than clever: it is what the indexed stores are measured against.
import { type Needs, noRows, type Rows } from '../../core/rows.ts';
import type { Todo } from '../../core/todo.ts';
import { hasFailedCheck, isFoundByTitle, isUnnamedDrop, isUnverified, nextRank } from '../todo-marks.ts';

/** `todos` in order of arrival. */
export function findRows(todos: Iterable<Todo>, needs: Needs, fingerprintSeen: boolean): Rows {
  if (!needsPlan(needs)) return { ...noRows, fingerprintSeen };
  const plan = inOrder(todos);
  return {
    plan: needs.plan ? plan : [],
    byId: byKeys(needs.ids, plan),
    byTitle: byTitles(needs.titleKeys, plan),
    atPosition: Object.fromEntries(
      needs.positions.flatMap((position) => {
        const todo = plan[position - 1];
        return todo === undefined ? [] : [[position, todo] as const];
      }),
    ),
    next: needs.next > 0 ? nextTodos(plan).slice(0, needs.next) : [],
    dropped: first(needs.dropped, plan, isUnnamedDrop),
    failed: first(needs.failed, plan, hasFailedCheck),
    inProgress: first(needs.inProgress, plan, (todo) => todo.status === 'in_progress'),
    unverified: first(needs.unverified, plan, isUnverified),
    fingerprintSeen,
  };
}

/** Most events need no row at all; they should not pay for sorting the plan. */
function needsPlan(needs: Needs): boolean {
  const lists = needs.ids.length + needs.titleKeys.length + needs.positions.length;
  const limits = needs.next + needs.dropped + needs.failed + needs.inProgress + needs.unverified;
  return needs.plan || lists + limits > 0;
}

/** By rank; where two ranks are equal the todo that came first stands first. */
export function inOrder(todos: Iterable<Todo>): Todo[] {
  return [...todos].sort((one, other) => one.order - other.order);
}

/** T5. The sort is stable, so that equal ranks keep the plan's order. */
function nextTodos(plan: readonly Todo[]): Todo[] {
  const open = plan.filter((todo) => nextRank(todo) !== null);
  return open.sort((one, other) => (nextRank(one) ?? 0) - (nextRank(other) ?? 0));
}

function byKeys(keys: readonly string[], plan: readonly Todo[]): Todo[] {
  const found = new Set<Todo>();
  for (const key of keys) {
    for (const todo of plan) if (todo.id === key) found.add(todo);
    for (const todo of plan) if (todo.hostKey === key) found.add(todo);
  }
  return [...found];
}

function byTitles(titleKeys: readonly string[], plan: readonly Todo[]): Todo[] {
  const found = new Set<Todo>();
  for (const titleKey of titleKeys) {
    for (const todo of plan) if (todo.titleKey === titleKey && isFoundByTitle(todo)) found.add(todo);
  }
  return [...found];
}

function first(limit: number, plan: readonly Todo[], is: (todo: Todo) => boolean): Todo[] {
  return limit > 0 ? plan.filter(is).slice(0, limit) : [];
}

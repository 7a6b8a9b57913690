// Which line of a plan file is which todo: first as in the last reading (by title, then as reworded between the same
// neighbours), then by title among the todos that no line stands for. Pure; core's own matching does the work.
import type { WrittenTodo } from '../core/events.ts';
import { matchWritten } from '../core/plan/match-written.ts';
import { normaliseTitle, type Todo } from '../core/todo.ts';
import type { KnownFile, KnownItem } from './known-file.ts';
import type { PlanItem } from './plan-file.ts';

export interface Link {
  readonly todo: Todo;
  /** What the file said of it last; null: no line stood for it. */
  readonly known: KnownItem | null;
}

export interface Links {
  /** One for each item; null: it is new. */
  readonly ofItem: readonly (Link | null)[];
  /** Todos whose lines are gone. */
  readonly gone: readonly Todo[];
}

export function linkItems(items: readonly PlanItem[], known: KnownFile | null, plan: readonly Todo[]): Links {
  const rows = new Map(plan.map((todo) => [todo.id, todo]));
  const before = (known?.items ?? []).flatMap((item) => {
    const todo = rows.get(item.todoId);
    return todo === undefined ? [] : [{ item, todo }];
  });
  const knownOf = new Map(before.map(({ item }) => [item.todoId, item]));
  const { rowOf, unmatched } = matchWritten(items.map(asWritten), before.map(asLastWritten));
  const free = freeTodos(plan, knownOf);
  const ofItem = items.map((item, index): Link | null => {
    const id = rowOf[index]?.id;
    const todo = id === undefined ? free(item) : rows.get(id);
    return todo === undefined ? null : { todo, known: knownOf.get(todo.id) ?? null };
  });
  const gone = unmatched.flatMap(({ id }) => rows.get(id) ?? []);
  return { ofItem, gone };
}

function asWritten({ title, checked }: PlanItem, index: number): WrittenTodo {
  return { content: title, status: boxStatus(checked), freshId: String(index) };
}

/** The row as the file knew it: what the agent has done since must not keep a line from its todo. */
function asLastWritten({ item, todo }: { item: KnownItem; todo: Todo }): Todo {
  return {
    ...todo,
    hostKey: null,
    titleKey: normaliseTitle(item.title),
    status: boxStatus(item.checked),
  };
}

function boxStatus(checked: boolean): 'completed' | 'pending' {
  return checked ? 'completed' : 'pending';
}

/** Todos without a line, by title; open ones first. One that was cancelled with a reason is not brought back. */
function freeTodos(
  plan: readonly Todo[],
  taken: ReadonlyMap<string, unknown>,
): (item: PlanItem) => Todo | undefined {
  const byTitle = new Map<string, Todo[]>();
  const isDone = ({ status }: Todo): number => (status === 'completed' || status === 'cancelled' ? 1 : 0);
  for (const todo of plan) {
    if (taken.has(todo.id) || (todo.status === 'cancelled' && todo.reason !== null)) continue;
    const namesakes = byTitle.get(todo.titleKey) ?? [];
    namesakes.push(todo);
    byTitle.set(todo.titleKey, namesakes);
  }
  for (const namesakes of byTitle.values()) namesakes.sort((a, b) => isDone(a) - isDone(b));
  return ({ title }) => byTitle.get(normaliseTitle(title))?.shift();
}

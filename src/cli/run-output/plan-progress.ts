// The plan while it is worked on: everything the first time, afterwards a bar, what changed and the current todo.
// It remembers what it showed and says nothing when nothing changed.

import type { EventOf, TodoView } from '../../agent/agent-event.ts';
import { isEnded } from '../../core/todo.ts';
import { displayWidth } from './display-width.ts';
import type { Page } from './page.ts';
import { todoMarks } from './todo-standing.ts';

/** A plan of 200 todos must not push everything else off the screen. */
const shownAtFirst = 40;
const shownAfterwards = 8;
const barCells = 8;
const longestTitle = 120;

export function createPlanProgress(page: Page): (event: EventOf<'plan-changed'>) => string[] {
  let shown: ReadonlyMap<string, string> | null = null;

  return ({ todos, completed, total }) => {
    const states = new Map(todos.map((todo) => [todo.id, stateOf(todo)]));
    const before = shown;
    shown = states;
    if (before === null) return [...head(page, todos, completed, total), ...list(page, todos, shownAtFirst)];
    const changed = todos.filter((todo) => before.get(todo.id) !== states.get(todo.id));
    if (changed.length === 0 && before.size === states.size) return [];
    const isShown = new Set(changed.map(({ id }) => id));
    const current = todos.find(({ status }) => status === 'in_progress');
    const rest = current === undefined || isShown.has(current.id) ? [] : [current];
    return [
      ...head(page, todos, completed, total),
      ...list(page, changed, shownAfterwards),
      ...rest.flatMap((todo) => todoLine(page, todo)),
    ];
  };
}

/** What can be seen of a todo here; anything else may change without a word. */
function stateOf(todo: TodoView): string {
  return JSON.stringify([
    todo.title.slice(0, longestTitle * 2),
    todo.status,
    todo.verification,
    todo.dropped,
  ]);
}

function head(page: Page, todos: readonly TodoView[], completed: number, total: number): string[] {
  const { mark, text } = planHead(page, todos, completed, total);
  return page.entry({ mark, text, ...(total === 0 ? {} : { markStyle: 'green' as const }) });
}

/** The bar, and how far the plan is. */
export function planHead(
  page: Page,
  todos: readonly TodoView[],
  completed: number,
  total: number,
): { readonly mark: string; readonly text: string } {
  if (total === 0) return { mark: 'plan', text: 'no todos' };
  const counted = (status: TodoView['status']): string => {
    const amount = todos.filter((todo) => todo.status === status).length;
    return amount === 0 ? '' : `, ${amount} ${status}`;
  };
  return {
    mark: `plan ${bar(page, completed, total)}`,
    text: `${completed}/${total}${counted('blocked')}${counted('cancelled')}`,
  };
}

/** Full only when everything is completed, empty only when nothing is. */
function bar({ signs }: Page, completed: number, total: number): string {
  const share = Math.min(1, Math.max(0, completed / total));
  const cells = share === 1 ? barCells : Math.min(barCells - 1, Math.ceil(share * barCells));
  return `[${signs.barFull.repeat(cells)}${signs.barEmpty.repeat(barCells - cells)}]`;
}

function list(page: Page, todos: readonly TodoView[], most: number): string[] {
  const hidden = todos.length - most;
  const more =
    hidden > 0 ? page.entry({ mark: '', indent: 2, text: `and ${hidden} more`, style: 'dim' }) : [];
  return [...todos.slice(0, most).flatMap((todo) => todoLine(page, todo)), ...more];
}

/** One line: the title gives way, the remark stays. */
export function todoLine(page: Page, todo: TodoView): string[] {
  const [mark, markStyle] = todoMarks[todo.status];
  const remark = remarkOf(todo);
  const room = page.width === null ? Infinity : page.width - 2 - mark.length - 1 - displayWidth(remark);
  const title = page.clip(todo.title, Math.max(8, Math.min(longestTitle, room)));
  const style = todo.status === 'in_progress' ? ({ style: 'bold' } as const) : {};
  return page.entry({ mark, markStyle, text: `${title}${remark}`, indent: 2, cut: true, ...style });
}

/** What the system knows of it, in brackets; empty: nothing worth a word. */
export function remarkOf({ status, verification, dropped }: TodoView): string {
  if (dropped && !isEnded({ status })) return ' (dropped)';
  if (verification === 'failed') return ' (check failed)';
  if (verification === 'running') return ' (check runs)';
  if (status !== 'completed') return '';
  return verification === 'passed' ? ' (checked)' : ' (claimed)';
}

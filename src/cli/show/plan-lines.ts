// The plan in lines: the bar, the todos, what became of them. Pure.
import type { TodoView } from '../../agent/agent-event.ts';
import type { Style } from '../print.ts';
import { displayWidth, type Page, wrap } from './page.ts';
import { remarkOf, standingOf, todoMarks } from './words.ts';

/** A plan of 200 todos must not push everything else off the screen. */
const shownAtFirst = 40;
const shownAfterwards = 8;
const longestTitle = 120;
const barCells = 8;

/** Everything the first time, afterwards a bar, what changed and the current todo; nothing when nothing changed. */
export function planLines(page: Page, before: readonly TodoView[], todos: readonly TodoView[]): string[] {
  const head = wrap(planHead(page, todos), page.width).map((line, index) =>
    index === 0 ? line : `  ${line}`,
  );
  if (before.length === 0) return todos.length === 0 ? [] : [...head, ...list(page, todos, shownAtFirst)];
  const changed = changedTodos(before, todos);
  if (changed.length === 0 && before.length === todos.length) return [];
  const current = todos.find(({ status }) => status === 'in_progress');
  const rest = current === undefined || changed.includes(current) ? [] : [current];
  return [...head, ...list(page, changed, shownAfterwards), ...rest.flatMap((todo) => todoLine(page, todo))];
}

/** What came of them; a todo that was begun or planned stands in the living part. */
export function todoOutcomes(page: Page, before: readonly TodoView[], todos: readonly TodoView[]): string[] {
  const isTold = ({ status, verification, dropped }: TodoView): boolean =>
    dropped || verification === 'failed' || !(status === 'pending' || status === 'in_progress');
  return changedTodos(before, todos)
    .filter(isTold)
    .flatMap((todo) => todoLine(page, todo));
}

function changedTodos(before: readonly TodoView[], todos: readonly TodoView[]): TodoView[] {
  const seen = ({ title, status, verification, dropped }: TodoView): string =>
    JSON.stringify([title.slice(0, longestTitle * 2), status, verification, dropped]);
  const known = new Map(before.map((todo) => [todo.id, seen(todo)]));
  return todos.filter((todo) => known.get(todo.id) !== seen(todo));
}

/** The bar, and how far the plan is: what is checked and what is only claimed are told apart. */
export function planHead(page: Page, todos: readonly TodoView[]): string {
  const amount = (fits: (todo: TodoView) => boolean): number => todos.filter(fits).length;
  const checked = amount((todo) => standingOf(todo, false) === 'checked');
  const completed = amount(({ status }) => status === 'completed');
  const parts = [
    [completed - checked, 'only claimed'],
    [amount(({ status }) => status === 'blocked'), 'blocked'],
    [amount(({ status }) => status === 'cancelled'), 'cancelled'],
  ] as const;
  const more = parts.flatMap(([number, word]) => (number === 0 ? [] : [`, ${number} ${word}`])).join('');
  if (todos.length === 0) return 'plan: no todos';
  return `plan [${bar(page, checked, completed, todos.length)}] ${completed}/${todos.length}${more}`;
}

/** Full only when everything is completed, empty only when nothing is; one cell for whatever there is. */
function bar({ signs, paint }: Page, checked: number, completed: number, total: number): string {
  const cells = (amount: number): number =>
    amount >= total ? barCells : Math.min(barCells - 1, Math.ceil((amount / total) * barCells));
  const filled = cells(completed);
  const proved = Math.min(cells(checked), checked < completed ? Math.max(0, filled - 1) : filled);
  return (
    paint('green', signs.checked.repeat(proved)) +
    paint('yellow', signs.claimed.repeat(filled - proved)) +
    signs.open.repeat(barCells - filled)
  );
}

function list(page: Page, todos: readonly TodoView[], most: number): string[] {
  const hidden = todos.length - most;
  const more =
    hidden > 0 ? page.entry({ mark: '', indent: 2, text: `and ${hidden} more`, style: 'dim' }) : [];
  return [...todos.slice(0, most).flatMap((todo) => todoLine(page, todo)), ...more];
}

/** One line: the title gives way, the remark stays. */
function todoLine(page: Page, todo: TodoView): string[] {
  const [mark, markStyle] = todoMarks[todo.status];
  const remark = remarkOf(todo);
  const room = page.width === null ? Infinity : page.width - 2 - mark.length - 1 - displayWidth(remark);
  const title = page.clip(todo.title, Math.max(8, Math.min(longestTitle, room)));
  const style: { style?: Style } = todo.status === 'in_progress' ? { style: 'bold' } : {};
  return page.entry({ mark, markStyle, text: `${title}${remark}`, indent: 2, cut: true, ...style });
}

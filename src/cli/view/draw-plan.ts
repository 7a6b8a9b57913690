// The plan in the living part: a bar, how far it is, and the todos around the current one.
import type { Page } from '../run-output/page.ts';
import { planHead, remarkOf } from '../run-output/plan-progress.ts';
import { todoMarks } from '../run-output/todo-standing.ts';
import { planWindow } from './plan-window.ts';
import { lineWidth, styledLine } from './styled-line.ts';
import type { ViewState } from './view-state.ts';

export function drawPlan(page: Page, state: ViewState): string[] {
  const { todos, completed } = state;
  if (todos.length === 0) return [];
  const { first, shown } = planWindow(state);
  const { mark, text } = planHead(page, todos, completed, todos.length);
  const hidden = todos.length - shown;
  const range = hidden === 0 ? '' : `todos ${first + 1}-${first + shown} of ${todos.length}`;
  const place = state.scroll === null || hidden === 0 ? range : `${range}, Tab goes back`;
  return [
    styledLine(page, [[mark, 'green'], text, [place, 'dim']]),
    ...todos.slice(first, first + shown).map((todo) => {
      const [sign, style] = todoMarks[todo.status];
      const remark = remarkOf(todo).trim();
      // The title gives way, the remark stays.
      const room = Math.max(8, lineWidth(page) - 2 - sign.length - 2 - remark.length);
      const title = page.clip(todo.title, room);
      const isCurrent = todo.status === 'in_progress';
      return styledLine(page, [[sign, style], isCurrent ? [title, 'bold'] : title, [remark, 'dim']], 2);
    }),
  ];
}

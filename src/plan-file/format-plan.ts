// Writes plans into files: todos as a task list that reads back as the same todos, and ticks into the boxes of a file
// that is there already, one character between two brackets and never another one.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Todo, TodoStatus } from '../core/todo.ts';
import { escapeComment, extendPath, formatCheckLine, formatPriority } from './line-text.ts';
import { isBox, type PlanFile } from './plan-file.ts';

/** Well below what the reader takes; deeper todos say their context in words. */
const mostLevels = 10;

/**
 * Cancelled todos are left out: a box cannot say "not any more", and an open one would bring them back.
 * @param todos in plan order. No todos, no text.
 */
export function formatPlan(todos: readonly Todo[]): string {
  /** Paths of the todos that are still open to the left. */
  const paths: string[] = [];
  const lines = todos
    .filter(({ status }) => status !== 'cancelled')
    .flatMap((todo) => {
      // Nested where the context is the path of such a todo; else at the top.
      const found = todo.context === null ? 0 : paths.lastIndexOf(todo.context) + 1;
      const depth = found > mostLevels ? 0 : found;
      const title = oneLine(todo.title, Number.MAX_SAFE_INTEGER);
      paths.splice(depth, paths.length, extendPath(paths[depth - 1] ?? '', title));
      return itemLines(todo, title, '  '.repeat(depth), depth === 0);
    });
  return lines.map((line) => `${stripTerminalControls(line)}\n`).join('');
}

function itemLines(todo: Todo, title: string, indent: string, saysContext: boolean): string[] {
  const said = (name: string, text: string | null): string[] => {
    const value = text === null ? '' : escapeComment(oneLine(text, Number.MAX_SAFE_INTEGER));
    return value === '' ? [] : [`${indent}  - ${name}: ${value}`];
  };
  return [
    `${indent}- ${todo.status === 'completed' ? '[x]' : '[ ]'} ${formatPriority(escapeComment(title), todo.priority)}`,
    ...(saysContext ? said('context', todo.context) : []),
    ...said('done when', todo.completionCriteria),
    ...(todo.status === 'blocked' ? said('blocked', todo.reason) : []),
    ...todo.checks.map((check) => `${indent}  - check: ${formatCheckLine(check)}`),
  ];
}

/** @param boxes which of them shall be ticked, in order. `plan` must be the parse of `text`. */
export function writeBoxes(text: string, { items }: PlanFile, boxes: readonly boolean[]): string {
  let written = '';
  let at = 0;
  items.forEach(({ boxOffset, checked }, index) => {
    const wanted = boxes[index] ?? checked;
    if (wanted === checked || !isBox(text, boxOffset)) return;
    written += text.slice(at, boxOffset) + (wanted ? 'x' : ' ');
    at = boxOffset + 1;
  });
  return written + text.slice(at);
}

/** null: a box cannot say this. What it can say of other statuses (in progress, blocked) is that it is empty. */
export function boxFor(status: TodoStatus): boolean | null {
  return status === 'cancelled' ? null : status === 'completed';
}

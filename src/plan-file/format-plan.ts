// Writes todos as a plan file: a task list with priorities, checks and reasons that reads back as the same todos.
// Cancelled todos are left out: a box cannot say "not any more", and an open one would bring them back.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Todo } from '../core/todo.ts';
import { formatCheckLine } from './check-line.ts';
import { extendPath } from './context-path.ts';
import { escapeComment } from './item-text.ts';
import { formatPriority } from './priority-mark.ts';

/** Well below what the reader takes; deeper todos say their context in words. */
const mostLevels = 10;

interface Level {
  readonly path: string;
}

/** @param todos in plan order. No todos, no text. */
export function formatPlan(todos: readonly Todo[]): string {
  const levels: Level[] = [];
  const lines = todos
    .filter(({ status }) => status !== 'cancelled')
    .flatMap((todo) => {
      const depth = depthOf(todo, levels);
      const title = oneLine(todo.title, Number.MAX_SAFE_INTEGER);
      const nested = depth > 0 || todo.context === null;
      levels.splice(depth, levels.length, { path: extendPath(levels[depth - 1]?.path ?? '', title) });
      return itemLines(todo, title, '  '.repeat(depth), !nested);
    });
  return lines.map((line) => `${stripTerminalControls(line)}\n`).join('');
}

/** Nested where the context is the path of a todo that is still open to the left; else at the top. */
function depthOf({ context }: Todo, levels: readonly Level[]): number {
  if (context === null) return 0;
  const depth = levels.findLastIndex(({ path }) => path === context) + 1;
  return depth > mostLevels ? 0 : depth;
}

function itemLines(todo: Todo, title: string, indent: string, saysContext: boolean): string[] {
  const box = todo.status === 'completed' ? '[x]' : '[ ]';
  const said = (name: string, text: string | null): string[] => {
    const value = text === null ? '' : escapeComment(oneLine(text, Number.MAX_SAFE_INTEGER));
    return value === '' ? [] : [`${indent}  - ${name}: ${value}`];
  };
  return [
    `${indent}- ${box} ${formatPriority(escapeComment(title), todo.priority)}`,
    ...(saysContext ? said('context', todo.context) : []),
    ...said('done when', todo.completionCriteria),
    ...(todo.status === 'blocked' ? said('blocked', todo.reason) : []),
    ...todo.checks.map((check) => `${indent}  - check: ${formatCheckLine(check)}`),
  ];
}

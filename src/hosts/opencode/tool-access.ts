// What each of OpenCode's tools can do to the workspace, as a table. A name that is not in it may write: work that is
// not seen would make an honest agent look idle, and that mistake is the worse one.
import type { ToolAccess } from '../../core/events.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';

export const hostTodoTool = 'todowrite';

const accessOf: ReadonlyMap<string, ToolAccess> = new Map<string, ToolAccess>([
  ...['read', 'glob', 'grep', 'list', 'lsp', 'webfetch', 'websearch', 'skill', 'question', 'invalid'].map(
    (name) => [name, 'read'] as const,
  ),
  ...['edit', 'write', 'patch', 'apply_patch'].map((name) => [name, 'write'] as const),
  ...[hostTodoTool, 'todoread', ...todoToolsFor('agent').map(({ name }) => name)].map(
    (name) => [name, 'todo'] as const,
  ),
]);

export function toolAccess(name: string): ToolAccess {
  return accessOf.get(name) ?? 'unknown';
}

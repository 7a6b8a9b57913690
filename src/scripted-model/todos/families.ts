// The table of todo tool families. Which tools a request offers decides the family; the first that fits wins, our own
// before the hosts', unless a script asks for one by name.
import type { PlannedCall } from '../model-reply.ts';
import type { ToolCall, ToolOffer, ToolResult } from '../model-request.ts';
import { claudeTasksFamily } from './claude-tasks-family.ts';
import type { KnownTodo, KnownTodos, TodoStatus } from './known-todos.ts';
import { type FamilyName, findOffer, hasBaseName, type Intention, type TodoFamily } from './todo-family.ts';
import { TODO_WRITE, untildoneFamily } from './untildone-family.ts';
import { createWholeListFamily } from './whole-list-family.ts';

const THREE: readonly TodoStatus[] = ['pending', 'in_progress', 'completed'];
const FOUR: readonly TodoStatus[] = [...THREE, 'cancelled'];

const FAMILIES: readonly TodoFamily[] = [
  untildoneFamily,
  claudeTasksFamily,
  createWholeListFamily({
    name: 'claude-list',
    tool: 'TodoWrite',
    listKey: 'todos',
    titleKey: 'content',
    statuses: THREE,
    extras: (todo: KnownTodo) => ({ activeForm: todo.title }),
  }),
  createWholeListFamily({
    name: 'opencode',
    tool: 'todowrite',
    listKey: 'todos',
    titleKey: 'content',
    statuses: FOUR,
    extras: () => ({ priority: 'medium' }),
  }),
  createWholeListFamily({
    name: 'codex',
    tool: 'update_plan',
    listKey: 'plan',
    titleKey: 'step',
    statuses: THREE,
  }),
  createWholeListFamily({
    name: 'gemini',
    tool: 'write_todos',
    listKey: 'todos',
    titleKey: 'description',
    statuses: [...FOUR, 'blocked'],
  }),
  // Qwen Code's tool, and ours where only the list style is offered.
  createWholeListFamily(TODO_WRITE),
];

export function familyFor(tools: readonly ToolOffer[], forced?: FamilyName): TodoFamily | undefined {
  return FAMILIES.filter((family) => forced === undefined || family.name === forced).find((family) =>
    findOffer(tools, family.mark),
  );
}

/** The calls that say an intention, under the names that the request offers. */
export function expressIntention(
  family: TodoFamily,
  intention: Intention,
  todos: KnownTodos,
  tools: readonly ToolOffer[],
): readonly PlannedCall[] | undefined {
  const offered = (baseName: string) => findOffer(tools, baseName);
  return family
    .express(intention, todos, offered)
    ?.map((call) => ({ ...call, name: offered(call.name)?.name ?? call.name }));
}

/** What one call and its result teach, whichever family the tool belongs to. */
export function learnFromCall(todos: KnownTodos, call: ToolCall, result: ToolResult | undefined): KnownTodos {
  if (!result || result.isError) return todos;
  for (const family of FAMILIES) {
    const tool = family.tools.find((baseName) => hasBaseName(call.name, baseName));
    if (tool !== undefined) return family.learn(todos, tool, call.input, result);
  }
  return todos;
}

// The contract of a family of todo tools: how to say an intention in its tools, and what its results teach. A family
// is pure; it sees base names only (prefixes of MCP servers are taken off before and put on afterwards).
import type { PlannedCall } from '../model-reply.ts';
import type { ToolOffer, ToolResult } from '../model-request.ts';
import type { KnownTodo, KnownTodos, TodoStatus } from './known-todos.ts';

export interface NewTodo {
  readonly title: string;
  readonly context?: string;
  readonly completionCriteria?: string;
  readonly agentType?: string;
  readonly priority?: 'high' | 'medium' | 'low';
  readonly order?: number;
  readonly check?: unknown;
}

export type Intention =
  | { readonly kind: 'create'; readonly items: readonly NewTodo[] }
  | { readonly kind: 'set'; readonly todo: KnownTodo; readonly status: TodoStatus; readonly note: string }
  | { readonly kind: 'write'; readonly todos: KnownTodos }
  | { readonly kind: 'list' }
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'verify'; readonly todo?: KnownTodo };

export type FamilyName =
  | 'untildone'
  | 'claude-tasks'
  | 'claude-list'
  | 'opencode'
  | 'codex'
  | 'gemini'
  | 'todo-write';

export interface TodoFamily {
  readonly name: FamilyName;
  /** The family is there when this tool is offered. */
  readonly mark: string;
  /** Its tools want ids, so that a todo whose id is unknown must be looked up first. */
  readonly byId: boolean;
  readonly tools: readonly string[];
  /** Undefined when the family has no way to say it. `offered` tells whether one of its other tools is there. */
  express(intention: Intention, todos: KnownTodos, offered: OfferedTools): readonly PlannedCall[] | undefined;
  /** Must not throw. A result that is missing or an error teaches nothing. */
  learn(todos: KnownTodos, tool: string, input: unknown, result: ToolResult): KnownTodos;
}

/** The offer of a tool by its base name, or undefined. */
export type OfferedTools = (baseName: string) => ToolOffer | undefined;

const BOUNDARY = /[_\-.:/]/;

/** `mcp__server__create_todo`, `mcp_server_create_todo`, `server-create_todo` … all end in the base name. */
export function hasBaseName(toolName: string, baseName: string): boolean {
  if (toolName === baseName) return true;
  const before = toolName.length - baseName.length - 1;
  return toolName.endsWith(baseName) && before >= 0 && BOUNDARY.test(toolName.charAt(before));
}

/** An exact name wins over a prefixed one. */
export function findOffer(tools: readonly ToolOffer[], baseName: string): ToolOffer | undefined {
  return (
    tools.find((tool) => tool.name === baseName) ?? tools.find((tool) => hasBaseName(tool.name, baseName))
  );
}

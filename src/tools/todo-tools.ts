// All todo tools, once; every host, framework and our own agent get them from here. Workers get none (M7).
import { completeTodo } from './complete-todo.ts';
import { createTodo } from './create-todo.ts';
import { listTodo } from './list-todo.ts';
import { todoPause } from './todo-pause.ts';
import { todoRead } from './todo-read.ts';
import type { TodoTool, ToolCallContext, ToolResult } from './todo-tool.ts';
import { todoVerify } from './todo-verify.ts';
import { todoWrite } from './todo-write.ts';
import { updateTodo } from './update-todo.ts';

const todoTools: readonly TodoTool[] = [
  createTodo,
  listTodo,
  completeTodo,
  updateTodo,
  todoWrite,
  todoRead,
  todoPause,
  todoVerify,
];

export function todoToolsFor(role: 'agent' | 'worker'): readonly TodoTool[] {
  return role === 'worker' ? [] : todoTools;
}

/** A tool that knows its session already. */
export interface SessionTodoTool extends Omit<TodoTool, 'call'> {
  call(input: unknown): Promise<ToolResult>;
}

export function createTodoTools(context: ToolCallContext): readonly SessionTodoTool[] {
  return todoToolsFor(context.actor === 'worker' ? 'worker' : 'agent').map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    call: (input) => tool.call(input, context),
  }));
}

// One shape for everything our agent can call: the todo tools and the workspace tools behind their permissions.
import type { ObjectSchema } from '../../tools/input-schema.ts';
import type { SessionTodoTool } from '../../tools/todo-tools.ts';
import { decidePermission, type PermissionPolicy } from '../workspace/permission.ts';
import type { ToolContext } from '../workspace/tool.ts';
import type { AnyWorkspaceTool } from '../workspace/workspace-tools.ts';
import type { ToolCallResult } from './tool-calls.ts';

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly family: 'todo' | 'workspace';
  readonly access: 'read' | 'write' | 'execute';
  /** Must not throw: what goes wrong is a result that the model can read. */
  call(input: unknown, signal: AbortSignal): Promise<ToolCallResult>;
}

const readingTodoTools = new Set(['list_todo', 'todo_read', 'todo_verify']);

export function fromTodoTool(tool: SessionTodoTool): AgentTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema satisfies ObjectSchema,
    family: 'todo',
    access: readingTodoTools.has(tool.name) ? 'read' : 'write',
    async call(input) {
      const result = await tool.call(input);
      if (!result.ok) return { ok: false, output: result.error.message, duplicate: false };
      return { ok: true, output: JSON.stringify(result.output), duplicate: result.duplicate === true };
    },
  };
}

export function fromWorkspaceTool(
  tool: AnyWorkspaceTool,
  context: Omit<ToolContext, 'signal'>,
  policy: PermissionPolicy,
): AgentTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    family: 'workspace',
    access: tool.access,
    async call(input, signal) {
      const permission = decidePermission({ name: tool.name, access: tool.access }, input, policy);
      if (permission !== 'allow') return { ok: false, output: permission.deny, duplicate: false };
      const once = async (): Promise<ToolCallResult | Error> => {
        try {
          const outcome = await tool.call(input, { ...context, signal });
          return { ok: outcome.ok, output: outcome.ok ? outcome.output : outcome.error, duplicate: false };
        } catch (error) {
          // A tool that breaks its promise must not end the run: the model is told and can go another way.
          return error instanceof Error ? error : new Error(String(error));
        }
      };
      const first = await once();
      // Only what reads may be called again by itself (S6): anything else may have done half its work.
      const last = first instanceof Error && tool.access === 'read' && !signal.aborted ? await once() : first;
      if (!(last instanceof Error)) return last;
      return { ok: false, output: `${tool.name} failed unexpectedly: ${last.message}`, duplicate: false };
    },
  };
}

// One shape for everything our agent can call: the todo tools and the workspace tools. Whether a call may be made is
// asked in tool-calls.ts, before it begins.
import type { ObjectSchema } from '../../tools/input-schema.ts';
import type { SessionTodoTool } from '../../tools/todo-tools.ts';
import { subjectOf } from '../permissions/call-subject.ts';
import {
  decidePermission,
  type KnownAnswers,
  type PermissionDecision,
  type PermissionPolicy,
} from '../workspace/permission.ts';
import type { ToolContext } from '../workspace/tool.ts';
import type { AnyWorkspaceTool } from '../workspace/workspace-tools.ts';
import type { ToolCallResult } from './tool-calls.ts';

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  /** `delegation`: its failure is a worker's, and is counted at the todo that it was about (S6). */
  readonly family: 'todo' | 'workspace' | 'delegation';
  readonly access: 'read' | 'write' | 'execute';
  /** Must not throw: what goes wrong is a result that the model can read. */
  call(input: unknown, signal: AbortSignal, callId: string): Promise<ToolCallResult>;
  /** Whether a call may be made, given what the human answered so far; absent: it always may. */
  permission?(input: unknown, known: KnownAnswers): Promise<PermissionDecision>;
  /** After a crash or an interrupt: what came of this call, where more is known than that it was interrupted. */
  settle?(callId: string): Promise<ToolCallResult>;
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
    ...(tool.access === 'read'
      ? {}
      : {
          async permission(input: unknown, known: KnownAnswers): Promise<PermissionDecision> {
            const subject = await subjectOf(tool.access, input, context.root, policy.kept);
            return decidePermission(tool, subject, policy, known);
          },
        }),
    async call(input, signal) {
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

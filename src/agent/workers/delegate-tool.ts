// `delegate`: the tool by which the agent hands a todo to its worker. What a model gets wrong is answered with a
// sentence; which session and which worker are meant comes from the run and the plan, never from the model (M7).
import { readInput } from '../../tools/input-schema.ts';
import type { AgentTool } from '../loop/agent-tool.ts';
import type { ToolCallResult } from '../loop/tool-calls.ts';
import { delegateToolName, type Worker } from './worker.ts';
import { refusedDelegation } from './worker-report.ts';

export interface DelegateInput {
  readonly todoId: string;
  readonly instructions: string | null;
}

export interface Delegate {
  call(input: DelegateInput, signal: AbortSignal, callId: string): Promise<ToolCallResult>;
  settle(callId: string): Promise<ToolCallResult>;
}

const inputSchema = {
  type: 'object',
  properties: {
    todoId: { type: 'string', description: 'The id of a todo that has an agentType.' },
    instructions: {
      type: 'string',
      description: 'What the worker must know beside the todo: paths, findings, constraints.',
    },
  },
  required: ['todoId'],
  additionalProperties: false,
} as const;

export function createDelegateTool(workers: readonly Worker[], delegate: Delegate): AgentTool {
  const names = workers.map(({ name }) => name).join(', ');
  return {
    name: delegateToolName,
    description: `Hand a todo to the worker of its agentType (${names}), wait for it, and get its report. The todo is set in_progress; completing it afterwards is up to you. The worker knows the todo and your instructions and nothing else of this conversation.`,
    inputSchema,
    family: 'delegation',
    access: 'execute',
    async call(input, signal, callId) {
      const read = readInput(inputSchema, input);
      if (!read.ok) return refusedDelegation(read.message);
      const { todoId, instructions = '' } = read.input;
      const given = instructions.trim() === '' ? null : instructions;
      return delegate.call({ todoId, instructions: given }, signal, callId);
    },
    settle: (callId) => delegate.settle(callId),
  };
}

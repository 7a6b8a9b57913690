// After a crash or an interrupt: calls of a step that was never written down become messages, so that the model
// knows what happened. A recorded result is used as it is; a call that only reads is made again; one that waits for a
// human's permission has not begun; any other is reported as interrupted, because nobody knows how far it came.
import type { ModelMessage, ToolCallPart, ToolResultPart } from 'ai';
import type { Store } from '../../engine/store.ts';
import type { CallRow } from '../../engine/transcript.ts';
import { callKey } from '../permissions/permission-gate.ts';
import type { AgentTool } from './agent-tool.ts';
import type { CallTool, ToolCallResult } from './tool-calls.ts';
import type { Transcript } from './transcript.ts';

const interrupted: ToolCallResult = {
  ok: false,
  output:
    'This call was interrupted; it is unknown whether it took effect. Look at the workspace before you make it again.',
  duplicate: false,
};

const notMade: ToolCallResult = {
  ok: false,
  output: 'This call was not made: the human did not answer whether it is allowed, and said something else.',
  duplicate: false,
};

/** A call that waits for permission: its step is left for later, it is asked about again, or it is given up. */
export type WaitingCalls = 'leave' | 'ask' | 'give-up';

/** `waiting`: a step was left, because nobody answered. */
export async function settleInterrupted(
  store: Store,
  sessionId: string,
  transcript: Transcript,
  tools: readonly AgentTool[],
  callTool: CallTool,
  waiting: WaitingCalls = 'give-up',
): Promise<'settled' | 'waiting'> {
  const { calls, asked } = await store.read(async (reader) => {
    const requests = (await reader.session(sessionId))?.permissions?.requests ?? [];
    return {
      calls: await reader.unsettledCalls(sessionId),
      asked: new Set(requests.map(({ callId }) => callId)),
    };
  });
  const waits = ({ result, callId }: CallRow): boolean =>
    result === null && asked.has(callKey(sessionId, callId));
  let left = false;
  for (const stepId of new Set(calls.map((call) => call.stepId))) {
    const ofStep = calls.filter((call) => call.stepId === stepId);
    if (waiting === 'leave' && ofStep.some(waits)) {
      left = true;
      continue;
    }
    const results: ToolCallResult[] = [];
    for (const call of ofStep) {
      const result =
        waits(call) && waiting === 'give-up' ? notMade : await resultOf(call, tools, callTool, waits(call));
      if (result.unanswered) return 'waiting';
      results.push(result);
    }
    await transcript.append(stepMessages(ofStep, results), stepId);
  }
  return left ? 'waiting' : 'settled';
}

async function resultOf(
  call: CallRow,
  tools: readonly AgentTool[],
  callTool: CallTool,
  waits: boolean,
): Promise<ToolCallResult> {
  if (call.result !== null) return JSON.parse(call.result) as ToolCallResult;
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool?.settle !== undefined) return tool.settle(call.callId);
  if (tool === undefined || !(call.readOnly || waits)) return interrupted;
  return callTool({ callId: call.callId, stepId: call.stepId, tool, input: JSON.parse(call.input) });
}

function stepMessages(calls: readonly CallRow[], results: readonly ToolCallResult[]) {
  const asked: ToolCallPart[] = calls.map((call) => ({
    type: 'tool-call',
    toolCallId: call.callId,
    toolName: call.tool,
    input: JSON.parse(call.input),
  }));
  const answered: ToolResultPart[] = calls.map((call, index) => ({
    type: 'tool-result',
    toolCallId: call.callId,
    toolName: call.tool,
    output: toolOutput(results[index] ?? interrupted),
  }));
  const messages: { kind: 'agent' | 'tools'; message: ModelMessage }[] = [
    { kind: 'agent', message: { role: 'assistant', content: asked } },
    { kind: 'tools', message: { role: 'tool', content: answered } },
  ];
  return messages;
}

/** How a result is shown to the model, in the AI SDK's words. */
export function toolOutput(result: ToolCallResult): ToolResultPart['output'] {
  return result.ok ? { type: 'text', value: result.output } : { type: 'error-text', value: result.output };
}

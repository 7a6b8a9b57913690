// Runs the model's tool calls: permission first, then the start on record, the call, the result on record, and the
// events that decide() wants to see. A call with a recorded result is never made again.

import type { Engine } from '../../engine/engine.ts';
import type { Clock, Identifiers } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { Emit } from '../agent-event.ts';
import type { AgentTool } from './agent-tool.ts';

export interface ToolCallOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
  readonly signal: () => AbortSignal;
}

export interface ToolCallResult {
  readonly ok: boolean;
  readonly output: string;
  /** A todo write that changed nothing (I5). */
  readonly duplicate: boolean;
}

export interface CallRequest {
  readonly callId: string;
  readonly stepId: string;
  readonly tool: AgentTool;
  readonly input: unknown;
}

export type CallTool = (request: CallRequest) => Promise<ToolCallResult>;

/** What watchers see of an output; the model gets all of it. */
const shownOutput = 400;

export function createCallTool(options: ToolCallOptions): CallTool {
  const { store, engine, clock, identifiers, sessionId, emit } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });

  return async ({ callId, stepId, tool, input }) => {
    const startedAt = clock.now();
    await store.transact(async (transaction) => {
      await transaction.startCall({
        sessionId,
        callId,
        stepId,
        tool: tool.name,
        readOnly: tool.access === 'read',
        input: JSON.stringify(input ?? null),
        startedAt,
        result: null,
        endedAt: null,
      });
    });
    await engine.handle({ ...base(), type: 'tool-started', tool: tool.name, access: eventAccess(tool) });
    emit({ type: 'tool-started', at: startedAt, sessionId, callId, tool: tool.name, input });
    const result = await tool.call(input, options.signal());
    const endedAt = clock.now();
    await store.transact(async (transaction) => {
      await transaction.finishCall(sessionId, callId, JSON.stringify(result), endedAt);
    });
    await engine.handle({
      ...base(),
      type: 'tool-ended',
      tool: tool.name,
      access: eventAccess(tool),
      error: result.ok ? null : result.output.slice(0, 500),
    });
    emit({
      type: 'tool-ended',
      at: endedAt,
      sessionId,
      callId,
      tool: tool.name,
      ok: result.ok,
      output: result.output.slice(0, shownOutput),
      milliseconds: endedAt - startedAt,
    });
    return result;
  };
}

function eventAccess(tool: AgentTool): 'read' | 'write' | 'todo' {
  if (tool.family === 'todo') return 'todo';
  return tool.access === 'read' ? 'read' : 'write';
}

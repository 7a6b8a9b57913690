// Runs the model's tool calls: permission first, then the start on record, the call, the result on record, and the
// events that decide() wants to see. A call with a recorded result is never made again.

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import { callKey, type PermissionGate, type Permit } from '../permissions/permission-gate.ts';
import { type KnownAnswers, noAnswers } from '../workspace/permission.ts';
import type { AgentTool } from './agent-tool.ts';

export interface ToolCallOptions {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
  readonly signal: () => AbortSignal;
  /** Asks the human; absent: what is not allowed is refused. */
  readonly gate?: PermissionGate | undefined;
}

export interface ToolCallResult {
  readonly ok: boolean;
  readonly output: string;
  /** A todo write that changed nothing (I5). */
  readonly duplicate: boolean;
  /** Not made: it waits on the record for the human's permission, and its step has ended. */
  readonly unanswered?: true;
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

const unanswered: ToolCallResult = {
  ok: false,
  output: 'This call was not made: it waits for a human to allow it.',
  duplicate: false,
  unanswered: true,
};

export function createCallTool(options: ToolCallOptions): CallTool {
  const { store, engine, clock, identifiers, sessionId, emit } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });

  /** `onAsk`: the call goes on record before anyone is asked about it. */
  async function permitCall(
    { callId, tool, input }: CallRequest,
    onAsk: () => Promise<void>,
  ): Promise<Permit> {
    if (tool.permission === undefined) return { kind: 'allowed', requestId: null };
    const decide = (known: KnownAnswers) =>
      tool.permission?.(input, known) ?? Promise.resolve('allow' as const);
    if (options.gate !== undefined)
      return options.gate.permit({ key: callKey(sessionId, callId), decide, onAsk, emit });
    const decision = await decide(noAnswers);
    return decision === 'allow'
      ? { kind: 'allowed', requestId: null }
      : { kind: 'denied', sentence: decision.deny, requestId: null };
  }

  return async ({ callId, stepId, tool, input }) => {
    let startedAt = clock.now();
    const start = async (): Promise<void> => {
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
    };
    const permit = await permitCall({ callId, stepId, tool, input }, start);
    if (permit.kind === 'unanswered') return unanswered;
    const requestId = permit.requestId ?? undefined;
    startedAt = clock.now();
    await start();
    const access = eventAccess(tool);
    await engine.handle({
      ...base(),
      type: 'tool-started',
      tool: tool.name,
      access,
      ...(requestId === undefined ? {} : { requestId }),
    });
    emit({ type: 'tool-started', at: startedAt, sessionId, callId, tool: tool.name, input });
    const result =
      permit.kind === 'denied'
        ? { ok: false, output: permit.sentence, duplicate: false }
        : await tool.call(input, options.signal(), callId);
    const endedAt = clock.now();
    await store.transact(async (transaction) => {
      await transaction.finishCall(sessionId, callId, JSON.stringify(result), endedAt);
    });
    await engine.handle({
      ...base(),
      type: 'tool-ended',
      tool: tool.name,
      access,
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

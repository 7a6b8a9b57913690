// Everything our agent can call and how a call is made: permission first, then the start on record, the call, the
// result on record, and the events that decide() wants to see. A call with a recorded result is never made again.
import type { ToolCallPart, ToolResultPart } from 'ai';
import { commandEnvironment } from '../../checks/process.ts';
import { allowedProposal } from '../../core/check-specs.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import type { CallRow } from '../../engine/host.ts';
import { createTodoTools, type SessionTodoTool } from '../../tools/todo-tools.ts';
import { callKey, type Permit } from '../permissions/permission-gate.ts';
import {
  decidePermission,
  type KnownAnswers,
  type PermissionDecision,
  type PermissionPolicy,
  subjectOf,
} from '../workspace/permission.ts';
import { JobRegistry } from '../workspace/shell.ts';
import { defaultLimits, type ToolContext, type WorkspaceTool } from '../workspace/tool.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import type { JobWatch, Run } from './run.ts';
import type { Agent } from './step.ts';

export interface ToolCallResult {
  readonly ok: boolean;
  readonly output: string;
  readonly duplicate: boolean;
  /** Not made: it waits on the record for the human's permission, and its step has ended. */
  readonly unanswered?: true;
}

export function failedCall(output: string): ToolCallResult {
  return { ok: false, output, duplicate: false };
}

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

/** The todo tools, the workspace tools behind their permissions, and the background jobs, ended by `close`. */
export function openWorkspace(run: Run): { tools: AgentTool[]; jobs: JobWatch; close: () => Promise<void> } {
  const { settings, sessionId, store, clock, engine, directory, permissions, identifiers } = run;
  const limits = { ...defaultLimits, commandMs: settings.tools.shellTimeoutSeconds * 1000 };
  const environment = commandEnvironment(run.environment, { session: sessionId });
  const jobs = new JobRegistry({ directory, environment, limits });
  const resolveCheck = (proposal: string) => allowedProposal(settings, proposal);
  const todos = { engine, store, sessionId, actor: 'agent', clock, identifiers, resolveCheck } as const;
  const context = { root: directory, limits, jobs, environment };
  return {
    tools: [
      ...createTodoTools(todos).map(fromTodoTool),
      ...workspaceTools.map((tool) => fromWorkspaceTool(tool, context, permissions)),
    ],
    jobs: {
      running: () => jobs.running(),
      onEnd: (listener) =>
        jobs.onEnd(({ id, description, end: { exitCode, signal, startError } }) => {
          const ended = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit status ${exitCode}`;
          const result = startError === null ? ended : `could not be started: ${startError}`;
          listener(
            `[background job ended] ${id} ${quoteForModel(description, 120)}: ${quoteForModel(result, 200)}. read_job shows its output.`,
          );
        }),
    },
    close: () => jobs.close(),
  };
}

const readingTodoTools = new Set(['list_todo', 'todo_read', 'todo_verify']);

function fromTodoTool({ name, description, inputSchema, call }: SessionTodoTool): AgentTool {
  const access = readingTodoTools.has(name) ? 'read' : 'write';
  return {
    ...{ name, description, inputSchema, family: 'todo', access },
    async call(input) {
      const result = await call(input);
      if (!result.ok) return failedCall(result.error.message);
      return { ok: true, output: JSON.stringify(result.output), duplicate: result.duplicate === true };
    },
  };
}

export function fromWorkspaceTool(
  tool: WorkspaceTool,
  context: Omit<ToolContext, 'signal'>,
  policy: PermissionPolicy,
): AgentTool {
  const { name, description, inputSchema, access } = tool;
  const once = async (input: unknown, signal: AbortSignal): Promise<ToolCallResult | Error> => {
    try {
      const outcome = await tool.call(input, { ...context, signal });
      return outcome.ok ? { ...outcome, duplicate: false } : failedCall(outcome.error);
    } catch (error) {
      // A tool that breaks its promise must not end the run: the model is told and can go another way.
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  const permission = async (input: unknown, known: KnownAnswers): Promise<PermissionDecision> =>
    decidePermission(tool, await subjectOf(access, input, context.root, policy.kept), policy, known);
  return {
    ...{ name, description, inputSchema, family: 'workspace', access },
    ...(access === 'read' ? {} : { permission }),
    async call(input, signal) {
      const first = await once(input, signal);
      // Only what reads may be called again by itself (S6): anything else may have done half its work.
      const isTriedAgain = first instanceof Error && access === 'read' && !signal.aborted;
      const last = isTriedAgain ? await once(input, signal) : first;
      return last instanceof Error ? failedCall(`${name} failed unexpectedly: ${last.message}`) : last;
    },
  };
}

export type Caller = Pick<
  Agent,
  'run' | 'sessionId' | 'transcript' | 'tools' | 'record' | 'tell' | 'emit' | 'signal'
>;

const shownOutput = 400;

export async function callTool(
  caller: Caller,
  tool: AgentTool,
  call: Pick<CallRow, 'callId' | 'stepId'> & { readonly input: unknown },
): Promise<ToolCallResult> {
  const { run, sessionId } = caller;
  const { callId, stepId, input } = call;
  const { name } = tool;
  const start = async (): Promise<CallRow> => {
    const startedAt = run.clock.now();
    const readOnly = tool.access === 'read';
    const about = { sessionId, callId, stepId, tool: name, readOnly, startedAt };
    const row = { ...about, input: JSON.stringify(input ?? null), result: null, endedAt: null };
    await run.store.record({ calls: [row] });
    return row;
  };
  const decide = tool.permission?.bind(tool, input);
  const permit: Permit =
    decide === undefined
      ? { kind: 'allowed', requestId: null }
      : await run.gate.permit({
          key: callKey(sessionId, callId),
          decide,
          onAsk: async () => void (await start()),
          emit: caller.emit,
        });
  if (permit.kind === 'unanswered')
    return { ...failedCall('This call was not made: it waits for a human to allow it.'), unanswered: true };
  const started = await start();
  const access = tool.family === 'todo' ? 'todo' : tool.access === 'read' ? 'read' : 'write';
  const asked = permit.requestId === null ? {} : { requestId: permit.requestId };
  await caller.record({ type: 'tool-started', tool: name, access, ...asked });
  caller.tell({ type: 'tool-started', callId, tool: name, input });
  const result =
    permit.kind === 'denied' ? failedCall(permit.sentence) : await tool.call(input, caller.signal(), callId);
  const { ok, output } = result;
  const endedAt = run.clock.now();
  await run.store.record({ calls: [{ ...started, result: JSON.stringify(result), endedAt }] });
  await caller.record({ type: 'tool-ended', tool: name, access, error: ok ? null : output.slice(0, 500) });
  const shown = { output: output.slice(0, shownOutput), milliseconds: endedAt - started.startedAt };
  caller.tell({ type: 'tool-ended', callId, tool: name, ok, ...shown });
  return result;
}

const interrupted = failedCall(
  'This call was interrupted; it is unknown whether it took effect. Look at the workspace before you make it again.',
);
const notMade = failedCall(
  'This call was not made: the human did not answer whether it is allowed, and said something else.',
);

/**
 * After a crash or an interrupt: calls of a step that was never written down become messages, so that the model knows
 * what happened. A recorded result is used as it is; a call that only reads is made again; one that waits for a human's
 * permission has not begun: its step is left for later, it is asked about again, or it is given up. Any other is
 * reported as interrupted, because nobody knows how far it came. `waiting`: a step was left, because nobody answered.
 */
export async function settleInterrupted(
  caller: Caller,
  waiting: 'leave' | 'ask' | 'give-up',
): Promise<'settled' | 'waiting'> {
  const { run, sessionId, tools } = caller;
  const { calls } = await run.store.transcript(sessionId, Number.MAX_SAFE_INTEGER);
  if (calls.length === 0) return 'settled';
  const session = await run.store.state(sessionId);
  const asked = session?.permissions?.requests.map(({ callId }) => callId) ?? [];
  const waits = ({ result, callId }: CallRow): boolean =>
    result === null && asked.includes(callKey(sessionId, callId));
  const settle = async (call: CallRow): Promise<ToolCallResult> => {
    const { callId, stepId, input } = call;
    if (waits(call) && waiting === 'give-up') return notMade;
    if (call.result !== null) return JSON.parse(call.result) as ToolCallResult;
    const tool = tools.find(({ name }) => name === call.tool);
    if (tool?.settle !== undefined) return tool.settle(callId);
    if (tool === undefined || !(call.readOnly || waits(call))) return interrupted;
    return callTool(caller, tool, { callId, stepId, input: JSON.parse(input) });
  };
  let isLeft = false;
  for (const stepId of new Set(calls.map((call) => call.stepId))) {
    const ofStep = calls.filter((call) => call.stepId === stepId);
    if (waiting === 'leave' && ofStep.some(waits)) {
      isLeft = true;
      continue;
    }
    const made: ToolCallPart[] = [];
    const results: ToolResultPart[] = [];
    for (const call of ofStep) {
      const result = await settle(call);
      if (result.unanswered) return 'waiting';
      const about = { toolCallId: call.callId, toolName: call.tool };
      made.push({ type: 'tool-call', ...about, input: JSON.parse(call.input) });
      results.push({ type: 'tool-result', ...about, output: toolOutput(result) });
    }
    await caller.transcript.append(
      [
        { kind: 'agent', message: { role: 'assistant', content: made } },
        { kind: 'tools', message: { role: 'tool', content: results } },
      ],
      stepId,
    );
  }
  return isLeft ? 'waiting' : 'settled';
}

export function toolOutput(result: ToolCallResult): ToolResultPart['output'] {
  return result.ok ? { type: 'text', value: result.output } : { type: 'error-text', value: result.output };
}

// What our agent can call, and how: the human's permission (S7), the start on record, the
// call, its result on record. A call with a recorded result is never made again.
import type { ToolCallPart, ToolResultPart } from 'ai';
import { messageOf } from '../../core/error.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import type { PermissionRequest } from '../../core/state.ts';
import type { CallRow } from '../../engine/host.ts';
import { createQueue } from '../../engine/system.ts';
import { type Emit, type PermissionChoice, permissionChoices } from '../agent-event.ts';
import { describeChange, type FileChange } from '../workspace/file-change.ts';
import * as permission from '../workspace/permission.ts';
import type { RememberedGrant } from '../workspace/remembered-grants.ts';
import { isFailedCommand } from '../workspace/shell.ts';
import type { ToolContext, WorkspaceTool } from '../workspace/tool.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import type { AnyRun, Run } from './run.ts';
import type { Agent } from './step.ts';

export type ToolCallResult = Readonly<{
  ok: boolean;
  output: string;
  /** A todo_write that changed nothing (I5). */
  duplicate?: boolean;
  /** Not made: it waits for permission, and its step has ended. */
  unanswered?: true;
}>;

export const failedCall = (output: string): ToolCallResult => ({ ok: false, output });

export interface AgentTool
  extends Pick<WorkspaceTool, 'name' | 'description' | 'access'> {
  readonly inputSchema: object;
  /** A failure of `delegation` is a worker's, counted at its todo (S6). */
  readonly family: 'todo' | 'workspace' | 'delegation';
  /** Must not throw: what goes wrong is a result that the model can read. */
  call(
    input: unknown,
    signal: AbortSignal,
    callId: string,
    changed?: ToolContext['changed'],
  ): Promise<ToolCallResult>;
  /** Absent: it always may. */
  permission?(
    input: unknown,
    known: permission.KnownAnswers,
  ): Promise<permission.PermissionDecision>;
  /** After the call: it waited for something that still goes on. */
  waits?(input: unknown): boolean;
  /** What came of an interrupted call, where more is known than that. */
  settle?(callId: string): Promise<ToolCallResult>;
}

const readingTodoTools = ['list_todo', 'todo_read', 'todo_verify'];

export function openTools(run: Run) {
  const todoTools = run.todoTools().map(
    (tool): AgentTool => ({
      ...tool,
      family: 'todo',
      access: readingTodoTools.includes(tool.name) ? 'read' : 'write',
      async call(input) {
        const result = await tool.call(input);
        if (!result.ok) return failedCall(result.error.message);
        return {
          ok: true,
          output: JSON.stringify(result.output),
          duplicate: result.duplicate === true,
        };
      },
    }),
  );
  const others = workspaceTools.map((tool) =>
    fromWorkspaceTool(tool, run.workspace, run.permissions),
  );
  return [...todoTools, ...others];
}

export function fromWorkspaceTool(
  tool: WorkspaceTool,
  context: Omit<ToolContext, 'signal'>,
  policy: permission.PermissionPolicy,
): AgentTool {
  type CallPlace = Pick<ToolContext, 'signal' | 'changed'>;
  const call = async (
    input: unknown,
    place: CallPlace,
    mayRepeat: boolean,
  ): Promise<ToolCallResult> => {
    const { signal } = place;
    try {
      const answer = await tool.call(input, { ...context, ...place });
      const isLate = typeof answer !== 'string' && answer.timedOut === true;
      if (isLate && mayRepeat && !signal.aborted) return call(input, place, false);
      return typeof answer === 'string'
        ? { ok: true, output: answer }
        : failedCall(answer.error);
    } catch (error) {
      if (mayRepeat && !signal.aborted) return call(input, place, false);
      // It must not end the run: the model is told and can go another way.
      return failedCall(`${tool.name} failed unexpectedly: ${messageOf(error)}`);
    }
  };
  return {
    ...tool,
    family: 'workspace',
    async permission(input, known) {
      const subject = await permission.subjectOf(
        tool.access,
        input,
        context.root,
        policy.kept,
      );
      return permission.decidePermission(tool, subject, policy, known);
    },
    waits: (input) => tool.waits(input, context),
    // Only what reads is called again (S6): others may have done half their work.
    call: (input, signal, _callId, changed) =>
      call(
        input,
        changed === undefined ? { signal } : { signal, changed },
        tool.access === 'read',
      ),
  };
}

/**
 * The calls of one answer: what may write waits for all before it, what only reads for
 * what may write.
 */
export function createAnswerOrder() {
  let writes: Promise<unknown> = Promise.resolve();
  let all = writes;
  return <Result>(onlyReads: boolean, call: () => Promise<Result>): Promise<Result> => {
    const result = (onlyReads ? writes : all).then(call);
    // Safe: whoever made the call gets its failure; the next one goes its own way.
    all = Promise.all([all, result.catch(() => null)]);
    if (!onlyReads) writes = all;
    return result;
  };
}

/**
 * For a call that no tool could be given: its input is no JSON, or there is no such tool.
 */
export function unreadableCall(tools: readonly AgentTool[], name: string): string {
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined)
    return `There is no tool ${quoteForModel(name, 60)}; there are ${tools.map((known) => known.name).join(', ')}.`;
  const { required = [] } = tool.inputSchema as { required?: readonly string[] };
  const wanted =
    required.length === 0
      ? 'one JSON object'
      : `one JSON object with ${required.join(', ')}`;
  return `The input of ${name} is not valid JSON, or it was cut off: send ${wanted}.`;
}

/** The ids of calls of a run and of its workers may be equal. */
const callKey = (sessionId: string, callId: string) => `${sessionId}/${callId}`;

type Caller = Pick<
  Agent,
  'run' | 'sessionId' | 'transcript' | 'tools' | 'record' | 'tell' | 'emit' | 'signal'
>;

export async function callTool(
  caller: Caller,
  tool: AgentTool,
  { callId, stepId, input }: { callId: string; stepId: string; input: unknown },
): Promise<ToolCallResult> {
  const { store, clock, gate } = caller.run;
  const { sessionId, emit } = caller;
  const { name } = tool;
  const readOnly = tool.access === 'read';
  const row = {
    sessionId,
    callId,
    stepId,
    tool: name,
    readOnly,
    input: JSON.stringify(input ?? null),
  };
  const write = (
    startedAt: number,
    result: string | null = null,
    endedAt: number | null = null,
  ) => store.record({ calls: [{ ...row, startedAt, result, endedAt }] });
  const decide = tool.permission?.bind(tool, input);
  const gated = {
    key: callKey(sessionId, callId),
    onAsk: () => write(clock.now()),
    emit,
  };
  const permit =
    decide === undefined ? permitOf('allow') : await gate.permit({ ...gated, decide });
  if (permit === null)
    return {
      ...failedCall('This call was not made: it waits for a human to allow it.'),
      unanswered: true,
    };
  const startedAt = clock.now();
  await write(startedAt);
  const workspaceAccess = readOnly ? 'read' : 'write';
  const access = tool.family === 'todo' ? 'todo' : workspaceAccess;
  const asked = permit.requestId === null ? {} : { requestId: permit.requestId };
  if (access === 'write') await caller.run.baseline.end();
  await caller.record({ type: 'tool-started', tool: name, access, ...asked });
  caller.tell({ type: 'tool-started', callId, tool: name, input });
  const changes: FileChange[] = [];
  const changed = (change: FileChange) => changes.push(change);
  const result =
    permit.denied === null
      ? await tool.call(input, caller.signal(), callId, changed)
      : failedCall(permit.denied);
  const { ok, output } = result;
  const endedAt = clock.now();
  await write(startedAt, JSON.stringify(result), endedAt);
  await caller.record({
    type: 'tool-ended',
    tool: name,
    access,
    error: ok ? null : output.slice(0, 500),
  });
  for (const change of changes) {
    // Safe: the call is made and on the record; what cannot be compared is not shown.
    const seen = await describeChange(change).catch(() => null);
    if (seen !== null) caller.tell({ type: 'file-changed', callId, tool: name, ...seen });
  }
  const shown = { output: output.slice(0, 400), milliseconds: endedAt - startedAt };
  const worked = ok && !isFailedCommand(name, output);
  caller.tell({ type: 'tool-ended', callId, tool: name, ok: worked, ...shown });
  return result;
}

export type Asking = Readonly<{
  /** Somebody can answer where the run is shown: it waits as long as it takes. */
  here: boolean;
  /** For an answer from elsewhere, where nobody is here. */
  waitMs: number;
  /** Granted for this directory in earlier sessions. */
  remembered: permission.KnownAnswers['grants'];
  remember(grant: RememberedGrant): Promise<void>;
}>;

export const noAsking: Asking = {
  here: false,
  waitMs: 0,
  remembered: [],
  remember: async () => {},
};

interface GatedCall {
  readonly key: string;
  decide(known: permission.KnownAnswers): Promise<permission.PermissionDecision>;
  /** The question is on the record now; nobody was asked yet. */
  onAsk(): Promise<unknown>;
  readonly emit: Emit;
}

function permitOf(
  decision: permission.PermissionDecision,
  requestId: string | null = null,
) {
  return { denied: decision === 'allow' ? null : decision.deny, requestId };
}

/**
 * On the record first: answered here, in another terminal, or after a crash. One at a
 * time.
 */
export function createPermissionGate(run: AnyRun, asking: Asking) {
  const { sessionId, control } = run;
  const answeredHere = new Set<string>();
  /** Their call may not have begun on the record yet: once is once. */
  const used = new Set<string>();
  const inTurn = createQueue();

  const recordAnswer = (
    requestId: string,
    remembered: PermissionChoice | 'withdrawn',
    event = run.base(),
  ) => {
    const granted = remembered !== 'no' && remembered !== 'withdrawn';
    const wait = { kind: 'permission', requestId, granted, remembered } as const;
    return run.record({ ...event, type: 'wait-ended', wait });
  };

  /** The request is this call's, or an unused one with the same words. */
  async function look(call: GatedCall) {
    const { grants, refused, requests } = (await run.state()).permissions;
    const decision = await call.decide({
      grants: [...asking.remembered, ...grants],
      refused,
    });
    const { about = null, askable = null } = decision === 'allow' ? {} : decision;
    const isAbout = ({ requestId, tool, subject }: PermissionRequest) =>
      tool === about?.tool && subject === about.subject && !used.has(requestId);
    const own = requests.find(({ callId }) => callId === call.key);
    return { decision, about, askable, request: own ?? requests.find(isAbout) ?? null };
  }

  async function ask(call: GatedCall) {
    const { decision, about, askable, request } = await look(call);
    // A no from before is told. Where nothing can be answered (read-only) a yes is void.
    if (request?.answer != null && (decision === 'allow' || about !== null))
      return settle(call, request);
    if (askable === null) return permitOf(decision, request?.requestId);
    const requestId = request?.requestId ?? run.identifiers.next();
    const wait = {
      kind: 'permission',
      requestId,
      about: { callId: call.key, ...askable },
    } as const;
    if (request === null) await run.record({ type: 'wait-started', wait });
    await call.onAsk();
    const question = { requestId, ...askable, choices: permissionChoices };
    run.tell({ type: 'permission-asked', ...question }, sessionId, call.emit);
    const dueAt = asking.here ? null : run.clock.now() + asking.waitMs;
    const answered = await control.wait(dueAt, ({ permissions }) =>
      permissions.requests.find(
        (asked) => asked.requestId === requestId && asked.answer !== null,
      ),
    );
    if (answered !== null) return settle(call, answered);
    // The step cannot finish without an answer.
    control.abortStep();
    return null;
  }

  async function settle(call: GatedCall, { requestId, answer }: PermissionRequest) {
    used.add(requestId);
    const remembered = answer === null || answer === 'withdrawn' ? 'no' : answer;
    const granted = remembered !== 'no';
    const by = answeredHere.has(requestId) ? 'terminal' : 'elsewhere';
    run.tell(
      { type: 'permission-answered', requestId, granted, remembered, by },
      sessionId,
      call.emit,
    );
    // Looked at again: by now the answer itself says what the model is told.
    const decision = granted ? 'allow' : (await look(call)).decision;
    // A worker's call begins on its own record: the answer is used up now.
    const isForeign = !call.key.startsWith(callKey(sessionId, ''));
    if (isForeign) await recordAnswer(requestId, 'withdrawn');
    const left = isForeign ? null : requestId;
    if (granted || decision !== 'allow') return permitOf(decision, left);
    return { denied: 'The human said no.', requestId: left };
  }

  /** Nobody waits for these any more. */
  async function withdraw(isLost: (request: PermissionRequest) => boolean) {
    const { requests } = (await run.state()).permissions;
    for (const { requestId } of requests.filter(isLost))
      await recordAnswer(requestId, 'withdrawn');
  }

  /** null: the call has not begun and stays on the record. */
  async function permit(call: GatedCall) {
    const { decision, askable, request } = await look(call);
    // A question that another call waits for is no answer yet.
    const isOpen =
      request === null || (request.callId !== call.key && request.answer === null);
    if (isOpen && askable === null) return permitOf(decision);
    return inTurn(async () => (control.signal.aborted ? null : ask(call)));
  }

  /** The first answer counts. */
  async function answer(requestId: string, said: PermissionChoice) {
    const { requests } = (await run.state()).permissions;
    const pending = requests.find(
      (request) => request.requestId === requestId && request.answer === null,
    );
    // With nobody here an agent may have made itself a terminal.
    if (pending === undefined || !asking.here) return;
    answeredHere.add(requestId);
    const event = run.base();
    await recordAnswer(requestId, said, event);
    const { tool, pattern } = pending;
    if (said === 'always')
      await asking.remember({ tool, pattern, answerId: event.id, at: event.at });
    await control.look();
  }

  return { permit, answer, withdraw };
}

const interrupted = failedCall(
  'This call was interrupted; it is unknown whether it took effect. Look at the workspace before you make it again.',
);
const notMade = failedCall(
  'This call was not made: the human did not answer whether it is allowed, and said something else.',
);

// Calls of a step that was never written down become messages. A recorded result is used,
// what only reads is made again; how far any other came nobody knows. False: one still
// waits for permission.
export async function settleInterrupted(
  caller: Caller,
  waiting: 'leave' | 'ask' | 'give-up',
) {
  const { run, sessionId, tools } = caller;
  const { calls } = await run.store.transcript(sessionId, Number.MAX_SAFE_INTEGER);
  if (calls.length === 0) return true;
  const asked = (await run.store.state(sessionId))?.permissions.requests ?? [];
  const waits = ({ result, callId }: CallRow) =>
    result === null &&
    asked.some((request) => request.callId === callKey(sessionId, callId));
  const settle = async (call: CallRow): Promise<ToolCallResult> => {
    if (waits(call) && waiting === 'give-up') return notMade;
    if (call.result !== null) return JSON.parse(call.result) as ToolCallResult;
    const tool = tools.find(({ name }) => name === call.tool);
    if (tool?.settle !== undefined) return tool.settle(call.callId);
    if (tool === undefined || !(call.readOnly || waits(call))) return interrupted;
    return callTool(caller, tool, { ...call, input: JSON.parse(call.input) });
  };
  let isSettled = true;
  for (const stepId of new Set(calls.map((call) => call.stepId))) {
    const ofStep = calls.filter((call) => call.stepId === stepId);
    if (waiting === 'leave' && ofStep.some(waits)) {
      isSettled = false;
      continue;
    }
    const made: ToolCallPart[] = [];
    const results: ToolResultPart[] = [];
    for (const call of ofStep) {
      const result = await settle(call);
      if (result.unanswered) return false;
      const about = { toolCallId: call.callId, toolName: call.tool };
      made.push({ type: 'tool-call', ...about, input: JSON.parse(call.input) });
      results.push({ type: 'tool-result', ...about, output: toolOutput(result) });
    }
    const rows = [
      { kind: 'agent', message: { role: 'assistant', content: made } },
      { kind: 'tools', message: { role: 'tool', content: results } },
    ] as const;
    await caller.transcript.append(rows, stepId);
  }
  return isSettled;
}

export function toolOutput({ ok, output }: ToolCallResult): ToolResultPart['output'] {
  return { type: ok ? 'text' : 'error-text', value: output };
}

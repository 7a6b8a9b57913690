// Hands todos to workers, one after the other, and brings back what came of them (S4, S6). Each worker has a session
// of its own; the delegation is on the record of the run before its worker starts and after it ends, so that a run
// that was killed in between knows what to say about it.
import type { Settings } from '../../core/config/settings.ts';
import type { Todo } from '../../core/todo.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import type { AgentTool } from '../loop/agent-tool.ts';
import type { Control } from '../loop/control.ts';
import type { RunCounts } from '../loop/run-state.ts';
import type { ToolCallResult } from '../loop/tool-calls.ts';
import type { CountUsage } from '../loop/usage-count.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { PermissionGate } from '../permissions/permission-gate.ts';
import { createDelegateTool, type DelegateInput } from './delegate-tool.ts';
import { settleDelegation } from './interrupted-delegation.ts';
import { runWorker, type WorkerEnd } from './run-worker.ts';
import { type Worker, workerTools } from './worker.ts';
import { workerBrief, workerPrompt } from './worker-prompt.ts';
import { refusedDelegation, workerReport } from './worker-report.ts';
import { closeWorkerSession, openWorkerSession } from './worker-session.ts';

export interface DelegationOptions {
  readonly workers: readonly Worker[];
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  /** The run's own session. */
  readonly sessionId: string;
  readonly directory: string;
  readonly model: ResolvedModel;
  readonly settings: Settings;
  /** The run's own: workers get a part of those that work in the workspace, and no others (M7). */
  readonly tools: readonly AgentTool[];
  /** What a worker wants is asked like what the run wants. */
  readonly gate: PermissionGate;
  readonly control: Control;
  readonly counts: RunCounts;
  readonly countUsage: CountUsage;
  readonly isAllowanceSpent: () => Promise<boolean>;
  readonly showPlan: () => Promise<void>;
  readonly emit: Emit;
  readonly random: () => number;
}

/** null: there are no workers, and so there is nothing to delegate to. */
export function createDelegation(options: DelegationOptions): AgentTool | null {
  const { workers } = options;
  if (workers.length === 0) return null;
  /** What this process has begun, by the call that asked for it; the last one is what the next one waits for. */
  const begun = new Map<string, Promise<ToolCallResult>>();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  // A failure is told to whoever called; the next one is not to blame for it.
  const over = (): void => {
    waiting -= 1;
  };

  return createDelegateTool(workers, {
    call(input, signal, callId) {
      // With nobody at work, earlier steps are settled: their reports need not stay in memory.
      if (waiting === 0) begun.clear();
      waiting += 1;
      const turn = last.then(() => delegate(options, input, signal, callId));
      begun.set(callId, turn);
      last = turn.then(over, over);
      return turn;
    },
    // An interrupted worker of this process ends by itself; one of a dead process has left its words in the store.
    settle: (callId) => begun.get(callId) ?? settleDelegation(options, callId),
  });
}

async function delegate(
  options: DelegationOptions,
  { todoId, instructions }: DelegateInput,
  signal: AbortSignal,
  callId: string,
): Promise<ToolCallResult> {
  const { clock, identifiers, engine, sessionId, emit, control } = options;
  if (signal.aborted || control.stopping.aborted)
    return refusedDelegation('It was interrupted before the worker started; nothing was delegated.');
  const found = await findWorker(options, todoId);
  if (!found.ok) return refusedDelegation(found.sentence);
  const { worker, todo } = found;
  const workerId = identifiers.next();
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  const startedAt = clock.now();
  const { reply } = await engine.handle({
    ...base(),
    type: 'delegation-started',
    todoId: todo.id,
    workerId,
    agentType: worker.name,
    callId,
  });
  const refusal = reply?.refused[0];
  if (refusal !== undefined) return refusedDelegation(refusal.sentence);
  const about = { workerId, agentType: worker.name, todoId: todo.id };
  emit({ type: 'worker-started', at: startedAt, sessionId, ...about, title: todo.title });
  await options.showPlan();
  const end = await work(options, worker, workerId, workerBrief(todo, instructions), signal);
  await engine.handle({ ...base(), type: 'delegation-ended', workerId, ...ending(end) });
  const endedAt = clock.now();
  const milliseconds = endedAt - startedAt;
  emit({ type: 'worker-ended', at: endedAt, sessionId, ...about, ...ending(end), milliseconds });
  await options.showPlan();
  return workerReport(about, end, await readTodo(options, todo.id));
}

function ending({ result, sentence }: WorkerEnd): Pick<WorkerEnd, 'result' | 'sentence'> {
  return { result, sentence };
}

/** Must not throw: whatever breaks in a worker is the worker's end, and the run goes on (S6). */
async function work(
  options: DelegationOptions,
  worker: Worker,
  workerId: string,
  brief: string,
  signal: AbortSignal,
): Promise<WorkerEnd> {
  const model = worker.model ?? options.model;
  const tools = workerTools(worker, options.tools);
  const canWrite = tools.some(({ access }) => access !== 'read');
  const session = { ...options, workerId, name: worker.name, canWrite, model: model.label };
  await openWorkerSession(session);
  let end: WorkerEnd;
  try {
    end = await runWorker({
      ...options,
      sessionId: workerId,
      worker,
      model,
      tools,
      system: workerPrompt(worker, { root: options.directory, platform: process.platform }),
      brief,
      signal,
      stopping: options.control.stopping,
    });
  } catch (error) {
    // Safe: what the worker did is in its transcript, and the agent that delegated decides what follows.
    const reason = error instanceof Error ? error.message : String(error);
    end = { result: 'failed', sentence: `It broke off unexpectedly: ${reason}`, text: '', steps: 0 };
  }
  await closeWorkerSession(session, end);
  return end;
}

type FoundWorker =
  | { readonly ok: true; readonly worker: Worker; readonly todo: Todo }
  | { readonly ok: false; readonly sentence: string };

async function findWorker(options: DelegationOptions, todoId: string): Promise<FoundWorker> {
  const todo = await readTodo(options, todoId);
  const known = options.workers.map(({ name }) => name).join(', ');
  if (todo === null) {
    const sentence =
      'There is no todo with this id in the plan; list_todo shows the ids. Nothing was delegated.';
    return { ok: false, sentence };
  }
  const worker = options.workers.find(({ name }) => name === todo.agentType);
  if (worker !== undefined) return { ok: true, worker, todo };
  const lacks = todo.agentType === null ? 'This todo has no agentType' : 'There is no such worker here';
  const sentence = `${lacks}: set one with update_todo (${known}), or do it yourself. Nothing was delegated.`;
  return { ok: false, sentence };
}

/** null: not in the plan of this run. */
async function readTodo({ store, sessionId }: DelegationOptions, todoId: string): Promise<Todo | null> {
  return store.read(async (reader) => {
    const session = await reader.session(sessionId);
    const todo = await reader.findTodo(todoId);
    return todo !== null && todo.planId === session?.planId ? todo : null;
  });
}

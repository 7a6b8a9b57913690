// `delegate` hands todos to workers, one after the other, and brings back what came of them (S4, S6). Each worker has a
// session of its own; the delegation is on the record of the run before its worker starts and after it ends, so that a
// run that was killed in between knows what to say about it. Which worker is meant the plan says, never the model (M7).
import type { SessionDescriptor, StopEnd, WorkerResult } from '../../core/events.ts';
import { jsonSchema } from '../../core/json-schema.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import { described, object, optional, text } from '../../core/schema.ts';
import type { Delegation } from '../../core/state.ts';
import { readInput, words } from '../../core/tool-input.ts';
import { lastWords, openTranscript } from '../context/history.ts';
import { type Run, showPlan } from '../loop/run.ts';
import { type AgentTool, failedCall, settleInterrupted, type ToolCallResult } from '../loop/tool-calls.ts';
import { type Ending, reported, runWorker, workerBrief } from './worker.ts';
import { delegateToolName, workerTools } from './worker-types.ts';

const fields = {
  todoId: described(words, 'The id of a todo that has an agentType.'),
  instructions: described(
    optional(text()),
    'What the worker must know beside the todo: paths, findings, constraints.',
  ),
};

export function createDelegation(run: Run, tools: readonly AgentTool[]): AgentTool | null {
  if (run.workers.length === 0) return null;
  /** What this process has begun, by the call that asked for it; the last one is what the next one waits for. */
  const begun = new Map<string, Promise<ToolCallResult>>();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  // A failure is told to whoever called; the next one is not to blame for it.
  const over = (): void => {
    waiting -= 1;
  };
  const names = run.workers.map(({ name }) => name).join(', ');
  return {
    name: delegateToolName,
    description: `Hand a todo to the worker of its agentType (${names}), wait for it, and get its report. The todo is set in_progress; completing it afterwards is up to you. The worker knows the todo and your instructions and nothing else of this conversation.`,
    inputSchema: jsonSchema(object(fields)),
    family: 'delegation',
    access: 'execute',
    async call(input, signal, callId) {
      const read = readInput(fields, input);
      if (!read.ok) return failedCall(read.message);
      const { todoId, instructions = '' } = read.input;
      // With nobody at work, earlier steps are settled: their reports need not stay in memory.
      if (waiting === 0) begun.clear();
      waiting += 1;
      const turn = last.then(() => delegate(run, tools, { todoId, instructions, signal, callId }));
      begun.set(callId, turn);
      last = turn.then(over, over);
      return turn;
    },
    // An interrupted worker of this process ends by itself; one of a dead process has left its words in the store.
    settle: (callId) => begun.get(callId) ?? settleDelegation(run, callId),
  };
}

async function delegate(
  run: Run,
  ofRun: readonly AgentTool[],
  call: { todoId: string; instructions: string; signal: AbortSignal; callId: string },
): Promise<ToolCallResult> {
  const { signal, callId, instructions } = call;
  if (signal.aborted || run.control.stopping.aborted)
    return failedCall('It was interrupted before the worker started; nothing was delegated.');
  const todo = (await run.state())?.plan.find(({ id }) => id === call.todoId);
  if (todo === undefined)
    return failedCall(
      'There is no todo with this id in the plan; list_todo shows the ids. Nothing was delegated.',
    );
  const worker = run.workers.find(({ name }) => name === todo.agentType);
  if (worker === undefined) {
    const lacks = todo.agentType === null ? 'This todo has no agentType' : 'There is no such worker here';
    const known = run.workers.map(({ name }) => name).join(', ');
    return failedCall(
      `${lacks}: set one with update_todo (${known}), or do it yourself. Nothing was delegated.`,
    );
  }
  const startedAt = run.clock.now();
  const workerId = run.identifiers.next();
  const about = { workerId, agentType: worker.name, todoId: todo.id };
  const { reply } = await run.record({ type: 'delegation-started', ...about, callId });
  const refusal = reply?.refused[0];
  if (refusal !== undefined) return failedCall(refusal.sentence);
  run.tell({ type: 'worker-started', ...about, title: todo.title });
  await showPlan(run);

  const model = worker.model ?? run.model;
  const tools = workerTools(worker, ofRun);
  const canWrite = tools.some(({ access }) => access !== 'read') ? 'yes' : 'no';
  const agent = { name: worker.name, canWrite, model: model.label, variant: null } as const;
  const descriptor = describeSession(run, { pause: null, verify: null }, run.sessionId);
  await run.record({ type: 'session-opened', descriptor, agent }, workerId);
  const place = { sessionId: workerId, model, tools, brief: workerBrief(todo, instructions), signal };
  const end = await runWorker(run, worker, place).catch((error: unknown) => {
    // Safe (S6): what the worker did is in its transcript, and the agent that delegated decides what follows.
    const reason = error instanceof Error ? error.message : String(error);
    return { result: 'failed', sentence: `It broke off unexpectedly: ${reason}`, text: '' } as const;
  });
  await closeSession(run, workerId, end.result);
  await endDelegation(run, { ...about, startedAt }, end);
  await showPlan(run);
  return workerReport(run, about, end);
}

export function describeSession(
  run: Run,
  tools: SessionDescriptor['tools'],
  parentId: string | null = null,
): SessionDescriptor {
  const { directory } = run;
  const kind = parentId === null ? 'main' : 'subagent';
  const about = { host: 'untildone', instance: `untildone:${directory}`, mode: 'asked', kind } as const;
  const facts = { headless: true, immediate: false, everyAgentWrites: false, seesTools: true };
  return { ...about, parentId, directory, ...facts, tools };
}

const ends: Readonly<Record<WorkerResult, StopEnd>> = {
  done: 'normal',
  failed: 'error',
  'timed-out': 'cancelled',
  refused: 'refusal',
  interrupted: 'cancelled',
};

/** The end of a worker is put before the engine like any stop attempt, so that `why` can explain it. */
async function closeSession(run: Run, workerId: string, result: WorkerResult): Promise<void> {
  const facts = { question: false, fingerprint: null, background: [], toolError: null };
  await run.record({ type: 'stop-attempted', end: ends[result], ...facts }, workerId);
}

async function endDelegation(
  run: Run,
  of: Pick<Delegation, 'workerId' | 'agentType' | 'todoId' | 'startedAt'>,
  { result, sentence }: Ending,
): Promise<void> {
  const { workerId, agentType, todoId, startedAt } = of;
  await run.record({ type: 'delegation-ended', workerId, result, sentence });
  const milliseconds = run.clock.now() - startedAt;
  run.tell({ type: 'worker-ended', workerId, agentType, todoId, result, sentence, milliseconds });
}

/**
 * What became of a delegation whose process died (V5). A worker that had ended is reported as it ended; one that was at
 * work is put on the record as interrupted, and its open calls are closed in its own transcript.
 */
async function settleDelegation(run: Run, callId: string): Promise<ToolCallResult> {
  const delegation = (await run.state())?.delegation;
  if (delegation?.callId !== callId)
    return failedCall('The run was interrupted before this worker started; nothing was delegated.');
  const { workerId } = delegation;
  const transcript = await openTranscript(run, { sessionId: workerId, maxMessages: 1 });
  const text = lastWords(transcript.messages());
  let end: Ending | null = delegation.ended;
  if (end === null) {
    await settleInterrupted(
      {
        ...{ run, sessionId: workerId, transcript, tools: [], emit: run.emit },
        signal: () => run.control.signal,
        record: (event) => run.record(event, workerId),
        tell: (event) => run.tell(event, workerId),
      },
      'give-up',
    );
    const session = await run.store.state(workerId);
    // Where its report was written down, only the run had not heard of it.
    const sentence = 'The run was interrupted while it worked.';
    end = session?.lastStop?.end === 'normal' ? reported : { result: 'interrupted', sentence };
    if (session !== null && session.lastStop === null) await closeSession(run, workerId, end.result);
    await endDelegation(run, delegation, end);
  }
  return workerReport(run, delegation, { ...end, text });
}

const longestReport = 12_000;

/** What the agent that delegated is told. It is a stranger's word: marked as such and bounded, and it proves nothing. */
async function workerReport(
  { store }: Run,
  { agentType, workerId, todoId }: Pick<Delegation, 'agentType' | 'workerId' | 'todoId'>,
  { result, sentence, text }: Ending & { readonly text: string },
): Promise<ToolCallResult> {
  const [todo] = await store.todos({ ids: [todoId] });
  const title = todo === undefined ? 'the todo' : quoteForModel(todo.title, 120);
  const label = result === 'done' ? 'Its report, which is its word and not proof' : 'What it said last';
  // Head and tail: what was done stands at the beginning, what is open at the end.
  const head = Math.floor((longestReport * 2) / 3);
  const cut = `${text.slice(0, head)}\n… (cut)\n${text.slice(head - longestReport)}`;
  const said = `${label}:\n<<<\n${text.length <= longestReport ? text : cut}\n>>>`;
  const lines = [
    `The worker ${agentType} (session ${workerId}) ended on ${title}: ${result}. ${sentence}`,
    text.trim() === '' ? 'It said nothing.' : said,
    todo?.status === 'blocked' ? 'The todo is set aside as blocked. Go on with the others.' : advice[result],
  ];
  return { ok: result === 'done', output: lines.join('\n'), duplicate: false };
}

const again =
  'It can be delegated once more, with other instructions; after a second failure it is set aside as blocked.';
const advice: Readonly<Record<WorkerResult, string>> = {
  done: 'Judge it: complete the todo if it is done, or delegate it again with what is missing.',
  interrupted: 'That is nobody’s failure. Look at what is there already; the todo can be delegated again.',
  ...{ failed: again, 'timed-out': again, refused: again },
};

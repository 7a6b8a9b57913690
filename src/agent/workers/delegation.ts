// `delegate` hands todos to workers, one by one (S4, S6). It is on the run's record
// before and after, for a run that is killed in between. The plan says which worker,
// which sees nothing of plan or conversation (M7).
import { messageOf } from '../../core/error.ts';
import type { StopEnd } from '../../core/events.ts';
import { isAllowanceSpent } from '../../core/rules.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import { described, jsonSchema, object, optional, text } from '../../core/schema.ts';
import type { Delegation } from '../../core/state.ts';
import type { Todo } from '../../core/todo.ts';
import type { Clock } from '../../engine/host.ts';
import { createQueue } from '../../engine/system.ts';
import { LoopDetector } from '../../guard/loop-detector.ts';
import { readInput, words } from '../../tools/tool-input.ts';
import { lastWords, openTranscript } from '../context/history.ts';
import { describeWorkspace, neverAnOrder } from '../context/prompt.ts';
import { ownPlace } from '../loop/conduct.ts';
import type { Run } from '../loop/run.ts';
import {
  type AgentOptions,
  openAgent,
  recoverStep,
  runStep,
  takeAlarm,
} from '../loop/step.ts';
import type { AgentTool, ToolCallResult } from '../loop/tool-calls.ts';
import { failedCall, settleInterrupted } from '../loop/tool-calls.ts';
import {
  delegateToolName,
  type Worker,
  type WorkerType,
  workerTools,
} from './worker-types.ts';

const beside =
  'What the worker must know besides the todo: paths, findings, constraints.';
const fields = {
  todoId: described(words, 'The id of a todo that has an agentType.'),
  instructions: described(optional(text()), beside),
};

export function createDelegation(
  run: Run,
  tools: readonly AgentTool[],
): AgentTool | null {
  if (run.workers.length === 0) return null;
  /** At work in this process, by call. */
  const begun = new Map<string, Promise<ToolCallResult>>();
  const inTurn = createQueue();
  return {
    name: delegateToolName,
    description: `Hand a todo to the worker of its agentType (${namesOf(run)}), wait for it, and get its report. The todo is set in_progress; completing it afterwards is up to you. The worker knows the todo and your instructions and nothing else of this conversation.`,
    inputSchema: jsonSchema(object(fields)),
    family: 'delegation',
    access: 'execute',
    async call(input, signal, callId) {
      const read = readInput(fields, input);
      if (!read.ok) return failedCall(read.error);
      const { todoId, instructions = '' } = read.input;
      const work = inTurn(() =>
        delegate(run, tools, { todoId, instructions, signal, callId }),
      );
      const turn = work.finally(() => begun.delete(callId));
      begun.set(callId, turn);
      return turn;
    },
    // One that has ended, or whose process died, has left its words in the store.
    settle: (callId) => begun.get(callId) ?? settleDelegation(run, callId),
  };
}

const namesOf = ({ workers }: Run) => workers.map(({ name }) => name).join(', ');

async function delegate(
  run: Run,
  ofRun: readonly AgentTool[],
  call: Record<'todoId' | 'instructions' | 'callId', string> & { signal: AbortSignal },
): Promise<ToolCallResult> {
  const { signal, callId, instructions } = call;
  if (signal.aborted || run.control.stopping.aborted)
    return failedCall(
      'It was interrupted before the worker started; nothing was delegated.',
    );
  const nothing = (why: string) => failedCall(`${why} Nothing was delegated.`);
  const todo = (await run.state()).plan.find(({ id }) => id === call.todoId);
  if (todo === undefined)
    return nothing('There is no todo with this id in the plan; list_todo shows the ids.');
  const worker = run.workers.find(({ name }) => name === todo.agentType);
  const lacks =
    todo.agentType === null
      ? 'This todo has no agentType'
      : 'There is no such worker here';
  if (worker === undefined)
    return nothing(
      `${lacks}: set one with update_todo (${namesOf(run)}), or do it yourself.`,
    );
  const sessionId = run.identifiers.next();
  const about = { workerId: sessionId, agentType: worker.name, todoId: todo.id };
  const startedAt = run.clock.now();
  const { reply } = await run.record({ type: 'delegation-started', ...about, callId });
  const refusal = reply?.refused[0];
  if (refusal !== undefined) return failedCall(refusal.sentence);
  run.tell({ type: 'worker-started', ...about, title: todo.title });
  await run.showPlan();

  const model = worker.model ?? run.model;
  const tools = workerTools(worker, ofRun);
  const canWrite = tools.some(({ access }) => access !== 'read') ? 'yes' : 'no';
  const agent = {
    name: worker.name,
    canWrite,
    model: model.label,
    variant: null,
  } as const;
  const below = { kind: 'subagent', parentId: run.sessionId } as const;
  const descriptor = { ...ownPlace(run.directory), ...below };
  await run.record({ type: 'session-opened', descriptor, agent }, sessionId);
  const place = {
    sessionId,
    model,
    tools,
    brief: workerBrief(todo, instructions),
    signal,
  };
  const end = await runWorker(run, worker, place).catch((error: unknown) => {
    // Safe (S6): its work is in its transcript; whoever delegated decides.
    return { ...failed(`It broke off unexpectedly: ${messageOf(error)}`), text: '' };
  });
  await endDelegation(run, { ...about, startedAt }, end);
  await run.showPlan();
  return workerReport(run, about, end);
}

type Ending = Pick<NonNullable<Delegation['ended']>, 'result' | 'sentence'>;
const reported: Ending = { result: 'done', sentence: 'It sent its report.' };
const failed = (sentence: string): Ending => ({ result: 'failed', sentence });
const interrupted = (sentence: string): Ending => ({ result: 'interrupted', sentence });
const byHuman = interrupted('It was interrupted by the human.');

const again =
  'It can be delegated once more, with other instructions; after a second failure it is set aside as blocked.';
const results: Readonly<
  Record<Ending['result'], readonly [end: StopEnd, advice: string]>
> = {
  done: [
    'normal',
    'Judge it: complete the todo if it is done, or delegate it again with what is missing.',
  ],
  failed: ['error', again],
  'timed-out': ['cancelled', again],
  refused: ['refusal', again],
  interrupted: [
    'cancelled',
    'That is nobody’s failure. Look at what is there already; the todo can be delegated again.',
  ],
};

/** Its end is a stop attempt, so that `why` can explain it. */
async function endDelegation(
  run: Run,
  { workerId, agentType, todoId, startedAt }: Omit<Delegation, 'callId' | 'ended'>,
  { result, sentence }: Ending,
  hasStopped = false,
) {
  const [end] = results[result];
  const facts = { question: false, fingerprint: null, background: [], toolError: null };
  if (!hasStopped) await run.record({ type: 'stop-attempted', end, ...facts }, workerId);
  await run.record({ type: 'delegation-ended', workerId, result, sentence });
  const milliseconds = run.clock.now() - startedAt;
  run.tell({
    type: 'worker-ended',
    workerId,
    agentType,
    todoId,
    result,
    sentence,
    milliseconds,
  });
}

/** V5: its process died. */
async function settleDelegation(run: Run, callId: string): Promise<ToolCallResult> {
  const delegation = (await run.state()).delegation;
  if (delegation?.callId !== callId)
    return failedCall(
      'The run was interrupted before this worker started; nothing was delegated.',
    );
  const { workerId } = delegation;
  const transcript = await openTranscript(run, { sessionId: workerId, maxMessages: 1 });
  const text = lastWords(transcript.messages());
  let end: Ending | null = delegation.ended;
  if (end === null) {
    await settleInterrupted(
      {
        run,
        sessionId: workerId,
        transcript,
        tools: [],
        emit: run.emit,
        signal: () => run.control.signal,
        record: (event) => run.record(event, workerId),
        tell: (event) => run.tell(event, workerId),
      },
      'give-up',
    );
    const lastStop = (await run.store.state(workerId))?.lastStop;
    // Its report is written down; only the run had not heard of it.
    const cut = interrupted('The run was interrupted while it worked.');
    end = lastStop?.end === 'normal' ? reported : cut;
    await endDelegation(run, delegation, end, lastStop !== null);
  }
  return workerReport(run, delegation, { ...end, text });
}

const longestReport = 12_000;

/** A stranger's word: marked as such, bounded, and no proof. */
async function workerReport(
  { store }: Run,
  { agentType, workerId, todoId }: Pick<Delegation, 'agentType' | 'workerId' | 'todoId'>,
  { result, sentence, text }: Ending & { text: string },
): Promise<ToolCallResult> {
  const [todo] = await store.todos({ ids: [todoId] });
  const [, advice] = results[result];
  const title = todo === undefined ? 'the todo' : quoteForModel(todo.title, 120);
  const label =
    result === 'done'
      ? 'Its report, which is its word and not proof'
      : 'What it said last';
  // What was done stands first, what is open last.
  const head = Math.floor((longestReport * 2) / 3);
  const cut = `${text.slice(0, head)}\n… (cut)\n${text.slice(head - longestReport)}`;
  const said = `${label}:\n<<<\n${text.length <= longestReport ? text : cut}\n>>>`;
  const lines = [
    `The worker ${agentType} (session ${workerId}) ended on ${title}: ${result}. ${sentence}`,
    text.trim() === '' ? 'It said nothing.' : said,
    todo?.status === 'blocked'
      ? 'The todo is set aside as blocked. Go on with the others.'
      : advice,
  ];
  return { ok: result === 'done', output: lines.join('\n') };
}

async function runWorker(
  run: Run,
  worker: Worker,
  given: Pick<AgentOptions, 'sessionId' | 'model' | 'tools'> & {
    brief: string;
    signal: AbortSignal;
  },
): Promise<Ending & { text: string }> {
  const { clock, control } = run;
  const { brief, signal: ofRun, ...place } = given;
  const { maxSteps, maxTokens, timeoutSeconds } = worker;
  const transcript = await openTranscript(run, { ...run.settings.context, ...place });
  await transcript.append([{ kind: 'human', message: { role: 'user', content: brief } }]);
  const time = createTimeLimit(clock, timeoutSeconds * 1000);
  const signal = AbortSignal.any([ofRun, time.over]);
  // Its time stands still while a human is asked.
  const emit: Run['emit'] = (event) => {
    if (event.type === 'permission-asked') time.pause();
    if (event.type === 'permission-answered') time.goOn();
    run.emit(event);
  };
  const agent = openAgent({
    ...place,
    run,
    asked: { ...run.settings, ...worker },
    system: workerPrompt(worker, run.directory),
    transcript,
    detector: new LoopDetector(),
    emit,
    signal: () => signal,
    async waitForRetry(dueAt) {
      time.pause();
      if (dueAt !== null) await control.wait(dueAt, () => null, signal);
      time.goOn();
      return true;
    },
    plan: async () => null,
  });
  const late = `It did not report within its ${timeoutSeconds} seconds.`;
  const timedOut: Ending = { result: 'timed-out', sentence: late };
  let emptyAnswers = 0;

  async function endBefore(step: number): Promise<Ending | null> {
    if (time.over.aborted) return timedOut;
    if (signal.aborted || control.stopping.aborted) return byHuman;
    if (step > maxSteps) return failed(`It did not report within its ${maxSteps} steps.`);
    if (maxTokens !== null && agent.tokens >= maxTokens)
      return failed(`It spent its ${maxTokens} tokens without a report.`);
    // Not its failure: the run is at its end.
    return (await run.isNow(isAllowanceSpent))
      ? interrupted('The budget of the run is spent.')
      : null;
  }

  async function takeStep(number: number): Promise<Ending | null> {
    if (number === maxSteps && number > 1) await agent.note(lastStepNote);
    run.steps += 1;
    agent.tell({ type: 'step-started', step: number });
    const step = await runStep(agent, null);
    switch (step.kind) {
      case 'aborted':
        await settleInterrupted(agent, 'give-up');
        if (time.over.aborted) return timedOut;
        if (!time.isPaused() || control.stopping.aborted) return byHuman;
        return interrupted('It asked for a permission, and nobody has answered yet.');
      case 'failed':
        await settleInterrupted(agent, 'give-up');
        if (await recoverStep(agent, step.error)) return null;
        return failed(agent.failure ?? 'Its model could not be reached.');
      case 'tools': {
        const pattern = takeAlarm(agent);
        return pattern === null ? null : failed(`It went round in circles: ${pattern}.`);
      }
      case 'stopped':
        if (step.end === 'content-filter')
          return {
            result: 'refused',
            sentence: 'It refused, or its answer was filtered.',
          };
        if (step.end !== 'length' && step.end !== 'empty') return reported;
        if (step.end === 'empty') emptyAnswers += 1;
        if (emptyAnswers > 1) return failed('It gave an empty answer twice.');
        await agent.note(step.end === 'length' ? cutAnswerNote : emptyAnswerNote);
        return null;
    }
  }

  try {
    for (let step = 1; ; step += 1) {
      const end = (await endBefore(step)) ?? (await takeStep(step));
      if (end !== null) return { ...end, text: lastWords(transcript.messages()) };
    }
  } finally {
    time.close();
  }
}

/** Pauses may overlap; each `pause` is followed by `goOn` (G9, S7). */
export function createTimeLimit(clock: Clock, milliseconds: number) {
  const over = new AbortController();
  let left = milliseconds;
  let since = clock.now();
  let pauses = 0;
  const start = () => clock.wake(since + left, () => over.abort());
  let cancel = start();
  return {
    over: over.signal,
    isPaused: () => pauses > 0,
    pause() {
      pauses += 1;
      if (pauses > 1) return;
      cancel();
      left -= clock.now() - since;
    },
    goOn() {
      pauses -= 1;
      if (pauses > 0) return;
      since = clock.now();
      cancel = start();
    },
    close: () => cancel(),
  };
}

const longestText = 4000;
const longestInstructions = 20_000;

export function workerPrompt(
  { name, prompt, isProjectPrompt }: WorkerType,
  root: string,
): string {
  // A human's words are orders; a project's file only informs.
  const quoted = `The project says about this kind of work: ${quoteForModel(prompt ?? '', longestText)}`;
  const own = isProjectPrompt ? quoted : prompt;
  return [
    [
      `You are a worker of the type ${name}. Another agent hands you one piece of work; do it in the workspace, with tools, and report.`,
      'Do that piece and nothing else. Look before you change, and check what you changed by running or reading it.',
      neverAnOrder,
      'Nobody can answer questions: decide by yourself and note the assumption. If you cannot do the work, say so and why.',
      'End with a short report: what you did or found, with the paths that matter, what you checked and how, and what is left open. Do not claim what you have not seen.',
    ].join('\n'),
    ...(own === null ? [] : [own]),
    describeWorkspace(root, process.platform),
  ].join('\n\n');
}

export function workerBrief(todo: Todo, instructions: string): string {
  const line = (label: string, text: string | null) =>
    text === null || text.trim() === ''
      ? []
      : [`${label}: ${quoteForModel(text, longestText)}`];
  return [
    `The work: ${quoteForModel(todo.title, longestText)}`,
    ...line('It is done when', todo.completionCriteria),
    ...line('Context', todo.context),
    ...(instructions.trim() === ''
      ? []
      : [`Instructions:\n${instructions.slice(0, longestInstructions)}`]),
    ...(todo.startedAt === null
      ? []
      : ['It was started before: look first at what is there already.']),
  ].join('\n');
}

const lastStepNote =
  '[last step] Your steps are used up. Call no tool now; report what you did, what you checked, and what is left open.';
const emptyAnswerNote =
  '[empty answer] Your answer was empty. Go on, or report what you did.';
const cutAnswerNote =
  '[cut off] Your answer was cut off by the output limit. Go on where you stopped, in smaller steps.';

// An agent, the run's own or a worker: one model call at a time through the guard,
// written down, and what follows a failed one. It never decides whether the work is over.
import type {
  LanguageModelUsage,
  ModelMessage,
  TextStreamPart,
  ToolCallPart,
  ToolModelMessage,
  ToolSet,
} from 'ai';
import { isStepCount, jsonSchema, streamText } from 'ai';
import type { Draft, Event } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';
import { isObject } from '../../core/schema.ts';
import { type AskedSettings, askedNames } from '../../core/settings.ts';
import type { Handled } from '../../engine/engine.ts';
import { onAbort } from '../../engine/system.ts';
import type { PartLike, StopFacts } from '../../guard/guard-transform.ts';
import { createGuard } from '../../guard/guard-transform.ts';
import type { LoopDetector } from '../../guard/loop-detector.ts';
import type { AgentEvent, UsageView } from '../agent-event.ts';
import type { Transcript, TranscriptMessage } from '../context/history.ts';
import { askedOptions, createWindow } from '../context/prompt.ts';
import {
  classifyError,
  defaultRetryLimits,
  noFailures,
  planRetry,
} from '../models/failed-call.ts';
import { addUsage, type Run } from './run.ts';
import {
  type AgentTool,
  callTool,
  createAnswerOrder,
  failedCall,
  type ToolCallResult,
  toolOutput,
  unreadableCall,
} from './tool-calls.ts';

type Part = TextStreamPart<ToolSet>;

export type AgentOptions = Pick<Run, 'sessionId' | 'model' | 'emit'> &
  Readonly<{
    run: Run;
    asked: AskedSettings;
    tools: readonly AgentTool[];
    system: string;
    transcript: Transcript;
    detector: LoopDetector;
    signal(): AbortSignal;
    /** False: the human stopped it meanwhile. */
    waitForRetry(dueAt: number | null): Promise<boolean>;
    /** null: nothing is open, or nobody holds this agent to a plan. */
    plan(): Promise<string | null>;
  }>;

export type Agent = ReturnType<typeof openAgent>;

export function openAgent(options: AgentOptions) {
  const { run, sessionId, transcript } = options;
  return {
    ...options,
    window: createWindow(options),
    tokens: 0,
    failure: null as string | null,
    failures: noFailures,
    alarm: null as string | null,
    /** The error of the last call that the step itself made. */
    toolError: null as string | null,
    /** Since when it has done nothing but wait for jobs. */
    waitingSince: null as number | null,
    /** For the first call that succeeds (I6). */
    hint: null as string | null,
    tell: (event: Draft<AgentEvent>) => run.tell(event, sessionId, options.emit),
    record: (event: Draft<Event>) => run.record(event, sessionId),
    note: (content: string, kind: 'note' | 'continuation' = 'note') =>
      transcript.append([{ kind, message: { role: 'user', content } }]),
  };
}

export type StepResult = Awaited<ReturnType<typeof runStep>>;

/** `ask`: about a stop while its text is held; null: nothing is held. */
export async function runStep(
  agent: Agent,
  ask: ((stop: StopFacts) => Promise<Handled | null>) | null,
) {
  await compactIfDue(agent);
  const signal = agent.signal();
  const stepId = agent.run.identifiers.next();
  let hasCalled = false;
  let onlyWaited = true;
  let toolError = null as string | null;
  let response = null as ModelMessage[] | null;
  /** null: nobody was asked while the text was held, and it is out. */
  let asked = null as Handled | null;
  let failure = null as { readonly cause: unknown } | null;
  let isHeldBack = false as boolean;

  const show = (type: 'text' | 'text-held') => (part: Part) =>
    part.type === 'text-delta' && agent.tell({ type, text: part.text });
  const guard = createGuard<Part>({
    hasOpenTodos: async () => (await agent.plan()) !== null,
    isDuplicate: (part) =>
      part.type === 'tool-result' && (part.output as ToolCallResult).duplicate === true,
    ask: async (stop) => {
      asked = ask && (await unlessAborted(ask(stop), signal));
      if (asked?.answer?.answer !== 'continue' || asked.answer.text === null)
        return { answer: 'release' };
      return { answer: 'retry', reminder: asked.answer.text };
    },
    remind: (_reminder, text) => {
      isHeldBack = true;
      agent.tell({ type: 'text-held-back', text });
    },
    onHeld: show('text-held'),
    onFailure: (cause) => {
      failure = { cause };
    },
  });
  const inOrder = createAnswerOrder();
  const watchCall = (
    call: { name: string; input: unknown },
    result: string,
    isWait = false,
  ) => {
    agent.run.toolCalls += 1;
    onlyWaited &&= isWait;
    // An agent that waits for a living job gets the same answer each time (P18).
    if (!isWait)
      agent.alarm ??= agent.detector.observeCall({ ...call, result })?.pattern ?? null;
  };
  /** By their ids: calls that reached no tool, and what the model is told about them. */
  const unreadable = new Map<string, string>();
  const refuseCall = ({ toolCallId: callId, toolName: name, input }: ToolCallPart) => {
    const sentence = unreadableCall(agent.tools, name);
    unreadable.set(callId, sentence);
    toolError = blamedOnTodo(
      agent.tools.find((tool) => tool.name === name),
      sentence,
    );
    agent.tell({ type: 'tool-started', callId, tool: name, input });
    agent.tell({
      type: 'tool-ended',
      callId,
      tool: name,
      ok: false,
      output: sentence,
      milliseconds: 0,
    });
    watchCall({ name, input }, sentence);
  };
  const tools = agent.tools.map((tool) => {
    const { name, description } = tool;
    const inputSchema = jsonSchema(tool.inputSchema as Parameters<typeof jsonSchema>[0]);
    const make = async (input: unknown, callId: string) => {
      if (signal.aborted)
        return failedCall('This call was not made: the step was interrupted.');
      const result = await callTool(agent, tool, { callId, stepId, input });
      hasCalled = true;
      toolError = result.ok ? null : blamedOnTodo(tool, result.output.slice(0, 500));
      watchCall({ name, input }, result.output, tool.waits?.(input));
      return result;
    };
    const execute = (input: unknown, { toolCallId }: { toolCallId: string }) =>
      inOrder(tool.access === 'read', () => make(input, toolCallId));
    const toModelOutput = ({ output }: { output: unknown }) =>
      toolOutput(output as ToolCallResult);
    return [name, { description, inputSchema, execute, toModelOutput }] as const;
  });
  /**
   * The SDK's words about a call that it could not read are an error's, with the whole
   * input.
   */
  const inPlainWords = (part: ToolModelMessage['content'][number]) => {
    const sentence =
      part.type === 'tool-result' ? unreadable.get(part.toolCallId) : undefined;
    return sentence === undefined
      ? part
      : { ...part, output: toolOutput(failedCall(sentence)) };
  };
  async function* callModel(): AsyncGenerator<Part> {
    const limits = {
      stopWhen: isStepCount(1),
      maxRetries: 0,
      abortSignal: signal,
      onError: () => {},
    };
    const prompt = await agent.window.prompt(agent.hint);
    const toolSet = Object.fromEntries(tools) as ToolSet;
    const include = { requestBody: agent.asked.reasoningEffort !== null };
    const asked = { ...askedOptions(agent.asked), include };
    const result = streamText({
      model: agent.model.model,
      ...prompt,
      tools: toolSet,
      ...limits,
      ...asked,
    });
    let end: Part | null = null;
    for await (const part of result.stream) {
      if (part.type === 'start-step') tellUntaken(agent, part);
      // Counted before the engine is asked, because the cost may end the run (G8).
      if (part.type === 'finish-step') {
        await count(agent, part.usage, true);
        end = part;
      } else if (part.type !== 'finish') {
        if (part.type === 'tool-call' && part.invalid) refuseCall(part);
        yield part;
      }
    }
    // The SDK's messages carry what providers want back (thinking signatures).
    response = (await result.responseMessages) as ModelMessage[];
    // Last: the decision may take minutes; no connection should wait for it.
    if (end !== null) yield end;
  }
  for await (const part of modelParts(callModel, signal))
    await guard.take(part, show('text'));
  guard.end(show('text'));

  const facts = guard.step().facts();
  const kind = isHeldBack ? 'held' : 'agent';
  // Calls of a step that broke off are left to settleInterrupted.
  const isLost = hasCalled || facts.text.trim() === '';
  const broken: ModelMessage[] = isLost
    ? []
    : [{ role: 'assistant', content: facts.text }];
  const rows = (response ?? broken).map(
    (message): TranscriptMessage =>
      message.role === 'tool'
        ? {
            kind: 'tools',
            message: { ...message, content: message.content.map(inPlainWords) },
          }
        : { kind, message },
  );
  if (rows.length > 0) await agent.transcript.append(rows, stepId);
  const error = guard.step().broken().error ?? failure;
  if (error !== null) return { kind: 'failed', error: error.cause } as const;
  agent.failures = noFailures;
  agent.hint = null;
  if (facts.end === 'cancelled' || (signal.aborted && asked === null))
    return { kind: 'aborted' } as const;
  if (!facts.calledTools || facts.onlyDuplicates)
    return { kind: 'stopped', ...facts, asked, isHeldBack } as const;
  agent.toolError = toolError;
  const now = agent.run.clock.now();
  agent.waitingSince = onlyWaited ? (agent.waitingSince ?? now) : null;
  // A server never ends: some day waiting for it counts like any other step.
  const waitedMs = now - (agent.waitingSince ?? now);
  const isFree =
    onlyWaited && waitedMs < agent.run.settings.backgroundWaitMinutes * 60_000;
  return { kind: 'tools', isFree } as const;
}

/** What the SDK's warnings call them, in any of the vendors' packages. */
const warnedAs: Readonly<Record<keyof AskedSettings, RegExp>> = {
  reasoningEffort: /reasoning|thinking|effort/i,
  maxOutputTokens: /maxOutputTokens/i,
  temperature: /temperature/i,
};

/**
 * The SDK leaves out or changes what a model does not take, and tells programmers only.
 */
function tellUntaken(
  agent: Agent,
  { warnings, request }: Extract<Part, { type: 'start-step' }>,
) {
  const { asked, model, run } = agent;
  for (const name of askedNames.filter((one) => asked[one] !== null)) {
    const warning = warnings.find(
      (one) => 'feature' in one && warnedAs[name].test(one.feature),
    );
    // OpenAI's package says nothing if it drops an effort because it does not know that
    // the model can think.
    const isDropped = name === 'reasoningEffort' && !hasEffort(request.body);
    if (warning === undefined && !isDropped) continue;
    const details =
      warning !== undefined && 'details' in warning ? warning.details : 'it was not sent';
    const why = oneLine(details ?? '', 300)
      .replace(/\.$/, '')
      .replace(/\.(?= [a-z])/g, ';');
    const sentence = `${model.label} does not take ${name} ${asked[name]} as it is set${why && `: ${why}`}.`;
    if (!run.untaken.has(sentence)) agent.tell({ type: 'notice', sentence });
    run.untaken.add(sentence);
  }
}

/** In the words of the four protocols. True as well where the body cannot be seen. */
function hasEffort(body: unknown) {
  if (!isObject(body)) return true;
  const sent = { ...body, ...(body['generationConfig'] as object | undefined) };
  const words = [
    'reasoning',
    'reasoning_effort',
    'thinking',
    'output_config',
    'thinkingConfig',
  ];
  return words.some((word) => word in sent);
}

export function takeAlarm(agent: Agent, said = '') {
  agent.alarm ??= agent.detector.observeText(said)?.pattern ?? null;
  const pattern = agent.alarm;
  agent.alarm = null;
  return pattern;
}

/** For its session and the run's budgets (G8). A summary does not fill the context. */
async function count(agent: Agent, used: UsageLike, fillsContext: boolean) {
  const { run, sessionId, model } = agent;
  const step = callUsage(used, model.price);
  const { inputTokens, outputTokens, cost } = step;
  run.usage = addUsage(run.usage, step);
  for (const spender of new Set([sessionId, run.sessionId])) {
    const isOwn = spender === sessionId;
    const contextTokens = fillsContext && isOwn ? inputTokens : null;
    const window = { contextTokens, contextLimit: isOwn ? model.contextLimit : null };
    await run.record(
      { type: 'usage-reported', inputTokens, outputTokens, cost, ...window },
      spender,
    );
  }
  agent.tell({ type: 'usage', step, total: run.usage });
  agent.tokens += inputTokens + outputTokens;
  if (fillsContext) agent.window.reported(inputTokens);
}

type UsageLike = Partial<Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens'>> & {
  readonly inputTokenDetails?:
    | Partial<LanguageModelUsage['inputTokenDetails']>
    | undefined;
};

export function callUsage(usage: UsageLike, price: Run['model']['price']): UsageView {
  const { inputTokens: input, outputTokens: output, inputTokenDetails: details } = usage;
  const counted = (count: unknown, most = Number.MAX_VALUE) =>
    isCount(count) ? Math.min(count, most) : 0;
  const inputTokens = counted(input);
  const outputTokens = counted(output);
  const cachedTokens = counted(details?.cacheReadTokens, inputTokens);
  const written = counted(details?.cacheWriteTokens, inputTokens - cachedTokens);
  const tokens = { inputTokens, cachedTokens, outputTokens };
  if (price === null || !isCount(input) || !isCount(output))
    return { ...tokens, cost: null };
  const millions =
    (inputTokens - cachedTokens - written) * price.input +
    cachedTokens * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    output * price.output;
  return { ...tokens, cost: millions / 1_000_000 };
}

const isCount = (value: unknown): value is number =>
  Number.isFinite(value) && Number(value) >= 0;

export async function compactIfDue(agent: Agent) {
  if (agent.window.isCompactionDue()) await compact(agent);
}

/** On the record: nothing is sent meanwhile. */
async function compact(agent: Agent) {
  await agent.record({ type: 'wait-started', wait: { kind: 'compaction' } });
  const spend = (usage: UsageLike) => count(agent, usage, false);
  const { shrunk, before, after } = await agent.window.compact(agent.signal(), spend);
  await agent.record({ type: 'wait-ended', wait: { kind: 'compaction', shrunk } });
  if (shrunk)
    agent.tell({ type: 'compacted', messagesBefore: before, messagesAfter: after });
}

/** True: waited, and to be tried again. False: left to the engine (G9, P21–P23). */
export async function recoverStep(agent: Agent, error: unknown): Promise<boolean> {
  const { clock, settings, random = Math.random } = agent.run;
  const now = clock.now();
  const hasAnswered = agent.transcript
    .messages()
    .some(({ role }) => role === 'assistant');
  const classified = classifyError(error, { now, about: agent.model, hasAnswered });
  const { kind, signature } = classified;
  const limits = { ...defaultRetryLimits, attempts: settings.circuitAfter };
  const plan = planRetry(classified, agent.failures, { now, random: random(), limits });
  const retryAt = plan.retry ? now + plan.delayMs : null;
  const { attempts, outages, outageMs } = plan.failures;
  const tries = `It was tried ${outages} times in ${Math.round(outageMs / 60_000)} min.`;
  const sentence =
    outages > 1 && !plan.retry ? `${classified.sentence} ${tries}` : classified.sentence;
  agent.failures = plan.failures;
  agent.failure = sentence;
  const isKnown = kind === 'rate-limit' || kind === 'overload' || kind === 'overflow';
  // A circuit that opened stays open until the human speaks (G9): while an outage is
  // waited for it must not open.
  const isCounted = !plan.retry || attempts + outages < settings.circuitAfter;
  const unknown = isCounted ? 'other' : 'overload';
  const recorded = isKnown ? kind : unknown;
  const about = { kind: recorded, signature, message: sentence, retryAt } as const;
  const { state } = await agent.record({ type: 'error-occurred', ...about });
  agent.tell({ type: 'error', kind, sentence, retryAt });
  // Compaction did not cure two overflows.
  const isOverflow = kind === 'overflow';
  if (isOverflow ? state.overflows >= 2 : !plan.retry) return false;
  if (isOverflow) await compact(agent);
  return agent.waitForRetry(isOverflow ? null : retryAt);
}

export function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => resolve(null));
    promise.finally(stop).then(resolve, reject);
  });
}

/** Longer feels like a Ctrl-C that does not work. */
const graceMs = 100;

export type EndPart = Readonly<
  { type: 'error'; error: unknown } | { type: 'abort'; reason?: string }
>;

/**
 * Never throws: the last part says what broke. A stream that ignores the signal is left.
 */
export async function* modelParts<Part extends PartLike>(
  open: () => AsyncIterable<Part>,
  signal: AbortSignal,
): AsyncGenerator<Part | EndPart, void, undefined> {
  const abortPart = (): EndPart => ({ type: 'abort', reason: signal.reason?.message });
  if (signal.aborted) return yield abortPart();
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stop = onAbort(signal, () => {
    timer = setTimeout(() => late.abort(), graceMs);
  });
  let stream: AsyncIterator<Part> | null = null;
  let end: EndPart | null = null;
  let isTold = false;
  try {
    stream = open()[Symbol.asyncIterator]();
    while (stream !== null && end === null) {
      const next = await unlessAborted(stream.next(), late.signal);
      if (next === null) end = abortPart();
      else if (next.done) stream = null;
      else {
        isTold ||= next.value.type === 'abort' || next.value.type === 'error';
        yield next.value;
      }
    }
  } catch (error) {
    // Safe: the failure travels on as a part; after an abort it is the abort.
    stream = null;
    end = signal.aborted ? abortPart() : { type: 'error', error };
  } finally {
    stop();
    clearTimeout(timer);
    // Not awaited: it may hang.
    Promise.resolve(stream?.return?.()).catch(() => undefined);
  }
  if (end !== null && !isTold) yield end;
}

/**
 * A slip with the list says nothing about the todo, and a worker's failure is counted
 * there (S6).
 */
function blamedOnTodo(tool: AgentTool | undefined, error: string): string | null {
  return tool === undefined || tool.family === 'workspace' ? error : null;
}

// An agent in conversation with its model, the run's own or a worker: one model call at a time, its stream through the
// guard, the step written down at its end, and what follows a failed call. It never decides whether the work is over.
import {
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
} from 'ai';
import type { Event } from '../../core/events.ts';
import type { AgentEvent, Emit } from '../agent-event.ts';
import { createWindow } from '../context/compaction.ts';
import type { Transcript, TranscriptMessage } from '../context/history.ts';
import { Guard, GuardMemory, type StopFacts } from '../guard/guard-transform.ts';
import { type PartLike, type StepFacts, StepWatch } from '../guard/hold-back.ts';
import type { LoopDetector } from '../guard/loop-detector.ts';
import { classifyError } from '../models/classify-error.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { defaultRetryLimits, noFailures, planRetry } from '../models/retry-plan.ts';
import type { UsageLike } from '../models/usage.ts';
import { onAbort } from './control.ts';
import type { Asked } from './loop.ts';
import { countUsage, type Draft, type Run } from './run.ts';
import { type AgentTool, callTool, type ToolCallResult, toolOutput } from './tool-calls.ts';

type Part = TextStreamPart<ToolSet>;

export type StepResult =
  | { readonly kind: 'tools'; readonly toolError: string | null }
  | (Pick<StepFacts, 'end' | 'text' | 'question'> & {
      readonly kind: 'stopped';
      /** What was answered while the text was held; null: nobody was asked, and the text is out. */
      readonly asked: Asked | null;
      readonly isHeldBack: boolean;
    })
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'aborted' };

export interface AgentOptions {
  readonly run: Run;
  readonly sessionId: string;
  readonly model: ResolvedModel;
  readonly tools: readonly AgentTool[];
  readonly system: string;
  readonly transcript: Transcript;
  readonly detector: LoopDetector;
  readonly emit: Emit;
  signal(): AbortSignal;
  waitForRetry(dueAt: number | null): Promise<'stopped' | 'go-on'>;
  /** What stands at the end of every call; null: nothing of it is open, or nobody holds this agent to a plan. */
  plan(): Promise<string | null>;
  hasOpenTodos(): Promise<boolean>;
}

export type Agent = ReturnType<typeof openAgent>;

export function openAgent(options: AgentOptions) {
  const { run, sessionId, transcript } = options;
  return {
    ...options,
    window: createWindow(options, run.settings.context),
    tokens: 0,
    failure: null as string | null,
    failures: noFailures,
    alarm: null as string | null,
    tell: (event: Draft<AgentEvent>): void => run.tell(event, sessionId, options.emit),
    record: (event: Draft<Event>) => run.record(event, sessionId),
    note: (content: string) => transcript.append([{ kind: 'note', message: { role: 'user', content } }]),
  };
}

/** `hint` goes with this call only. `ask` decides about a stop while its text is held; null: it is let out. */
export async function runStep(
  agent: Agent,
  hint: string | null,
  ask: ((stop: StopFacts) => Promise<Asked | null>) | null,
): Promise<StepResult> {
  await compactIfDue(agent);
  const signal = agent.signal();
  const stepId = agent.run.identifiers.next();
  const watch = new StepWatch<Part>(isDuplicate);
  const calls: MadeCall[] = [];
  let response = null as ModelMessage[] | null;
  let asked = null as Asked | null;
  let failure = null as { readonly cause: unknown } | null;
  let isHeldBack = false;

  const guard = new Guard<Part>({
    memory: new GuardMemory(),
    hasOpenTodos: () => agent.hasOpenTodos(),
    isPaused: () => false,
    readPlan: () => '',
    isDuplicate,
    maxAttempts: ask === null ? 1 : 2,
    ask: async (stop) => {
      asked = ask === null ? null : await unlessAborted(ask(stop), signal);
      if (asked?.answer?.answer !== 'continue' || asked.answer.text === null) return { answer: 'release' };
      return { answer: 'retry', reminder: asked.answer.text, level: asked.decision?.level ?? 1 };
    },
    remind: (_reminder, text) => {
      isHeldBack = true;
      agent.tell({ type: 'text-held-back', text });
    },
    onHeld: (part) => part.type === 'text-delta' && agent.tell({ type: 'text-held', text: part.text }),
    onFailure: (cause) => {
      failure = { cause };
    },
  });
  async function* callModel(): AsyncGenerator<Part> {
    const limits = { stopWhen: isStepCount(1), maxRetries: 0, abortSignal: signal, onError: () => {} };
    const prompt = await agent.window.prompt(hint);
    const tools = toolSet(agent, stepId, calls);
    const result = streamText({ model: agent.model.model, ...prompt, tools, ...limits });
    let end: Part | null = null;
    for await (const part of result.stream) {
      // Before anyone is asked: what this very answer cost has a say in the decision (G8).
      if (part.type === 'finish-step') await count(agent, part.usage, true);
      if (part.type === 'finish-step') end = part;
      else if (part.type !== 'finish') yield part;
    }
    // The SDK's own messages carry what providers want back (thinking signatures); ours would lose it.
    response = (await result.responseMessages) as ModelMessage[];
    // Last: the decision may take minutes, and no connection should wait for it.
    if (end !== null) yield end;
  }
  const show = (part: Part): void => {
    if (part.type === 'text-delta') agent.tell({ type: 'text', text: part.text });
  };
  for await (const part of modelParts(callModel, signal)) {
    watch.observe(part);
    await guard.take(part, show);
  }
  await guard.end(show);

  const facts = watch.facts();
  const kind = isHeldBack ? 'held' : 'agent';
  // A step that broke off leaves its calls unsettled: settleInterrupted turns those into messages.
  const isLost = calls.length > 0 || facts.text.trim() === '';
  const broken: ModelMessage[] = isLost ? [] : [{ role: 'assistant', content: facts.text }];
  const rows = (response ?? broken).map(
    (message): TranscriptMessage => ({ kind: message.role === 'tool' ? 'tools' : kind, message }),
  );
  if (rows.length > 0) await agent.transcript.append(rows, stepId);
  const error = watch.error ?? failure;
  if (error !== null) return { kind: 'failed', error: error.cause };
  agent.failures = noFailures;
  if (facts.end === 'cancelled' || (signal.aborted && asked === null)) return { kind: 'aborted' };
  if (!facts.calledTools || facts.onlyDuplicates) return { kind: 'stopped', ...facts, asked, isHeldBack };
  const last = calls.at(-1);
  const isOwnFailure = last !== undefined && !last.result.ok && last.tool.family !== 'delegation';
  return { kind: 'tools', toolError: isOwnFailure ? last.result.output.slice(0, 500) : null };
}

interface MadeCall {
  readonly tool: AgentTool;
  readonly result: ToolCallResult;
}

function toolSet(agent: Agent, stepId: string, calls: MadeCall[]): ToolSet {
  const entries = agent.tools.map((tool) => {
    const { name, description } = tool;
    const inputSchema = jsonSchema(tool.inputSchema as Parameters<typeof jsonSchema>[0]);
    const execute = async (input: unknown, { toolCallId }: { toolCallId: string }) => {
      const result = await callTool(agent, tool, { callId: toolCallId, stepId, input });
      calls.push({ tool, result });
      agent.run.toolCalls += 1;
      agent.alarm ??= agent.detector.observeCall({ name, input, result: result.output })?.pattern ?? null;
      return result;
    };
    const toModelOutput = ({ output }: { output: unknown }) => toolOutput(output as ToolCallResult);
    return [name, { description, inputSchema, execute, toModelOutput }];
  });
  return Object.fromEntries(entries) as ToolSet;
}

function isDuplicate(part: Part): boolean {
  return part.type === 'tool-result' && (part.output as ToolCallResult).duplicate;
}

export function takeAlarm(agent: Agent, said: string | null): string | null {
  if (said !== null) agent.alarm ??= agent.detector.observeText(said)?.pattern ?? null;
  const pattern = agent.alarm;
  agent.alarm = null;
  return pattern;
}

async function count(agent: Agent, used: UsageLike, fillsContext: boolean): Promise<void> {
  const by = agent.sessionId;
  const spent = await countUsage(agent.run, used, agent.model, { by, fillsContext });
  agent.tokens += spent.inputTokens + spent.outputTokens;
  if (fillsContext) agent.window.reported(spent.inputTokens);
}

export async function compactIfDue(agent: Agent): Promise<void> {
  if (agent.window.isCompactionDue()) await compact(agent);
}

/** The engine knows while it is done, so that nothing is sent meanwhile; watchers are told if it helped. */
async function compact(agent: Agent): Promise<void> {
  await agent.record({ type: 'wait-started', wait: { kind: 'compaction' } });
  const onUsage = (usage: UsageLike): Promise<void> => count(agent, usage, false);
  const { shrunk, before, after } = await agent.window.compact(agent.signal(), onUsage);
  await agent.record({ type: 'wait-ended', wait: { kind: 'compaction', shrunk } });
  if (shrunk) agent.tell({ type: 'compacted', messagesBefore: before, messagesAfter: after });
}

/** After a failed call: the error is on the record, then it is waited for, or the engine is left to judge (G9, P21–P23). */
export async function recover(agent: Agent, error: unknown): Promise<'retry' | 'give-up'> {
  const { clock, settings, random = Math.random } = agent.run;
  const now = clock.now();
  const classified = classifyError(error, { now, about: agent.model });
  const { kind, signature, sentence } = classified;
  const limits = { ...defaultRetryLimits, attempts: settings.circuitAfter };
  const plan = planRetry(classified, agent.failures, { now, random: random(), limits });
  const retryAt = plan.retry ? clock.now() + plan.delayMs : null;
  agent.failures = plan.failures;
  agent.failure = sentence;
  const isKnown = kind === 'rate-limit' || kind === 'overload' || kind === 'overflow';
  const about = { kind: isKnown ? kind : 'other', signature, message: sentence, retryAt } as const;
  const { state } = await agent.record({ type: 'error-occurred', ...about });
  agent.tell({ type: 'error', kind, sentence, retryAt });
  // Two overflows that compaction did not cure are for the engine to judge.
  if (kind === 'overflow' ? state.overflows >= 2 : !plan.retry) return 'give-up';
  if (kind === 'overflow') await compact(agent);
  const waited = await agent.waitForRetry(kind === 'overflow' ? null : retryAt);
  return waited === 'stopped' ? 'give-up' : 'retry';
}

export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  let stop = (): void => {};
  const aborted = new Promise<null>((resolve) => {
    stop = onAbort(signal, () => resolve(null));
  });
  return Promise.race([promise, aborted]).finally(() => stop());
}

/** Longer would be felt as a Ctrl-C that does not work. */
const graceMs = 100;

export type EndPart =
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'abort'; readonly reason?: string };

/**
 * The parts of one model call, pulled one at a time and only when asked. It never throws: a stream that breaks off ends
 * with a part that says so. One that hears the signal ends by itself, with its last tool results; one that does not is
 * left after a moment.
 */
export async function* modelParts<Part extends PartLike>(
  open: () => AsyncIterable<Part>,
  signal: AbortSignal,
): AsyncGenerator<Part | EndPart, void, undefined> {
  const abortPart = (): EndPart => {
    const reason: unknown = signal.reason;
    return reason instanceof Error ? { type: 'abort', reason: reason.message } : { type: 'abort' };
  };
  if (signal.aborted) return yield abortPart();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => {};
  const left = new Promise<null>((resolve) => {
    stop = onAbort(signal, () => {
      timer = setTimeout(resolve, graceMs, null);
    });
  });
  let stream: AsyncIterator<Part> | null = null;
  let end: EndPart | null = null;
  let isTold = false;
  try {
    stream = open()[Symbol.asyncIterator]();
    while (stream !== null && end === null) {
      const next = await Promise.race([stream.next(), left]);
      if (next === null) end = abortPart();
      else if (next.done) stream = null;
      else {
        isTold ||= next.value.type === 'abort' || next.value.type === 'error';
        yield next.value;
      }
    }
  } catch (error) {
    // Safe: the failure travels on as a part. What a stream throws after an abort is the abort.
    stream = null;
    end = signal.aborted ? abortPart() : { type: 'error', error };
  } finally {
    stop();
    clearTimeout(timer);
    // Not awaited: a stream that hangs must not hold its reader, and its failure concerns nobody any more.
    Promise.resolve(stream?.return?.()).catch(() => undefined);
  }
  if (end !== null && !isTold) yield end;
}

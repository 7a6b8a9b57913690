// What a worker works with: a conversation of its own in the store, a window on it, and its part of the run's tools.
// It neither decides when the work is over nor knows a plan: see run-worker.ts.
import type { Emit } from '../agent-event.ts';
import { GuardMemory } from '../guard/guard-memory.ts';
import { LoopDetector } from '../guard/loop-detector.ts';
import { createCompaction } from '../loop/compact-history.ts';
import { createContextWindow } from '../loop/context-window.ts';
import { settleInterrupted } from '../loop/interrupted-calls.ts';
import { type ModelStepResult, runModelStep } from '../loop/model-step.ts';
import { createRecovery } from '../loop/recover.ts';
import { createCallTool } from '../loop/tool-calls.ts';
import { openTranscript, type TranscriptMessage } from '../loop/transcript.ts';
import type { CountUsage } from '../loop/usage-count.ts';
import { createWaits, type Waits } from '../loop/waits.ts';
import { cacheOptions } from '../models/cache-options.ts';
import { defaultRetryLimits } from '../models/retry-plan.ts';
import type { WorkerRun } from './run-worker.ts';
import type { TimeLimit } from './time-limit.ts';

export interface WorkerDesk {
  step(): Promise<ModelStepResult>;
  note(text: string): Promise<void>;
  /** Calls that an aborted or failed step left behind are written down. */
  settle(): Promise<void>;
  /** null: the step may be tried again; else why not. */
  recover(error: unknown): Promise<string | null>;
  /** What goes round in circles; null: nothing does. */
  loopAlarm(): string | null;
  /** A permission of its is asked for and not answered. */
  isAsking(): boolean;
  tokens(): number;
  lastText(): string;
}

/** @param signal ends the step that runs: the human's, or the worker's own time */
export async function openWorkerDesk(
  run: WorkerRun,
  signal: AbortSignal,
  time: TimeLimit,
): Promise<WorkerDesk> {
  const { store, clock, sessionId, model, tools, settings, engine } = run;
  const transcript = await openTranscript({
    store,
    clock,
    sessionId,
    turnId: () => null,
    maxMessages: settings.context.maxMessages,
  });
  await transcript.append([{ kind: 'human', message: { role: 'user', content: run.brief } }]);
  let tokens = 0;
  let alarm: string | null = null;
  const detector = new LoopDetector();
  const memory = new GuardMemory();
  const count = async (usage: Parameters<CountUsage>[0], fillsContext: boolean): Promise<number> => {
    const { inputTokens, outputTokens } = await run.countUsage(usage, { model, by: sessionId, fillsContext });
    tokens += inputTokens + outputTokens;
    return inputTokens;
  };
  let asking = false;
  const emit = pausingEmit((event) => {
    if (event.type === 'permission-asked') asking = true;
    if (event.type === 'permission-answered') asking = false;
    run.emit(event);
  }, time);
  const callTool = createCallTool({ ...run, emit, signal: () => signal });
  const context = createContextWindow({
    store,
    session: async () => null,
    transcript,
    system: run.system,
    cache: cacheOptions(model.family, sessionId),
    settings: settings.context,
    contextLimit: model.contextLimit,
    model: model.model,
    delegate: null,
    onUsage: async (usage) => {
      await count(usage, false);
    },
  });
  const compactIfDue = createCompaction({ ...run, context, signal: () => signal }, transcript);
  const control = { signal, stopping: run.stopping, whilePaused: async () => null };
  const recovery = createRecovery({
    ...run,
    engine,
    about: model,
    limits: { ...defaultRetryLimits, attempts: settings.circuitAfter },
    context,
    control,
    waits: pausingWaits(createWaits(clock, control, noJobs), time),
  });

  return {
    async step() {
      await compactIfDue();
      const result = await runModelStep({
        ...run,
        emit,
        model: model.model,
        transcript,
        callTool,
        signal,
        prompt: () => context.prompt(null),
        guard: { memory, ...nothingToHold },
        onCall: ({ tool, input, result: { output } }) => {
          run.counts.toolCalls += 1;
          alarm ??= detector.observeCall({ name: tool, input, result: output })?.pattern ?? null;
        },
        onUsage: async (usage) => {
          context.reported(await count(usage, true));
        },
        onHeldBack: () => {},
      });
      if (result.kind !== 'failed') recovery.succeeded();
      return result;
    },
    note: (content) => transcript.append([{ kind: 'note', message: { role: 'user', content } }]),
    async settle() {
      await settleInterrupted(store, sessionId, transcript, tools, callTool, 'give-up');
    },
    async recover(error) {
      if ((await recovery.recover(error)) === 'retry') return null;
      return recovery.lastSentence() ?? 'Its model could not be reached.';
    },
    loopAlarm: () => alarm,
    isAsking: () => asking,
    tokens: () => tokens,
    lastText: () => lastWords(transcript.messages()),
  };
}

/** A worker has no plan: nothing that it says is held back, and nobody asks it to go on. */
const nothingToHold = {
  hasOpenTodos: () => false,
  isPaused: () => false,
  readPlan: () => '',
  ask: async () => ({ answer: 'release' }) as const,
  maxAttempts: 1,
};

const noJobs = { running: () => [], onEnd: () => () => {} };

/** The text of the last answer, its calls left out. */
export function lastWords(messages: readonly TranscriptMessage[]): string {
  const last = messages.findLast(({ message }) => message.role === 'assistant')?.message;
  if (last === undefined || last.role !== 'assistant') return '';
  if (typeof last.content === 'string') return last.content.trim();
  const texts = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.join('\n').trim();
}

/** While a human is asked, the worker's time stands still. */
function pausingEmit(emit: Emit, time: TimeLimit): Emit {
  return (event) => {
    if (event.type === 'permission-asked') time.pause();
    if (event.type === 'permission-answered') time.goOn();
    emit(event);
  };
}

function pausingWaits(waits: Waits, time: TimeLimit): Waits {
  return {
    ...waits,
    async wait(reason, dueAt) {
      time.pause();
      try {
        return await waits.wait(reason, dueAt);
      } finally {
        time.goOn();
      }
    },
  };
}

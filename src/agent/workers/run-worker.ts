// The loop of a worker: one model step after the other until it reports, fails or runs out of steps, tokens or time.
// Nobody holds it to a plan, so it is never continued; whatever happens comes back as a value (S6).
import type { Settings } from '../../core/config/settings.ts';
import type { WorkerResult } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { Emit } from '../agent-event.ts';
import type { AgentTool } from '../loop/agent-tool.ts';
import type { ModelStepResult } from '../loop/model-step.ts';
import type { RunCounts } from '../loop/run-state.ts';
import type { CountUsage } from '../loop/usage-count.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { PermissionGate } from '../permissions/permission-gate.ts';
import { createTimeLimit, type TimeLimit } from './time-limit.ts';
import type { Worker } from './worker.ts';
import { openWorkerDesk, type WorkerDesk } from './worker-desk.ts';
import { cutAnswerNote, emptyAnswerNote, lastStepNote } from './worker-prompt.ts';

export interface WorkerRun {
  /** The worker's own session. */
  readonly sessionId: string;
  readonly worker: Worker;
  readonly model: ResolvedModel;
  readonly system: string;
  readonly brief: string;
  /** The run's own tools, as far as this worker gets them. */
  readonly tools: readonly AgentTool[];
  readonly gate: PermissionGate;
  readonly settings: Settings;
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly emit: Emit;
  readonly counts: RunCounts;
  readonly countUsage: CountUsage;
  readonly random: () => number;
  /** Aborted as soon as the human wants the run's step to end. */
  readonly signal: AbortSignal;
  /** Aborted once the human's stop is on the record: the step that runs is the last one. */
  readonly stopping: AbortSignal;
  /** Whether the run has spent what it may spend. */
  readonly isAllowanceSpent: () => Promise<boolean>;
}

export interface WorkerEnd {
  readonly result: WorkerResult;
  /** Why; for people and for the agent that delegated. */
  readonly sentence: string;
  /** What the worker said last; empty: nothing. */
  readonly text: string;
  readonly steps: number;
}

type Ending = Pick<WorkerEnd, 'result' | 'sentence'>;

export const reported: Ending = { result: 'done', sentence: 'It reported.' };

const interrupted: Ending = { result: 'interrupted', sentence: 'It was interrupted by the human.' };

const unanswered: Ending = {
  result: 'interrupted',
  sentence: 'It asked for a permission, and nobody has answered yet.',
};

export async function runWorker(run: WorkerRun): Promise<WorkerEnd> {
  const { worker, clock, sessionId } = run;
  const ending = new AbortController();
  const time = createTimeLimit(clock, worker.timeoutSeconds * 1000, () => ending.abort());
  const signal = AbortSignal.any([run.signal, ending.signal]);
  try {
    const desk = await openWorkerDesk(run, signal, time);
    let emptyAnswers = 0;
    for (let step = 1; ; step += 1) {
      const early = await endBefore(run, desk, step, signal, time);
      if (early !== null) return { ...early, text: desk.lastText(), steps: step - 1 };
      if (step === worker.maxSteps && step > 1) await desk.note(lastStepNote);
      run.counts.steps += 1;
      run.emit({ type: 'step-started', at: clock.now(), sessionId, step });
      const result = await desk.step();
      if (result.kind === 'stopped' && result.end === 'empty') emptyAnswers += 1;
      const ended = await endAfter(run, desk, result, emptyAnswers, time);
      if (ended !== null) return { ...ended, text: desk.lastText(), steps: step };
    }
  } finally {
    time.close();
  }
}

/** What forbids the next step; null: nothing does. */
async function endBefore(
  { worker, stopping, isAllowanceSpent }: WorkerRun,
  desk: WorkerDesk,
  step: number,
  signal: AbortSignal,
  time: TimeLimit,
): Promise<Ending | null> {
  const { maxSteps, maxTokens } = worker;
  if (time.isOver) return timedOut(worker);
  if (signal.aborted || stopping.aborted) return interrupted;
  if (step > maxSteps) return failed(`It did not report within its ${maxSteps} steps.`);
  if (maxTokens !== null && desk.tokens() >= maxTokens)
    return failed(`It spent its ${maxTokens} tokens without a report.`);
  // Not the worker's failure: the run itself is at its end.
  if (await isAllowanceSpent()) return { result: 'interrupted', sentence: 'The budget of the run is spent.' };
  return null;
}

/** How the step ended the work; null: it goes on. */
async function endAfter(
  { worker, stopping }: WorkerRun,
  desk: WorkerDesk,
  result: ModelStepResult,
  emptyAnswers: number,
  time: TimeLimit,
): Promise<Ending | null> {
  switch (result.kind) {
    case 'aborted':
      await desk.settle();
      if (time.isOver) return timedOut(worker);
      return desk.isAsking() && !stopping.aborted ? unanswered : interrupted;
    case 'failed': {
      await desk.settle();
      const gaveUp = await desk.recover(result.error);
      return gaveUp === null ? null : failed(gaveUp);
    }
    case 'tools': {
      const pattern = desk.loopAlarm();
      return pattern === null ? null : failed(`It went round in circles: ${pattern}.`);
    }
    case 'stopped':
      if (result.end === 'refusal' || result.end === 'content-filter')
        return { result: 'refused', sentence: 'It refused, or its answer was filtered.' };
      if (result.end === 'length') await desk.note(cutAnswerNote);
      else if (result.end !== 'empty') return reported;
      else if (emptyAnswers > 1) return failed('It gave an empty answer twice.');
      else await desk.note(emptyAnswerNote);
      return null;
  }
}

function failed(sentence: string): Ending {
  return { result: 'failed', sentence };
}

function timedOut({ timeoutSeconds }: Worker): Ending {
  return { result: 'timed-out', sentence: `It did not report within its ${timeoutSeconds} seconds.` };
}

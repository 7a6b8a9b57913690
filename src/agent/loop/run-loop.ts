// The loop: one model step at a time until the system lets the agent go. At every stop attempt the engine decides;
// this file only carries out the answer: go on, wait, or end.
import type { Event, StopAttempted } from '../../core/events.ts';
import { openCount, type Session } from '../../core/session.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Runtime } from '../../engine/runtime.ts';
import type { Emit } from '../agent-event.ts';
import type { StopAnswer, StopFacts } from '../guard/answer-stop.ts';
import type { Control } from './control.ts';
import type { IterationBudget } from './iteration-budget.ts';
import { continuation, type ModelStepResult } from './model-step.ts';
import type { RunCounts } from './run-state.ts';
import type { Transcript } from './transcript.ts';
import type { Waits } from './waits.ts';

export interface LoopOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly transcript: Transcript;
  readonly control: Control;
  readonly waits: Waits;
  readonly counts: RunCounts;
  readonly iterations: IterationBudget;
  readonly emit: Emit;
  readonly session: () => Promise<Session | null>;
  /** Runs one guarded model step; `ask` is the guard's way to the engine. */
  readonly step: (
    ask: (stop: StopFacts) => Promise<StopAnswer>,
    onHeldBack: () => void,
  ) => Promise<ModelStepResult>;
  /** Calls that an aborted or failed step left behind are written down; those that wait for permission stay. */
  readonly settleInterrupted: () => Promise<void>;
  /** Before each step: calls that wait for permission are asked about again, and the human's words are taken up. */
  readonly takeUp: () => Promise<'ready' | 'unanswered'>;
  /** The human said something that the agent has not heard yet. */
  readonly hasWords: () => Promise<boolean>;
  /** Somebody can answer where this run is shown. */
  readonly isAnswerable: boolean;
  /** A failed model call: waits and says `retry`, or gives up. */
  readonly recover: (error: unknown) => Promise<'retry' | 'give-up'>;
  /** What goes round in circles, the words said at a stop included; null: nothing does, or it was told already. */
  readonly loopAlarm: (said: string | null) => string | null;
  /** A window that is full is made smaller before the engine, which could only end the run, is asked (G8). */
  readonly makeRoom: () => Promise<void>;
  /** An agent that never stops by itself must meet its budgets all the same (G8). */
  readonly isBudgetSpent: () => Promise<boolean>;
  /** Fingerprint of the workspace now; null where none can be taken. */
  readonly fingerprint: () => Promise<string | null>;
  /** How long one stop attempt may wait for checks. */
  readonly checkPatienceMs: number;
}

/** Runs until the engine lets go; the settlement is on the session. */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { control, counts } = options;
  let lastToolError: string | null = null;
  for (;;) {
    control.renew();
    let answered: Asked | null = null;
    if ((await options.takeUp()) === 'unanswered') {
      const unanswered = await next(options, { kind: 'aborted' }, null, null);
      if (unanswered !== null && (await carryOut(options, unanswered))) return;
      continue;
    }
    counts.steps += 1;
    options.emit({
      type: 'step-started',
      at: options.clock.now(),
      sessionId: options.sessionId,
      step: counts.steps,
    });
    const retried: { answer: Handled | null } = { answer: null };
    const result = await options.step(
      async (stop) => {
        // What the human just said is answered first; the agent has not stopped.
        if (await options.hasWords()) return { answer: 'release' };
        const details = { end: stop.end, question: stop.question, toolError: lastToolError };
        await raiseAlarm(options, stop.text);
        await options.makeRoom();
        answered = await attemptStop(options, details);
        retried.answer = answered;
        return retryOf(answered);
      },
      () => {
        if (retried.answer !== null) announce(options, retried.answer);
      },
    );
    if (result.kind === 'aborted' || result.kind === 'failed') await options.settleInterrupted();
    const handled = await next(options, result, answered, lastToolError);
    lastToolError = result.kind === 'tools' ? result.toolError : null;
    if (handled === null) continue;
    if ((await carryOut(options, handled)) && !(await options.hasWords())) return;
  }
}

type StopDetails = Pick<StopAttempted, 'end' | 'question' | 'toolError'>;

/** The engine's answer, and to what kind of end it was given: a wait asks about the same end again. */
interface Asked extends Handled {
  readonly end: StopAttempted['end'];
}

function plainStop(end: StopAttempted['end']): StopDetails {
  return { end, question: false, toolError: null };
}

/** What the step's end asks of the engine; null: nothing, the next step may start. */
async function next(
  options: LoopOptions,
  result: ModelStepResult,
  answered: Asked | null,
  toolError: string | null,
): Promise<Asked | null> {
  switch (result.kind) {
    case 'aborted': {
      const session = await options.control.whilePaused();
      if (session?.latch) return attemptStop(options, plainStop('cancelled'));
      const isUnanswered = session !== null && session.waits.permissions.length > 0;
      // Nobody is here to answer: the engine says how such a run ends.
      return isUnanswered && !options.isAnswerable ? attemptStop(options, plainStop('normal')) : null;
    }
    case 'failed': {
      if ((await options.recover(result.error)) === 'retry') return null;
      return attemptStop(options, plainStop('error'));
    }
    case 'stopped':
      // A retry within the step spent its one reminder: this is a new stop attempt.
      if (answered !== null && answered.answer?.answer !== 'continue') return answered;
      if (await options.hasWords()) return null;
      await raiseAlarm(options, result.text);
      await options.control.whilePaused();
      return attemptStop(options, { end: result.end, question: result.question, toolError });
    case 'tools': {
      if (await raiseAlarm(options, null)) return attemptStop(options, plainStop('normal'));
      const session = await options.control.whilePaused();
      if (session?.latch || session?.pause) return attemptStop(options, plainStop('normal'));
      const open = session === null ? 0 : openCount(session.counts);
      const isCut = options.iterations.isSpentBy(open);
      if (!isCut && !(await options.isBudgetSpent())) return null;
      const cut = await attemptStop(options, plainStop('iteration-budget'));
      if (!isSkip(cut)) return cut;
      options.iterations.renew();
      return null;
    }
  }
}

/** I8: puts a loop on the record, so that the engine sees it when it is asked. */
async function raiseAlarm(options: LoopOptions, said: string | null): Promise<boolean> {
  const { clock, identifiers, runtime, sessionId } = options;
  const pattern = options.loopAlarm(said);
  if (pattern === null) return false;
  const base = { id: identifiers.next(), sessionId, at: clock.now() };
  await runtime.handle({ ...base, type: 'loop-alarmed', pattern });
  options.emit({ type: 'notice', at: clock.now(), sessionId, sentence: `Loop alarm: ${pattern}` });
  return true;
}

/** Nobody holds this agent to a plan (read-only, switched off, observed): it ends by itself, not by our budget (C2). */
function isSkip({ answer, decision }: Handled): boolean {
  return answer?.answer === 'let-go' && (decision?.outcome === null || decision?.observed === true);
}

async function attemptStop(options: LoopOptions, details: StopDetails): Promise<Asked> {
  const { clock, runtime } = options;
  const event: Event = {
    ...details,
    type: 'stop-attempted',
    id: options.identifiers.next(),
    sessionId: options.sessionId,
    at: clock.now(),
    fingerprint: await options.fingerprint(),
    background: options.waits.running(),
  };
  return { ...(await runtime.ask(event, clock.now() + options.checkPatienceMs)), end: details.end };
}

/** The guard's retry: the same continuation, given within the step. */
function retryOf({ answer, decision }: Handled): StopAnswer {
  if (answer?.answer !== 'continue' || answer.text === null) return { answer: 'release' };
  return { answer: 'retry', reminder: answer.text, level: decision?.level ?? 1 };
}

/** True: the run is over. */
async function carryOut(options: LoopOptions, handled: Asked): Promise<boolean> {
  const { answer, decision } = handled;
  if (answer === null || answer.answer === 'let-go') return true;
  if (answer.answer === 'continue' && answer.text !== null) {
    announce(options, handled);
    await options.transcript.append([continuation(answer.text)]);
    return false;
  }
  const { clock, emit, sessionId } = options;
  const reason = decision?.reason ?? 'waiting';
  emit({
    type: 'waiting',
    at: clock.now(),
    sessionId,
    reason,
    sentence: decision?.sentence ?? '',
    until: answer.dueAt,
  });
  const ended = await options.waits.wait(reason, answer.dueAt);
  if (ended.note !== null)
    await options.transcript.append([{ kind: 'note', message: { role: 'user', content: ended.note } }]);
  if (ended.goOn) return false;
  await options.control.whilePaused();
  return carryOut(options, await attemptStop(options, plainStop(handled.end)));
}

/** Counts a continuation and shows it as what it is. */
function announce(options: LoopOptions, { answer, decision }: Handled): void {
  const text = answer?.text ?? '';
  const { counts, emit, clock, sessionId } = options;
  const textKind = decision?.textKind ?? 'standard';
  options.iterations.renew();
  counts.continuations.set(textKind, (counts.continuations.get(textKind) ?? 0) + 1);
  const number = [...counts.continuations.values()].reduce((sum, count) => sum + count, 0);
  const sentence = decision?.sentence ?? '';
  emit({
    type: 'continuation',
    at: clock.now(),
    sessionId,
    textKind,
    level: decision?.level ?? 1,
    sentence,
    text,
    number,
  });
}

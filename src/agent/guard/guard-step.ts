// The in-turn guard around one model step: what the model says is held while todos are open, and a stop without tool
// work is sent back once with a reminder (I1–I5, I7). It neither decides nor executes: `ask` decides, `attempt` runs
// the model and keeps the history. The reminder goes to `attempt` alone.
import {
  answerStop,
  type GuardQuestions,
  heldBackReason,
  holdsAnswer,
  isDuplicate,
  resetMemory,
  type StopAnswer,
} from './answer-stop.ts';
import { HoldBack } from './hold-back.ts';
import { Interruption, interrupted } from './interruption.ts';
import { type StepFacts, StepWatch } from './step-watch.ts';
import { type Attempt, abortPart, streamAttempt } from './stream-attempt.ts';
import type { EndPart, HeldBackPart, PartLike } from './stream-part.ts';

export interface GuardStepOptions<Part extends PartLike> extends GuardQuestions<Part> {
  /**
   * Runs one model step. A second attempt gets the reminder and continues from the first one's messages. The signal
   * fires on abort and when the consumer goes away: give it to the model call.
   */
  attempt(reminder: string | null, signal: AbortSignal): { readonly stream: AsyncIterable<Part> };
  readonly signal?: AbortSignal;
  /** Told of each part that is held, before anything is decided about it; nothing but showing may follow (I1). */
  onHeld?(part: Part): void;
}

export type GuardPart<Part extends PartLike> = Part | HeldBackPart | EndPart;

/** How the step ended; the facts are those of the last attempt. */
export interface GuardResult extends StepFacts {
  readonly attempts: number;
  /** What the model said in attempts that were sent back: it belongs into the model's history. */
  readonly heldBack: readonly string[];
  /** False only if the run was aborted between a reminder and the attempt it was for. */
  readonly released: boolean;
  /** `guard`: a question to the caller failed, and the answer was released without a decision. */
  readonly error?: { readonly source: 'model' | 'guard'; readonly cause: unknown };
  readonly aborted?: true;
}

/**
 * `start` and `finish` pass once; each attempt has its own start-step and finish-step (with its usage). Cancelling by
 * return() ends the model call even while it is silent.
 */
export function guardStep<Part extends PartLike>(
  options: GuardStepOptions<Part>,
): AsyncGenerator<GuardPart<Part>, GuardResult, undefined> {
  const interruption = new Interruption(options.signal);
  const parts = guard(options, interruption);
  const end = parts.return.bind(parts);
  // A generator hears return() only at its next yield, and while text is held that may be far away.
  parts.return = (result) => {
    interruption.cancel();
    return end(result);
  };
  return parts;
}

async function* guard<Part extends PartLike>(
  options: GuardStepOptions<Part>,
  interruption: Interruption,
): AsyncGenerator<GuardPart<Part>, GuardResult, undefined> {
  const heldBack: string[] = [];
  let reminder: string | null = null;
  let facts = new StepWatch<Part>(() => false).facts();
  try {
    interruption.listen();
    for (let number = 1; ; number += 1) {
      if (interruption.requested) {
        yield abortPart(interruption);
        return { ...facts, attempts: number - 1, heldBack, released: false, aborted: true };
      }
      const attempt = await prepare(options, interruption, number, reminder);
      yield* streamAttempt(attempt, interruption);
      options.memory.countToolCalls(attempt.watch.workCalls);
      facts = attempt.watch.facts();
      const decided = await decide(options, interruption, facts, number);
      if (decided.answer === 'release' || interruption.requested) {
        yield* attempt.hold.release();
        return {
          ...facts,
          attempts: number,
          heldBack,
          released: true,
          ...problems(attempt, interruption, decided),
        };
      }
      const { text, passing } = attempt.hold.withhold();
      heldBack.push(text);
      reminder = decided.reminder;
      yield { type: 'held-back', text, reason: heldBackReason(facts) };
      yield* passing;
    }
  } finally {
    interruption.dispose();
    await resetMemory(options);
  }
}

async function prepare<Part extends PartLike>(
  options: GuardStepOptions<Part>,
  interruption: Interruption,
  number: number,
  reminder: string | null,
): Promise<Attempt<Part>> {
  return {
    number,
    hold: new HoldBack((await holdsAnswer(options)) ? 'answer' : 'end'),
    // Only the model's own parts are tool results or held; the parts that the guard adds never are.
    watch: new StepWatch((part) => isDuplicate(options, part as Part)),
    onHeld: (part) => options.onHeld?.(part as Part),
    open: () => options.attempt(reminder, interruption.signal).stream,
  };
}

type Decided = StopAnswer | { readonly answer: 'release'; readonly failure: unknown };

/** Fails open: whatever goes wrong in the decision, the answer is released and the result says why. */
async function decide<Part extends PartLike>(
  options: GuardStepOptions<Part>,
  interruption: Interruption,
  facts: StepFacts,
  number: number,
): Promise<Decided> {
  if (interruption.requested) return { answer: 'release' };
  try {
    const answer = await interruption.race(answerStop(options, facts, number));
    return answer === interrupted ? { answer: 'release' } : answer;
  } catch (failure) {
    // Safe: releasing is what would happen without a guard.
    return { answer: 'release', failure };
  }
}

function problems<Part extends PartLike>(
  { watch }: Attempt<Part>,
  interruption: Interruption,
  decided: Decided,
): Pick<GuardResult, 'error' | 'aborted'> {
  const aborted = watch.aborted || interruption.requested ? ({ aborted: true } as const) : {};
  if (watch.error !== null) return { ...aborted, error: { source: 'model', cause: watch.error.cause } };
  return 'failure' in decided ? { ...aborted, error: { source: 'guard', cause: decided.failure } } : aborted;
}

// Whether an attempt that has ended is released or sent back: I2 to I5 in their order, the same for a step of our own
// loop and for a transform in someone else's. It decides nothing about todos itself; that is what `ask` is for (G1).
import type { GuardMemory } from './guard-memory.ts';
import type { StepFacts } from './step-watch.ts';
import type { HeldBackReason, PartLike } from './stream-part.ts';

/** What a stop attempt looks like to the one who decides. */
export interface StopFacts extends StepFacts {
  /** 1 for the first attempt of this stop. */
  readonly attempt: number;
  /** How firm the reminder should be, by the guard's own memory (I3). */
  readonly level: number;
  readonly planUnchanged: boolean;
}

export type StopAnswer =
  | { readonly answer: 'release' }
  | { readonly answer: 'retry'; readonly reminder: string; readonly level: number };

/** What the guard asks of its caller. None of these may change the plan. */
export interface GuardQuestions<Part extends PartLike> {
  /** Asked when a step starts and again before the decision, never from memory (G5). */
  hasOpenTodos(): boolean | Promise<boolean>;
  isPaused(): boolean | Promise<boolean>;
  /** The plan as a string that differs whenever the plan does. */
  readPlan(): string | Promise<string>;
  /** Whether this tool result is the notice about a todo_write that changed nothing (I5). */
  isDuplicate?(toolResult: Part): boolean;
  /** The one decision point; a retry counts as one continuation there. */
  ask(stop: StopFacts): Promise<StopAnswer>;
  readonly memory: GuardMemory;
  /** In all, the first included; the default of 2 is one retry per stop attempt (I3). */
  readonly maxAttempts?: number;
}

const release: StopAnswer = { answer: 'release' };
const defaultAttempts = 2;

export async function answerStop<Part extends PartLike>(
  questions: GuardQuestions<Part>,
  facts: StepFacts,
  attempt: number,
): Promise<StopAnswer> {
  if (facts.end === 'error' || facts.end === 'cancelled') return release;
  if (facts.calledTools && !facts.onlyDuplicates) return release;
  if (attempt >= (questions.maxAttempts ?? defaultAttempts)) return release;
  if ((await questions.isPaused()) || !(await questions.hasOpenTodos())) return release;
  const { memory } = questions;
  const plan = await questions.readPlan();
  const answer = await questions.ask({
    ...facts,
    attempt,
    level: memory.nextLevel(plan),
    planUnchanged: memory.isUnchanged(plan),
  });
  if (answer.answer === 'release' || answer.reminder.trim() === '') return release;
  memory.reminded(answer.level, plan);
  return answer;
}

export function heldBackReason(facts: StepFacts): HeldBackReason {
  if (facts.onlyDuplicates) return 'duplicate-plan';
  return facts.end === 'empty' ? 'empty-answer' : 'todos-open';
}

/** Not knowing counts as "no todos": a guard that cannot look must not hide what the model says. */
export async function holdsAnswer<Part extends PartLike>(questions: GuardQuestions<Part>): Promise<boolean> {
  try {
    return await questions.hasOpenTodos();
  } catch {
    // Safe: the question is asked again before the decision, and a failure there is reported.
    return false;
  }
}

/** I4: what every exit does, whatever led to it. */
export async function resetMemory<Part extends PartLike>(questions: GuardQuestions<Part>): Promise<void> {
  let latest: string | null = null;
  try {
    latest = await questions.readPlan();
  } catch {
    // Safe: without a snapshot the next reminder starts mildly, and the exit itself must not fail.
  }
  questions.memory.reset(latest);
}

/** Not knowing counts as work: then nothing is sent back by mistake. */
export function isDuplicate<Part extends PartLike>(
  questions: GuardQuestions<Part>,
  toolResult: Part,
): boolean {
  try {
    return questions.isDuplicate?.(toolResult) ?? false;
  } catch {
    // Safe: the call is treated like any other, and the tool itself has already answered the model.
    return false;
  }
}

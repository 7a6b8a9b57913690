// The in-turn guard (I1–I5, I7): what the model says is held while todos are open, and a stop without tool work is sent
// back with a reminder. Our own loop feeds it part by part; for other people's streams it is an
// `experimental_transform`. It decides nothing about todos (`ask` does, G1) and starts no model call.
import type { StreamTextTransform, TextStreamPart, ToolSet } from 'ai';
import { fieldOf, HoldBack, type PartLike, type StepFacts, StepWatch } from './hold-back.ts';

export interface StopFacts extends StepFacts {
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
  readPlan(): string | Promise<string>;
  /** Whether this tool result is the notice about a todo_write that changed nothing (I5). */
  isDuplicate?(toolResult: Part): boolean;
  /** The one decision point; a retry counts as one continuation there. */
  ask(stop: StopFacts): Promise<StopAnswer>;
  readonly memory: GuardMemory;
  /** In all, the first included; the default of 2 is one retry per stop attempt (I3). */
  readonly maxAttempts?: number;
}

export interface GuardTransformOptions<Part extends PartLike> extends GuardQuestions<Part> {
  /**
   * Hands the reminder to the run, as a steering message. It must not wait for the delivery, which comes after this
   * step. The SDK builds the model's history from what leaves this transform, so that `heldText` is missing there:
   * whoever wants the model to see it again puts it back (prepareStep).
   */
  remind(reminder: string, heldText: string): void;
  /** Told of each part that is held, before anything is decided about it; nothing but showing may follow (I1). */
  onHeld?(part: Part): void;
  /** A decision that failed; the answer was released without one. */
  onFailure?(cause: unknown): void;
}

export function toTransform<Tools extends ToolSet>(
  options: GuardTransformOptions<TextStreamPart<Tools>>,
): StreamTextTransform<Tools> {
  return () => {
    const guard = new Guard(options);
    return new TransformStream<TextStreamPart<Tools>, TextStreamPart<Tools>>({
      transform: (part, controller) => guard.take(part, (passing) => controller.enqueue(passing)),
      flush: (controller) => guard.end((passing) => controller.enqueue(passing)),
    });
  };
}

const release: StopAnswer = { answer: 'release' };

interface GuardedStep<Part extends PartLike> {
  readonly hold: HoldBack<Part>;
  readonly watch: StepWatch<Part>;
}

export class Guard<Part extends PartLike> {
  readonly #options: GuardTransformOptions<Part>;
  readonly #reminders = new Set<string>();
  #step: GuardedStep<Part> | null = null;
  #attempt = 1;

  constructor(options: GuardTransformOptions<Part>) {
    this.#options = options;
  }

  async take(part: Part, emit: (part: Part) => void): Promise<void> {
    // I7: the SDK shows steering messages in its stream; ours are for the model alone.
    if (part.type === 'steering-message' && this.#reminders.has(steeringText(part))) return;
    if (part.type === 'start-step') {
      const isHeld = await unless(false, () => this.#options.hasOpenTodos());
      const watch = new StepWatch<Part>((result) => this.#options.isDuplicate?.(result) ?? false);
      this.#step = { hold: new HoldBack(isHeld ? 'answer' : 'end'), watch };
    }
    if (this.#step === null) return emit(part);
    this.#step.watch.observe(part);
    const passing = this.#step.hold.take(part);
    if (passing.at(-1) !== part) this.#options.onHeld?.(part);
    passing.forEach(emit);
    if (part.type === 'finish-step') await this.#endStep(this.#step, emit);
  }

  async end(emit: (part: Part) => void): Promise<void> {
    if (this.#step === null) return;
    this.#step.hold.release().forEach(emit);
    await this.#leave();
  }

  async #endStep({ hold, watch }: GuardedStep<Part>, emit: (part: Part) => void): Promise<void> {
    this.#options.memory.countToolCalls(watch.workCalls);
    const answer = await this.#answer(watch.facts()).catch((cause: unknown) => {
      // Safe: releasing is what would happen without a guard, and the caller is told.
      this.#options.onFailure?.(cause);
      return release;
    });
    if (answer.answer === 'release') {
      hold.release().forEach(emit);
      return this.#leave();
    }
    const { text, passing } = hold.withhold();
    this.#step = null;
    this.#attempt += 1;
    this.#reminders.add(answer.reminder);
    this.#options.remind(answer.reminder, text);
    passing.forEach(emit);
  }

  async #answer(facts: StepFacts): Promise<StopAnswer> {
    const { memory, maxAttempts = 2 } = this.#options;
    if (facts.end === 'error' || facts.end === 'cancelled') return release;
    if (facts.calledTools && !facts.onlyDuplicates) return release;
    if (this.#attempt >= maxAttempts) return release;
    if ((await this.#options.isPaused()) || !(await this.#options.hasOpenTodos())) return release;
    const plan = await this.#options.readPlan();
    const asked = { level: memory.nextLevel(plan), planUnchanged: memory.isUnchanged(plan) };
    const answer = await this.#options.ask({ ...facts, attempt: this.#attempt, ...asked });
    if (answer.answer === 'release' || answer.reminder.trim() === '') return release;
    memory.reminded(answer.level, plan);
    return answer;
  }

  /** I4: what every exit does. Without a snapshot the next reminder starts mildly, and the exit itself must not fail. */
  async #leave(): Promise<void> {
    this.#step = null;
    this.#attempt = 1;
    this.#options.memory.reset(await unless(null, () => this.#options.readPlan()));
  }
}

/** Safe: a guard that cannot look must hide nothing, and what matters is asked again before the decision. */
async function unless<Value>(unknown: Value, look: () => Value | Promise<Value>): Promise<Value> {
  return Promise.resolve()
    .then(look)
    .catch(() => unknown);
}

function steeringText(part: PartLike): string {
  const content = fieldOf(fieldOf(part, 'message'), 'content');
  const text = Array.isArray(content) && content.length === 1 ? fieldOf(content[0], 'text') : content;
  return typeof text === 'string' ? text : '';
}

export interface GuardMemoryState {
  readonly reminderLevel: number;
  readonly planSnapshot: string | null;
  readonly toolCalls: number;
}

const lastLevel = 3;

/** What the guard remembers between the steps of one turn. The caller owns it and describes the plan as a string. */
export class GuardMemory {
  #state: GuardMemoryState;

  /** A run that goes on after a crash gives back the state it had saved. */
  constructor(state: GuardMemoryState = { reminderLevel: 0, planSnapshot: null, toolCalls: 0 }) {
    this.#state = state;
  }

  get state(): GuardMemoryState {
    return this.#state;
  }

  isUnchanged(plan: string): boolean {
    return this.#state.planSnapshot === plan;
  }

  /** I3: firmer only if the plan is as it was at the last reminder; the first reminder is always the mild one. */
  nextLevel(plan: string): number {
    const { reminderLevel } = this.#state;
    const isFirmer = reminderLevel === 0 || this.isUnchanged(plan);
    return isFirmer ? Math.min(lastLevel, reminderLevel + 1) : reminderLevel;
  }

  reminded(reminderLevel: number, planSnapshot: string): void {
    this.#state = { ...this.#state, reminderLevel, planSnapshot };
  }

  countToolCalls(calls: number): void {
    this.#state = { ...this.#state, toolCalls: this.#state.toolCalls + calls };
  }

  /** I4: every exit. A plan that could not be read (null) equals no other, so that nothing escalates by mistake. */
  reset(planSnapshot: string | null): void {
    this.#state = { reminderLevel: 0, planSnapshot, toolCalls: 0 };
  }
}

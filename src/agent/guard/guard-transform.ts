// The same holding for a stream that someone else runs: an `experimental_transform` for streamText or ToolLoopAgent.
// It cannot start a model call, so that a retry is handed to `remind` (steering) while the step's end waits here.
import type { StreamTextTransform, TextStreamPart, ToolSet } from 'ai';
import {
  answerStop,
  type GuardQuestions,
  holdsAnswer,
  isDuplicate,
  resetMemory,
  type StopAnswer,
} from './answer-stop.ts';
import { HoldBack } from './hold-back.ts';
import { StepWatch } from './step-watch.ts';
import { fieldOf, type PartLike } from './stream-part.ts';

export interface GuardTransformOptions<Part extends PartLike> extends GuardQuestions<Part> {
  /**
   * Hands the reminder to the run, as a steering message. It must not wait for the delivery, which comes after this
   * step. The SDK builds the model's history from what leaves this transform, so that `heldText` is missing there:
   * whoever wants the model to see it again puts it back (prepareStep).
   */
  remind(reminder: string, heldText: string): void;
  /** A decision that failed; the answer was released without one. */
  onFailure?(cause: unknown): void;
}

export function toTransform<Tools extends ToolSet>(
  options: GuardTransformOptions<TextStreamPart<Tools>>,
): StreamTextTransform<Tools> {
  return () => {
    const guard = new TransformGuard(options);
    return new TransformStream<TextStreamPart<Tools>, TextStreamPart<Tools>>({
      transform: (part, controller) => guard.take(part, (passing) => controller.enqueue(passing)),
      flush: (controller) => guard.end((passing) => controller.enqueue(passing)),
    });
  };
}

type Emit<Part> = (part: Part) => void;

class TransformGuard<Part extends PartLike> {
  readonly #options: GuardTransformOptions<Part>;
  readonly #reminders = new Set<string>();
  #step: { readonly hold: HoldBack<Part>; readonly watch: StepWatch<Part> } | null = null;
  #attempt = 1;

  constructor(options: GuardTransformOptions<Part>) {
    this.#options = options;
  }

  async take(part: Part, emit: Emit<Part>): Promise<void> {
    // I7: the SDK shows steering messages in its stream; ours are for the model alone.
    if (part.type === 'steering-message' && this.#reminders.has(steeringText(part))) return;
    if (part.type === 'start-step') {
      const holding = (await holdsAnswer(this.#options)) ? 'answer' : 'end';
      const watch = new StepWatch<Part>((toolResult) => isDuplicate(this.#options, toolResult));
      this.#step = { hold: new HoldBack(holding), watch };
    }
    if (this.#step === null) return emit(part);
    this.#step.watch.observe(part);
    this.#step.hold.take(part).forEach(emit);
    if (part.type === 'finish-step') await this.#endStep(emit);
  }

  /** A stream that broke off within a step still shows what there is. */
  async end(emit: Emit<Part>): Promise<void> {
    if (this.#step === null) return;
    this.#step.hold.release().forEach(emit);
    await this.#leave();
  }

  async #endStep(emit: Emit<Part>): Promise<void> {
    if (this.#step === null) return;
    const { hold, watch } = this.#step;
    this.#options.memory.countToolCalls(watch.workCalls);
    const answer = await this.#decide(watch);
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

  async #decide(watch: StepWatch<Part>): Promise<StopAnswer> {
    try {
      return await answerStop(this.#options, watch.facts(), this.#attempt);
    } catch (cause) {
      // Safe: releasing is what would happen without a guard, and the caller is told.
      this.#options.onFailure?.(cause);
      return { answer: 'release' };
    }
  }

  async #leave(): Promise<void> {
    this.#step = null;
    this.#attempt = 1;
    await resetMemory(this.#options);
  }
}

/** A steering message is a user message: plain text, or parts of which ours has exactly one. */
function steeringText(part: PartLike): string {
  const message = fieldOf(part, 'message');
  const content = typeof message === 'object' && message !== null ? fieldOf(message, 'content') : null;
  if (typeof content === 'string') return content;
  const first: unknown = Array.isArray(content) && content.length === 1 ? content[0] : null;
  const text = typeof first === 'object' && first !== null ? fieldOf(first, 'text') : null;
  return typeof text === 'string' ? text : '';
}

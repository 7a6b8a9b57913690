// The guard within a turn (I1–I5, I7): while todos are open, text is held back, and a
// stop without tool work is answered with a reminder. `ask` decides, and knows how firm
// the reminder is (G1, I3): between two stops nothing is kept here.
import type { StreamTextTransform, TextStreamPart, ToolSet } from 'ai';
import type { StopEnd } from '../core/events.ts';
import { endsInQuestion } from '../core/safe-text.ts';

/** A part of any stream. */
export type PartLike = { readonly type: string };

/** What one step showed. */
export type StepFacts = Readonly<{
  calledTools: boolean;
  /** Each call was a todo_write that changed nothing, which is no tool work (I5). */
  onlyDuplicates: boolean;
  /** Null: the stream broke off before it said why. */
  finishReason: string | null;
  end: StopEnd;
  text: string;
  question: boolean;
}>;

/** What is known about the step with which the agent wants to stop. */
export type StopFacts = StepFacts &
  Readonly<{
    /**
     * Counts the attempts of this stop, from 1. A step that worked with tools, or a
     * release, ends the stop.
     */
    attempt: number;
  }>;

/** Shows what was held back, or sends the agent back with a reminder. */
export type StopAnswer = Readonly<
  { answer: 'release' } | { answer: 'retry'; reminder: string }
>;

/** What the guard asks and whom it reports to. No question may change the plan. */
export interface GuardTransformOptions<Part extends PartLike> {
  /** Asked at the start of a step and before the decision (G5). */
  hasOpenTodos(): boolean | Promise<boolean>;
  isPaused?(): boolean | Promise<boolean>;
  /** Ask even if nothing is open: there may be checks to run. */
  readonly asksAlways?: boolean;
  /** Tells whether this is the result of a todo_write that changed nothing (I5). */
  isDuplicate?(toolResult: Part): boolean;
  /** Decides about a stop. A retry counts as one continuation there. */
  ask(stop: StopFacts): Promise<StopAnswer>;
  /**
   * How many attempts one stop has, the first included. The default of 2 means one retry
   * per stop (I3).
   */
  readonly maxAttempts?: number;
  /**
   * Hands the reminder to the run as a steering message. It must not wait for the
   * delivery, which comes after this step. The SDK's history lacks `heldText`: to show it
   * to the model, steer it first, or put it back in prepareStep.
   */
  remind(reminder: string, heldText: string): void;
  /** Called before anything is decided about the part; it may only be shown (I1). */
  onHeld?(part: Part): void;
  /** Called if the decision failed; the answer was then released. */
  onFailure?(cause: unknown): void;
}

/** The guard as an `experimental_transform` of the AI SDK. */
export function toTransform<Tools extends ToolSet>(
  options: GuardTransformOptions<TextStreamPart<Tools>>,
): StreamTextTransform<Tools> {
  return () => {
    const guard = createGuard(options);
    return new TransformStream<TextStreamPart<Tools>, TextStreamPart<Tools>>({
      transform: (part, controller) =>
        guard.take(part, (passing) => controller.enqueue(passing)),
      flush: (controller) => guard.end((passing) => controller.enqueue(passing)),
    });
  };
}

const release: StopAnswer = { answer: 'release' };

/**
 * The guard over any stream of parts: hand it each part, and it emits those that may be
 * shown.
 */
export function createGuard<Part extends PartLike>(options: GuardTransformOptions<Part>) {
  const { maxAttempts = 2 } = options;
  const reminders = new Set<unknown>();
  let hold: ReturnType<typeof holdBack<Part>> | null = null;
  let stepWatch = watchStep(options);
  let attempt = 1;

  async function answerTo(facts: StepFacts): Promise<StopAnswer> {
    if (facts.end === 'error' || facts.end === 'cancelled' || attempt >= maxAttempts)
      return release;
    if (facts.calledTools && !facts.onlyDuplicates) return release;
    if (await options.isPaused?.()) return release;
    if (options.asksAlways !== true && !(await options.hasOpenTodos())) return release;
    const answer = await options.ask({ ...facts, attempt });
    return answer.answer === 'retry' && answer.reminder.trim() === '' ? release : answer;
  }

  async function mayHold() {
    try {
      return await options.hasOpenTodos();
    } catch {
      // Safe: nothing is hidden then, and the question is asked again before the
      // decision.
      return false;
    }
  }

  const guard = {
    /** The step that runs, or that ran last. */
    step: () => stepWatch,
    async take(part: Part, emit: (part: Part) => void) {
      // I7: the SDK shows steering messages. Ours, and a held answer that is put back,
      // are for the model alone.
      if (part.type === 'steering-message' && reminders.has(steeringText(part))) return;
      if (part.type === 'start-step') {
        hold = holdBack((await mayHold()) ? 'answer' : 'end');
        stepWatch = watchStep(options);
      }
      stepWatch.observe(part);
      if (hold === null) return emit(part);
      const passing = hold.take(part);
      if (passing.at(-1) !== part) options.onHeld?.(part);
      passing.forEach(emit);
      if (part.type !== 'finish-step') return;
      const answer = await answerTo(stepWatch.facts()).catch((cause: unknown) => {
        // Safe: the answer is released, as it would be without a guard.
        options.onFailure?.(cause);
        return release;
      });
      if (answer.answer === 'release') return guard.end(emit);
      const sentBack = hold.withhold();
      hold = null;
      attempt += 1;
      reminders.add(answer.reminder).add(sentBack.text);
      options.remind(answer.reminder, sentBack.text);
      sentBack.passing.forEach(emit);
    },
    /** Call it at every exit. The next stop is a new one, also after tool work (I4). */
    end(emit: (part: Part) => void) {
      if (hold === null) return;
      hold.release().forEach(emit);
      hold = null;
      attempt = 1;
    },
  };
  return guard;
}

/**
 * Holds parts back. `answer`: text and the step's end are held; `end`: only the step's
 * end. The finish is always held.
 */
export function holdBack<Part extends PartLike>(what: 'answer' | 'end') {
  let holding: 'answer' | 'end' | 'nothing' = what;
  const held: Part[] = [];
  const finish: Part[] = [];
  return {
    take(part: Part) {
      const { type } = part;
      // The agent works with tools, or the stream broke off. Tool input counts too, so
      // that text stays in front of its call.
      if (type.startsWith('tool-') || type === 'error' || type === 'abort') {
        holding = 'nothing';
        return [...held.splice(0), part];
      }
      const isAnswer = type.startsWith('text-') || type === 'source' || type === 'file';
      if (type === 'finish') finish.splice(0, 1, part);
      else if (
        type === 'finish-step' ? holding !== 'nothing' : holding === 'answer' && isAnswer
      )
        held.push(part);
      else return [part];
      return [];
    },
    release: () => [...held.splice(0), ...finish.splice(0)],
    /** The end of the step passes, since it carries the tokens spent. */
    withhold() {
      const parts = held.splice(0);
      finish.splice(0);
      const passing = parts.filter(({ type }) => type === 'finish-step');
      return { text: parts.map(textOf).join(''), passing };
    },
  };
}

function watchStep<Part extends PartLike>(options: GuardTransformOptions<Part>) {
  let text = '';
  let calls = 0;
  let otherToolWork = 0;
  let duplicates = 0;
  let finishReason: string | null = null;
  let error: { cause: unknown } | null = null;
  let isAborted = false;

  function isDuplicate(part: Part) {
    try {
      return options.isDuplicate?.(part) === true;
    } catch {
      // Safe: if we do not know, it counts as work, and nothing is sent back by mistake.
      return false;
    }
  }
  const end = (): StopEnd => {
    if (isAborted || finishReason === 'interrupted') return 'cancelled';
    if (error !== null || finishReason === 'error') return 'error';
    if (finishReason === 'length' || finishReason === 'content-filter')
      return finishReason;
    return text.trim() === '' && calls === 0 ? 'empty' : 'normal';
  };
  return {
    broken: () => ({ error, isAborted }),
    observe(part: Part) {
      const { type } = part;
      text += textOf(part);
      if (type === 'error') error ??= { cause: fieldOf(part, 'error') };
      if (type === 'abort') isAborted = true;
      const reason =
        type === 'finish' || type === 'finish-step'
          ? fieldOf(part, 'finishReason')
          : null;
      if (typeof reason === 'string') finishReason = reason;
      if (!type.startsWith('tool-') || type.startsWith('tool-input-')) return;
      if (type === 'tool-call') calls += 1;
      else if (type !== 'tool-result') otherToolWork += 1;
      // A streaming tool repeats its result; only the last result is not preliminary.
      else if (fieldOf(part, 'preliminary') !== true && isDuplicate(part))
        duplicates += 1;
    },
    facts(): StepFacts {
      const calledTools = calls + otherToolWork + duplicates > 0;
      const onlyDuplicates = calledTools && calls <= duplicates && otherToolWork === 0;
      const question = endsInQuestion(text);
      return { calledTools, onlyDuplicates, finishReason, end: end(), text, question };
    },
  };
}

function textOf(part: PartLike) {
  const text = part.type === 'text-delta' ? fieldOf(part, 'text') : '';
  return typeof text === 'string' ? text : '';
}

function steeringText(part: PartLike) {
  const content = fieldOf(fieldOf(part, 'message'), 'content');
  return Array.isArray(content) && content.length === 1
    ? fieldOf(content[0], 'text')
    : content;
}

const fieldOf = (value: unknown, name: string) =>
  (value as Record<string, unknown> | null | undefined)?.[name];

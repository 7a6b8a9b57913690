// Streams written by hand, and callers that write down what they were asked: for the
// tests of the guard only. A caller makes its attempts as our loop does, each through
// `modelParts` and a guard of its own. Nothing here sleeps.

import { type EndPart, modelParts, unlessAborted } from '../../src/agent/loop/step.ts';
import {
  createGuard,
  type GuardTransformOptions,
  type PartLike,
  type StepFacts,
  type StopAnswer,
  type StopFacts,
} from '../../src/guard/guard-transform.ts';

export interface ScriptPart {
  readonly type: string;
  readonly text?: string;
  readonly finishReason?: string;
  readonly error?: unknown;
  readonly toolName?: string;
  readonly output?: unknown;
  readonly preliminary?: boolean;
}

export const text = (words: string): ScriptPart[] => [
  { type: 'text-start' },
  { type: 'text-delta', text: words },
  { type: 'text-end' },
];
export const call = (toolName: string, output: unknown = 'ok'): ScriptPart[] => [
  { type: 'tool-input-start', toolName },
  { type: 'tool-call', toolName },
  { type: 'tool-result', toolName, output },
];
export const step = (
  body: readonly ScriptPart[],
  finishReason = 'stop',
): ScriptPart[] => [
  { type: 'start' },
  { type: 'start-step' },
  ...body,
  { type: 'finish-step', finishReason },
  { type: 'finish', finishReason },
];

export type Source = readonly ScriptPart[] | (() => AsyncIterable<ScriptPart>);

async function* streamOf(parts: readonly ScriptPart[]): AsyncGenerator<ScriptPart> {
  yield* parts;
}

/** What the model said in an attempt that was sent back. */
interface HeldBackPart {
  readonly type: 'held-back';
  readonly text: string;
}
export type SeenPart<Part> = Part | EndPart | HeldBackPart;

export interface Result extends StepFacts {
  readonly attempts: number;
  readonly heldBack: readonly string[];
  readonly error?: { readonly source: 'model' | 'guard'; readonly cause: unknown };
  readonly aborted?: true;
}

export interface Attempts<Part extends PartLike>
  extends Omit<GuardTransformOptions<Part>, 'remind'> {
  attempt(reminder: string | null): AsyncIterable<Part>;
  readonly signal?: AbortSignal;
}

/**
 * One stop attempt: a call of the model, and a second one with the reminder if the first
 * is sent back.
 */
export async function* attempts<Part extends PartLike>(
  caller: Attempts<Part>,
): AsyncGenerator<SeenPart<Part>, Result, undefined> {
  const signal = caller.signal ?? new AbortController().signal;
  const heldBack: string[] = [];
  let sent: { readonly reminder: string; readonly held: string } | null = null;
  for (let number = 1; ; number += 1) {
    const reminder: string | null =
      (sent as { reminder: string } | null)?.reminder ?? null;
    const failures: unknown[] = [];
    let seen: SeenPart<Part>[] = [];
    sent = null;
    const options: GuardTransformOptions<Part> = {
      hasOpenTodos: () => caller.hasOpenTodos(),
      isPaused: () => caller.isPaused?.() ?? false,
      isDuplicate: (part) => caller.isDuplicate?.(part) ?? false,
      ask: async (stop) =>
        (await unlessAborted(caller.ask(stop), signal)) ?? { answer: 'release' },
      maxAttempts: (caller.maxAttempts ?? 2) - number + 1,
      remind: (words, held) => {
        sent = { reminder: words, held };
        seen.push({ type: 'held-back', text: held });
      },
      onFailure: (cause) => failures.push(cause),
    };
    const guard = createGuard<Part>(options);
    const emit = (part: Part): void => {
      // A turn starts once and finishes once.
      if (part.type === 'finish' ? sent === null : part.type !== 'start' || number === 1)
        seen.push(part);
    };
    let opened = 0;
    const open = (): AsyncIterable<Part> => {
      opened = 1;
      return caller.attempt(reminder);
    };
    for await (const part of modelParts(open, signal)) {
      await guard.take(part as Part, emit);
      yield* seen;
      seen = [];
    }
    guard.end(emit);
    yield* seen;
    const back = sent as { held: string } | null;
    if (back !== null) heldBack.push(back.held);
    if (back !== null && !signal.aborted) continue;
    const [failure] = failures;
    const watch = guard.step();
    const { error, isAborted } = watch.broken();
    return {
      ...watch.facts(),
      attempts: number - 1 + opened,
      heldBack,
      ...(isAborted || signal.aborted ? { aborted: true } : {}),
      ...(failures.length > 0 ? { error: { source: 'guard', cause: failure } } : {}),
      ...(error === null ? {} : { error: { source: 'model', cause: error.cause } }),
    };
  }
}

/** A guard's caller with a plan of its own; every field can be replaced by a test. */
export class ScriptedCaller implements Attempts<ScriptPart> {
  readonly reminders: (string | null)[] = [];
  readonly stops: StopFacts[] = [];
  readonly log: string[] = [];
  open = true;
  paused = false;
  signal?: AbortSignal;
  maxAttempts?: number;
  answer: (stop: StopFacts) => StopAnswer | Promise<StopAnswer> = ({ attempt }) => ({
    answer: 'retry',
    reminder: `REMINDER ${attempt}`,
  });
  readonly #sources: Source[];

  constructor(...sources: Source[]) {
    this.#sources = [...sources];
  }

  attempt(reminder: string | null): AsyncIterable<ScriptPart> {
    this.reminders.push(reminder);
    const source = this.#sources.shift();
    if (source === undefined) throw new Error('the script has no further attempt');
    return typeof source === 'function' ? source() : streamOf(source);
  }

  hasOpenTodos(): boolean {
    this.log.push('hasOpenTodos');
    return this.open;
  }

  isPaused(): boolean {
    this.log.push('isPaused');
    return this.paused;
  }

  isDuplicate(toolResult: ScriptPart): boolean {
    return toolResult.output === 'duplicate';
  }

  async ask(stop: StopFacts): Promise<StopAnswer> {
    this.log.push('ask');
    this.stops.push(stop);
    return this.answer(stop);
  }

  guard(): AsyncGenerator<SeenPart<ScriptPart>, Result, undefined> {
    return attempts<ScriptPart>(this);
  }

  async run(): Promise<{ parts: SeenPart<ScriptPart>[]; result: Result }> {
    return collect(this.guard());
  }
}

export async function collect<Part>(
  generator: AsyncGenerator<Part, Result, undefined>,
): Promise<{ parts: Part[]; result: Result }> {
  const parts: Part[] = [];
  for (;;) {
    const next = await generator.next();
    if (next.done) return { parts, result: next.value };
    parts.push(next.value);
  }
}

/**
 * The parts as short words: text in brackets, so that a whole stream reads as one line.
 */
export function line(parts: readonly SeenPart<ScriptPart>[]): string {
  return parts
    .filter(
      ({ type }) =>
        type !== 'text-start' && type !== 'text-end' && type !== 'tool-input-start',
    )
    .map((each) =>
      'text' in each && each.text !== undefined
        ? `${each.type}(${each.text})`
        : each.type,
    )
    .join(' ');
}

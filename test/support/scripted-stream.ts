// Streams written by hand, and callers that write down what they were asked: for the tests of the guard only.
// Nothing here sleeps; a stream that waits is let go by the test.
import type { GuardQuestions, StopAnswer, StopFacts } from '../../src/agent/guard/answer-stop.ts';
import { GuardMemory } from '../../src/agent/guard/guard-memory.ts';
import { type GuardPart, type GuardResult, guardStep } from '../../src/agent/guard/guard-step.ts';

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
export const step = (body: readonly ScriptPart[], finishReason = 'stop'): ScriptPart[] => [
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

/** A guard's caller with a plan of its own; every field can be replaced by a test. */
export class ScriptedCaller implements GuardQuestions<ScriptPart> {
  readonly memory = new GuardMemory();
  readonly reminders: (string | null)[] = [];
  readonly stops: StopFacts[] = [];
  readonly log: string[] = [];
  signals: AbortSignal[] = [];
  plan = 'a: pending';
  open = true;
  paused = false;
  signal?: AbortSignal;
  maxAttempts?: number;
  answer: (stop: StopFacts) => StopAnswer | Promise<StopAnswer> = ({ level }) => ({
    answer: 'retry',
    reminder: `REMINDER ${level}`,
    level,
  });
  readonly #sources: Source[];

  constructor(...sources: Source[]) {
    this.#sources = [...sources];
  }

  attempt(reminder: string | null, signal: AbortSignal): { stream: AsyncIterable<ScriptPart> } {
    this.reminders.push(reminder);
    this.signals.push(signal);
    const source = this.#sources.shift();
    if (source === undefined) throw new Error('the script has no further attempt');
    return { stream: typeof source === 'function' ? source() : streamOf(source) };
  }

  hasOpenTodos(): boolean {
    this.log.push('hasOpenTodos');
    return this.open;
  }

  isPaused(): boolean {
    this.log.push('isPaused');
    return this.paused;
  }

  readPlan(): string {
    this.log.push('readPlan');
    return this.plan;
  }

  isDuplicate(toolResult: ScriptPart): boolean {
    return toolResult.output === 'duplicate';
  }

  async ask(stop: StopFacts): Promise<StopAnswer> {
    this.log.push('ask');
    this.stops.push(stop);
    return this.answer(stop);
  }

  guard(): AsyncGenerator<GuardPart<ScriptPart>, GuardResult, undefined> {
    return guardStep<ScriptPart>(this);
  }

  async run(): Promise<{ parts: GuardPart<ScriptPart>[]; result: GuardResult }> {
    return collect(this.guard());
  }
}

export async function collect<Part>(
  generator: AsyncGenerator<Part, GuardResult, undefined>,
): Promise<{ parts: Part[]; result: GuardResult }> {
  const parts: Part[] = [];
  for (;;) {
    const next = await generator.next();
    if (next.done) return { parts, result: next.value };
    parts.push(next.value);
  }
}

/** The parts as short words: text in brackets, so that a whole stream reads as one line. */
export function line(parts: readonly GuardPart<ScriptPart>[]): string {
  return parts
    .filter(({ type }) => type !== 'text-start' && type !== 'text-end' && type !== 'tool-input-start')
    .map((each) => ('text' in each && each.text !== undefined ? `${each.type}(${each.text})` : each.type))
    .join(' ');
}

// Finds out that an agent goes in circles: the same call with the same result, a period of calls, the same words
// again and again (I8, P25). Incremental, with the memory of the last calls only. It alarms; others act.
// A missed loop is ended later by the limits; a false alarm breaks honest work. So results must be equal too.
import { oneLine } from '../../core/safe-text.ts';
import { canonicalText, digest, withoutMeasurements } from './canonical-input.ts';

export interface ObservedCall {
  readonly name: string;
  readonly input: unknown;
  /** What the model got to see: output or error. */
  readonly result: unknown;
}

export interface LoopAlarm {
  /** One short line, safe to show: tool names and numbers, nothing of inputs or results. */
  readonly pattern: string;
  readonly repeats: number;
}

export interface LoopLimits {
  readonly identicalCalls: number;
  readonly maxPeriod: number;
  readonly periods: number;
  readonly repeatedTexts: number;
  /** Calls and texts that are remembered; three periods of the longest kind must fit. */
  readonly memory: number;
}

export const defaultLoopLimits: LoopLimits = {
  identicalCalls: 4,
  maxPeriod: 6,
  periods: 3,
  repeatedTexts: 3,
  memory: 60,
};

interface RememberedCall {
  readonly name: string;
  readonly key: string;
}

export class LoopDetector {
  readonly #limits: LoopLimits;
  #calls: RememberedCall[] = [];
  /** Said since the last call that was new. */
  #texts: string[] = [];

  constructor(limits: LoopLimits = defaultLoopLimits) {
    this.#limits = limits;
  }

  /** How much is remembered; it never exceeds twice the limit. */
  get size(): number {
    return this.#calls.length + this.#texts.length;
  }

  observeCall({ name, input, result }: ObservedCall): LoopAlarm | null {
    const key = digest(`${name}\n${canonicalText(input)}\n${withoutMeasurements(canonicalText(result))}`);
    const isNew = !this.#calls.some((call) => call.key === key);
    // Someone who repeats a phrase while doing something new is not going in circles.
    if (isNew) this.#texts = [];
    this.#calls = remember(this.#calls, { name: oneLine(name, 40), key }, this.#limits.memory);
    return this.#alarm(this.#identicalCalls() ?? this.#periodicCalls());
  }

  observeText(text: string): LoopAlarm | null {
    const plain = text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s\p{P}\p{S}]+/gu, ' ')
      .trim();
    if (plain === '') return null;
    const key = digest(plain);
    this.#texts = remember(this.#texts, key, this.#limits.memory);
    const repeats = this.#texts.filter((said) => said === key).length;
    if (repeats < this.#limits.repeatedTexts) return null;
    return this.#alarm({ pattern: `the same text ${repeats} times`, repeats });
  }

  /** A new human message, or anything else after which old repetitions mean nothing. */
  reset(): void {
    this.#calls = [];
    this.#texts = [];
  }

  /** After an alarm the count starts afresh: a second alarm means a second full round. */
  #alarm(alarm: LoopAlarm | null): LoopAlarm | null {
    if (alarm !== null) this.reset();
    return alarm;
  }

  #identicalCalls(): LoopAlarm | null {
    const repeats = this.#limits.identicalCalls;
    const last = this.#calls.slice(-repeats);
    const first = last[0];
    if (first === undefined || last.length < repeats || last.some(({ key }) => key !== first.key))
      return null;
    return { pattern: `${first.name} ${repeats} times with the same input and result`, repeats };
  }

  #periodicCalls(): LoopAlarm | null {
    const { maxPeriod, periods } = this.#limits;
    for (let period = 2; period <= maxPeriod; period += 1) {
      const last = this.#calls.slice(-period * periods);
      if (last.length < period * periods) return null;
      if (!last.every(({ key }, index) => key === last[index % period]?.key)) continue;
      const names = last.slice(0, period).map(({ name }) => name);
      return {
        pattern: `${oneLine(names.join(' → '), 160)}, ${periods} times with the same results`,
        repeats: periods,
      };
    }
    return null;
  }
}

function remember<Value>(values: readonly Value[], value: Value, limit: number): Value[] {
  return [...values, value].slice(-limit);
}

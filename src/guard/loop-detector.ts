// Finds an agent that goes round in circles (I8, P25). A missed loop meets the limits
// later, but a false alarm stops honest work: so results must be equal too, not only
// calls.
import { oneLine } from '../core/safe-text.ts';
import { sha256 } from '../engine/system.ts';

/** A loop that was found. */
export interface LoopAlarm {
  /** Safe to show: it holds tool names and numbers, but nothing of inputs or results. */
  readonly pattern: string;
  readonly repeats: number;
}

/**
 * How many repeats make a loop. `memory`: how many calls and texts are kept; three
 * periods of the longest kind must fit.
 */
export const defaultLoopLimits = {
  identicalCalls: 4,
  maxPeriod: 6,
  periods: 3,
  repeatedTexts: 3,
  memory: 60,
};
type LoopLimits = Readonly<typeof defaultLoopLimits>;

/** Watches the calls and texts of one agent. */
export class LoopDetector {
  readonly #limits: LoopLimits;
  #calls: { readonly name: string; readonly key: string }[] = [];
  #texts: string[] = [];

  constructor(limits: LoopLimits = defaultLoopLimits) {
    this.#limits = limits;
  }

  get size() {
    return this.#calls.length + this.#texts.length;
  }

  /** Call it after each tool call. Returns an alarm, or null. */
  observeCall({
    name,
    input,
    result,
  }: {
    name: string;
    input: unknown;
    result: unknown;
  }) {
    const key = sha256(
      `${name}\n${canonicalText(input)}\n${withoutMeasurements(canonicalText(result))}`,
    );
    // Repeating a phrase while doing something new is no loop.
    if (!this.#calls.some((call) => call.key === key)) this.#texts = [];
    this.#calls = [...this.#calls, { name: oneLine(name, 40), key }].slice(
      -this.#limits.memory,
    );
    return this.#alarm(this.#repeatedCalls());
  }

  /** Call it with each text of the agent. Returns an alarm, or null. */
  observeText(text: string) {
    const words = text.normalize('NFKC').toLowerCase();
    const plain = words.replace(/[\s\p{P}\p{S}]+/gu, ' ').trim();
    if (plain === '') return null;
    const key = sha256(plain);
    this.#texts = [...this.#texts, key].slice(-this.#limits.memory);
    const repeats = this.#texts.filter((earlier) => earlier === key).length;
    if (repeats < this.#limits.repeatedTexts) return null;
    return this.#alarm({ pattern: `the same text ${repeats} times`, repeats });
  }

  reset() {
    this.#calls = [];
    this.#texts = [];
  }

  /** After an alarm, the next one needs a second full round. */
  #alarm(alarm: LoopAlarm | null) {
    if (alarm !== null) this.reset();
    return alarm;
  }

  #repeatedCalls(): LoopAlarm | null {
    const { maxPeriod, periods, identicalCalls } = this.#limits;
    for (let period = 1; period <= maxPeriod; period += 1) {
      const repeats = period === 1 ? identicalCalls : periods;
      const last = this.#calls.slice(-period * repeats);
      const isRound = last.every(({ key }, index) => key === last[index % period]?.key);
      if (last.length < period * repeats || !isRound) continue;
      const round = last.slice(0, period).map(({ name }) => name);
      const names = oneLine(round.join(' → '), 160);
      const alike =
        period === 1
          ? 'times with the same input and result'
          : 'times with the same results';
      return {
        pattern: `${names}${period === 1 ? '' : ','} ${repeats} ${alike}`,
        repeats,
      };
    }
    return null;
  }
}

/** A value as text with its keys in order. Never fails, whatever a model sends. */
function canonicalText(value: unknown) {
  const inOrder = (_key: string, field: unknown): unknown => {
    if (field instanceof Error) return `${field.name}: ${field.message}`;
    if (typeof field === 'bigint') return String(field);
    if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(
      Object.entries(field).sort(([left], [right]) => (left < right ? -1 : 1)),
    );
  };
  try {
    return JSON.stringify(value, inOrder) ?? String(value);
  } catch {
    // Safe: no honest input contains itself, so such inputs may count as equal.
    return '…';
  }
}

/** Times and durations differ in every run of a test; other numbers may be progress. */
function withoutMeasurements(text: string) {
  return text
    .replace(/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?/gu, '#')
    .replace(/\b\d{1,9}(?:\.\d{1,9})?[ ]?(?:ms|µs|us|ns)\b/gu, '#')
    .replace(/\b\d{1,9}\.\d{1,9}[ ]?(?:s|sec|secs|seconds?)\b/gu, '#');
}

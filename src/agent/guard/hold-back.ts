// One step of a model, part by part: its answer is held back until someone decided about it, and its ending is counted
// (I1, I2, I5). Parts are known by shape, so that every AI SDK stream fits; nothing here waits, asks or changes a part.

import type { StopEnd } from '../../core/events.ts';
import { endsInQuestion } from '../../core/safe-text.ts';

export interface PartLike {
  readonly type: string;
}

export class HoldBack<Part extends PartLike> {
  /** `answer`: text and the end of the step are held; `end`: its end only; `nothing`: only the finish. */
  #holding: 'answer' | 'end' | 'nothing';
  #held: Part[] = [];
  #finish: Part | null = null;

  constructor(holding: 'answer' | 'end') {
    this.#holding = holding;
  }

  take(part: Part): readonly Part[] {
    const { type } = part;
    if (type === 'finish') {
      this.#finish = part;
      return [];
    }
    // From here on the step cannot be a silent stop: it works with tools, or it broke off. The beginning of a tool's
    // input counts, so that text stays in front of the call that it announces.
    if (type.startsWith('tool-') || type === 'error' || type === 'abort') {
      this.#holding = 'nothing';
      return [...this.#takeHeld(), part];
    }
    const isAnswer = type.startsWith('text-') || type === 'source' || type === 'file';
    const isHeld =
      type === 'finish-step' ? this.#holding !== 'nothing' : this.#holding === 'answer' && isAnswer;
    if (!isHeld) return [part];
    this.#held.push(part);
    return [];
  }

  release(): readonly Part[] {
    const finish = this.#finish === null ? [] : [this.#finish];
    this.#finish = null;
    return [...this.#takeHeld(), ...finish];
  }

  /**
   * The attempt is sent back: its answer and its finish are kept from the reader. The end of the step still passes: it
   * closes what start-step opened and carries the tokens that were spent.
   */
  withhold(): { readonly text: string; readonly passing: readonly Part[] } {
    const held = this.#takeHeld();
    this.#finish = null;
    return {
      text: held.map(textOf).join(''),
      passing: held.filter(({ type }) => type === 'finish-step'),
    };
  }

  #takeHeld(): Part[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

export interface StepFacts {
  readonly calledTools: boolean;
  /** Every call was a todo_write that changed nothing: no tool work (I5). */
  readonly onlyDuplicates: boolean;
  /** The provider's word; null when the stream broke off before it. */
  readonly finishReason: string | null;
  readonly end: StopEnd;
  readonly text: string;
  readonly question: boolean;
}

export class StepWatch<Part extends PartLike> {
  error: { readonly cause: unknown } | null = null;
  isAborted = false;
  readonly #isDuplicate: (toolResult: Part) => boolean;
  #text = '';
  #calls = 0;
  #otherToolWork = 0;
  #duplicates = 0;
  #finishReason: string | null = null;

  constructor(isDuplicate: (toolResult: Part) => boolean) {
    this.#isDuplicate = isDuplicate;
  }

  observe(part: Part): void {
    const { type } = part;
    this.#text += textOf(part);
    if (type === 'error') this.error ??= { cause: fieldOf(part, 'error') };
    if (type === 'abort') this.isAborted = true;
    const reason = type === 'finish' || type === 'finish-step' ? fieldOf(part, 'finishReason') : null;
    if (typeof reason === 'string') this.#finishReason = reason;
    if (!type.startsWith('tool-') || type.startsWith('tool-input-')) return;
    if (type === 'tool-call') this.#calls += 1;
    else if (type !== 'tool-result') this.#otherToolWork += 1;
    // A streaming tool repeats its result until the last one, which alone is not preliminary.
    else if (fieldOf(part, 'preliminary') !== true) this.#countDuplicate(part);
  }

  #countDuplicate(part: Part): void {
    try {
      if (this.#isDuplicate(part)) this.#duplicates += 1;
    } catch {
      // Safe: not knowing counts as work, and then nothing is sent back by mistake.
    }
  }

  get workCalls(): number {
    return Math.max(0, this.#calls - this.#duplicates);
  }

  facts(): StepFacts {
    const text = this.#text;
    const calledTools = this.#calls + this.#otherToolWork + this.#duplicates > 0;
    const onlyDuplicates = calledTools && this.workCalls === 0 && this.#otherToolWork === 0;
    const question = endsInQuestion(text);
    return {
      calledTools,
      onlyDuplicates,
      finishReason: this.#finishReason,
      end: this.#end(),
      text,
      question,
    };
  }

  #end(): StopEnd {
    const reason = this.#finishReason;
    if (this.isAborted || reason === 'interrupted') return 'cancelled';
    if (this.error !== null || reason === 'error') return 'error';
    if (reason === 'length' || reason === 'content-filter') return reason;
    return this.#text.trim() === '' && this.#calls === 0 ? 'empty' : 'normal';
  }
}

function textOf(part: PartLike): string {
  const text = part.type === 'text-delta' ? fieldOf(part, 'text') : undefined;
  return typeof text === 'string' ? text : '';
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

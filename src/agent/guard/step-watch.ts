// Watches the parts of one attempt and says afterwards what kind of ending it was: worked with tools, stopped,
// broke off. It only counts; what follows from that is decided elsewhere.

import { endsInQuestion } from '../../core/ends-in-question.ts';
import type { StopEnd } from '../../core/events.ts';
import { fieldOf, finishReasonOf, isFinalResult, isToolWork, type PartLike, textOf } from './stream-part.ts';

/** One attempt, looked at from its end. */
export interface StepFacts {
  readonly calledTools: boolean;
  /** Every call was a todo_write that changed nothing: no tool work (I5). */
  readonly onlyDuplicates: boolean;
  /** The provider's word; null when the stream broke off before it. */
  readonly finishReason: string | null;
  readonly end: StopEnd;
  readonly text: string;
  /** The text ends by asking the human something (G11). */
  readonly question: boolean;
}

export class StepWatch<Part extends PartLike> {
  readonly #isDuplicate: (toolResult: Part) => boolean;
  #texts: string[] = [];
  #calls = 0;
  #otherToolWork = 0;
  #duplicates = 0;
  #finishReason: string | null = null;
  #error: { readonly cause: unknown } | null = null;
  #aborted = false;

  constructor(isDuplicate: (toolResult: Part) => boolean) {
    this.#isDuplicate = isDuplicate;
  }

  observe(part: Part): void {
    if (part.type === 'text-delta') this.#texts.push(textOf(part));
    if (part.type === 'error') this.#error ??= { cause: fieldOf(part, 'error') };
    if (part.type === 'abort') this.#aborted = true;
    this.#finishReason = finishReasonOf(part) ?? this.#finishReason;
    if (!isToolWork(part)) return;
    if (part.type === 'tool-call') this.#calls += 1;
    else if (part.type !== 'tool-result') this.#otherToolWork += 1;
    else if (isFinalResult(part) && this.#isDuplicate(part)) this.#duplicates += 1;
  }

  /** Calls that did something: a duplicate todo_write is none of them. */
  get workCalls(): number {
    return Math.max(0, this.#calls - this.#duplicates);
  }

  get error(): { readonly cause: unknown } | null {
    return this.#error;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  facts(): StepFacts {
    const text = this.#texts.join('');
    const calledTools = this.#calls + this.#otherToolWork + this.#duplicates > 0;
    return {
      calledTools,
      onlyDuplicates: calledTools && this.workCalls === 0 && this.#otherToolWork === 0,
      finishReason: this.#finishReason,
      end: this.#end(text),
      text,
      question: endsInQuestion(text),
    };
  }

  #end(text: string): StopEnd {
    if (this.#aborted || this.#finishReason === 'interrupted') return 'cancelled';
    if (this.#error !== null || this.#finishReason === 'error') return 'error';
    if (this.#finishReason === 'length' || this.#finishReason === 'content-filter') return this.#finishReason;
    return text.trim() === '' && this.#calls === 0 ? 'empty' : 'normal';
  }
}

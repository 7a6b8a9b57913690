// Holds a model's answer back until someone decided about it: part in, parts out (I1). One object per step.
// It never waits, asks or drops by itself, and it never delays what belongs to a tool.
import { endsHolding, isAnswerPart, type PartLike, textOf } from './stream-part.ts';

/** `answer`: text and the end of the step are held; `end`: its end only; `nothing`: only the finish. */
export type Holding = 'answer' | 'end' | 'nothing';

export class HoldBack<Part extends PartLike> {
  #holding: Holding;
  #held: Part[] = [];
  #finish: Part | null = null;

  constructor(holding: Exclude<Holding, 'nothing'>) {
    this.#holding = holding;
  }

  /** What passes now. A part that is not held is always the last of them. */
  take(part: Part): readonly Part[] {
    if (part.type === 'finish') {
      // A second finish replaces the first: a turn ends once.
      this.#finish = part;
      return [];
    }
    if (endsHolding(part)) {
      this.#holding = 'nothing';
      return [...this.#takeHeld(), part];
    }
    if (!this.#holds(part)) return [part];
    this.#held.push(part);
    return [];
  }

  /** Everything that is still here, in its order, the finish last. */
  release(): readonly Part[] {
    const held = this.#takeHeld();
    const finish = this.#finish === null ? [] : [this.#finish];
    this.#finish = null;
    return [...held, ...finish];
  }

  /**
   * The attempt is sent back: its answer and its finish are kept from the reader. The end of the step still
   * passes: it closes what start-step opened and carries the tokens that were spent.
   */
  withhold(): { readonly text: string; readonly passing: readonly Part[] } {
    const held = this.#takeHeld();
    this.#finish = null;
    return {
      text: held.map(textOf).join(''),
      passing: held.filter(({ type }) => type === 'finish-step'),
    };
  }

  #holds(part: Part): boolean {
    if (this.#holding === 'nothing') return false;
    return part.type === 'finish-step' || (this.#holding === 'answer' && isAnswerPart(part));
  }

  #takeHeld(): Part[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

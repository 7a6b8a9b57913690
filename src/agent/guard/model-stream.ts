// Pulls the parts of one model call, one at a time and only when asked, so that a slow reader slows the model.
// A failing stream is a value here; nothing is yielded from inside a catch.
import { type Interruption, interrupted } from './interruption.ts';

export type Pulled<Part> =
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'interrupted' };

export class ModelStream<Part> {
  readonly #open: () => AsyncIterable<Part>;
  readonly #interruption: Interruption;
  #iterator: AsyncIterator<Part> | null = null;
  #ended = false;

  /** `open` starts the model call; it runs at the first pull. */
  constructor(open: () => AsyncIterable<Part>, interruption: Interruption) {
    this.#open = open;
    this.#interruption = interruption;
  }

  async pull(): Promise<Pulled<Part>> {
    try {
      this.#iterator ??= this.#open()[Symbol.asyncIterator]();
      const next = await this.#interruption.race(this.#iterator.next());
      if (next === interrupted) return { kind: 'interrupted' };
      if (!next.done) return { kind: 'part', part: next.value };
      this.#ended = true;
      return { kind: 'end' };
    } catch (cause) {
      // Safe: the failure travels on as a value, and a stream that threw has ended.
      this.#ended = true;
      return { kind: 'failed', cause };
    }
  }

  /** Ends a stream that is left early. Not awaited: a stream that hangs must not hold its reader. */
  close(): void {
    if (this.#ended || this.#iterator === null) return;
    this.#ended = true;
    const closing = Promise.resolve(this.#iterator.return?.());
    // Safe: nobody reads this stream any more, so that its failure concerns nobody.
    closing.catch(() => undefined);
  }
}

// Ends a wait when a human aborts or the consumer goes away. One waiter at a time and no list of them: a race against
// a promise that lives as long as the stream would keep every part of that stream in memory.

/**
 * A stream that hears the signal ends by itself, with its last tool results and its own abort part; one that does
 * not is left after this time. Longer would be felt as a Ctrl-C that does not work.
 */
const graceMs = 100;

export const interrupted: unique symbol = Symbol('interrupted');

export class Interruption {
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  #waiter: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;
  #rung = false;
  #cancelled = false;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
  }

  /** Goes to the model call: fires on the human's abort and when the consumer goes away. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The consumer went away: nobody is left to release anything to. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  get requested(): boolean {
    return this.signal.aborted;
  }

  listen(): void {
    if (this.#outer?.aborted) this.#onAbort();
    else this.#outer?.addEventListener('abort', this.#onAbort, { once: true });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#ring();
    this.#controller.abort();
  }

  /** After this no signal and no timer holds on to the step. */
  dispose(): void {
    this.#outer?.removeEventListener('abort', this.#onAbort);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async race<Value>(promise: PromiseLike<Value>): Promise<Value | typeof interrupted> {
    if (this.#rung) {
      // Nobody will look at it any more; its failure must not become an unhandled rejection.
      promise.then(undefined, () => undefined);
      return interrupted;
    }
    try {
      return await new Promise<Value | typeof interrupted>((resolve, reject) => {
        this.#waiter = () => resolve(interrupted);
        promise.then(resolve, reject);
      });
    } finally {
      this.#waiter = null;
    }
  }

  readonly #onAbort = (): void => {
    this.#timer = setTimeout(() => this.#ring(), graceMs);
    this.#controller.abort(this.#outer?.reason);
  };

  #ring(): void {
    this.#rung = true;
    this.#waiter?.();
  }
}

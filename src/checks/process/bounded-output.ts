// Keeps the beginning and the end of a stream of any length: errors stand at one of the two.
// Memory stays at a small multiple of the limit.
import { plainText } from './plain-text.ts';

export class BoundedOutput {
  readonly #half: number;
  #head = '';
  #tail = '';
  #total = 0;

  constructor(maxCharacters: number) {
    this.#half = Math.floor(maxCharacters / 2);
  }

  append(chunk: string): void {
    this.#total += chunk.length;
    const room = this.#half - this.#head.length;
    this.#head += chunk.slice(0, room);
    this.#tail += chunk.slice(room);
    // Cut only when it has doubled: cutting at every chunk would copy the tail each time.
    if (this.#tail.length > 2 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  /** What came since the last time, as plain text: no escape sequences, line ends made one. */
  take(): string {
    const tail = this.#tail.slice(-this.#half);
    const leftOut = this.#total - this.#head.length - tail.length;
    const text =
      leftOut > 0
        ? `${plainText(this.#head)}\n… ${leftOut} characters left out …\n${plainText(tail)}`
        : plainText(this.#head + tail);
    this.#head = '';
    this.#tail = '';
    this.#total = 0;
    return text;
  }
}

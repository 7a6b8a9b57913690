// What is kept of the output of a check, however much it prints: the beginning and the end for the pattern that it must
// match, the very end, masked, for the evidence.
import { plainText } from './process/plain-text.ts';
import { longestSecret, maskSecrets } from './secrets.ts';

/** Characters of the evidence: enough for the end of a test report, little enough for a prompt. */
const tailLength = 8192;

/** Characters that a pattern sees of each end. */
const searchedLength = 131_072;

export class CheckOutput {
  readonly #secrets: readonly string[];
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = '';
  #tail = '';
  #isCut = false;

  constructor(secrets: readonly string[], headLimit: number = searchedLength) {
    this.#secrets = secrets;
    this.#headLimit = headLimit;
    this.#tailLimit = headLimit + longestSecret(secrets);
  }

  append(chunk: string): void {
    const room = this.#headLimit - this.#head.length;
    this.#head += chunk.slice(0, room);
    this.#tail += chunk.slice(room);
    // Cut only when it has doubled: cutting at every chunk would copy the tail each time.
    if (this.#tail.length > 2 * this.#tailLimit) {
      this.#tail = this.#tail.slice(-this.#tailLimit);
      this.#isCut = true;
    }
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Plain text with secrets in it: for matching alone. */
  searched(): string {
    return plainText(this.#isCut ? `${this.#head}\n${this.#tail}` : this.#head + this.#tail);
  }

  tail(): string {
    const text = plainText(this.#isCut ? this.#tail : this.#head + this.#tail);
    return endOf(maskSecrets(text, this.#secrets, { atStart: this.#isCut }));
  }
}

/** The end of a text that is masked already. */
export function endOf(masked: string): string {
  const trimmed = masked.trimEnd();
  return trimmed.length <= tailLength ? trimmed : trimmed.slice(-tailLength).replace(/^[\udc00-\udfff]/u, '');
}

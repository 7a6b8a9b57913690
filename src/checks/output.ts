// What a program printed, made fit to be kept and shown: as text that acts on no terminal, of bounded length, and without
// secrets as they stand in the environment. It does not know encoded, split or reversed forms of them.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Environment } from '../engine/policy.ts';

/** A carriage return becomes a line end, so that nothing printed before it is hidden. */
export function plainText(text: string): string {
  const unbroken = text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return stripTerminalControls(unbroken.replace(/\r\n?/gu, '\n'));
}

/**
 * Keeps the beginning and the end of a stream of any length, where errors stand, in memory that stays at a small multiple
 * of both. A secret that the cut splits is kept whole at the end, so that it can be masked.
 */
export class BoundedOutput {
  #head = '';
  #tail = '';
  #total = 0;
  readonly #half: number;
  readonly #secrets: readonly string[];

  constructor(maxCharacters: number, secrets: readonly string[] = []) {
    this.#half = Math.floor(maxCharacters / 2);
    this.#secrets = secrets;
  }

  append(chunk: string): void {
    this.#total += chunk.length;
    const room = this.#half - this.#head.length;
    this.#head += chunk.slice(0, room);
    this.#tail += chunk.slice(room);
    const limit = this.#half + longestSecret(this.#secrets);
    // Cut only when it has doubled: cutting at every chunk would copy the tail each time.
    if (this.#tail.length > 2 * limit) this.#tail = this.#tail.slice(-limit);
  }

  get isEmpty(): boolean {
    return this.#total === 0;
  }

  get isCut(): boolean {
    return this.#total > this.#head.length + this.#tail.length;
  }

  /** What came since the last time, as plain text. */
  take(): string {
    const [head, tail] = [this.#head, this.#tail.slice(-this.#half)];
    const leftOut = this.#total - head.length - tail.length;
    [this.#head, this.#tail, this.#total] = ['', '', 0];
    return leftOut > 0
      ? `${plainText(head)}\n… ${leftOut} characters left out …\n${plainText(tail)}`
      : plainText(head + tail);
  }

  /** Plain text with secrets in it: for the pattern that the output of a check must match. */
  searched(): string {
    return plainText(`${this.#head}${this.isCut ? '\n' : ''}${this.#tail}`);
  }

  /** The very end, masked, for the evidence. */
  end(): string {
    const text = plainText(this.isCut ? this.#tail : this.#head + this.#tail);
    return endOf(maskSecrets(text, this.#secrets, { atStart: this.isCut }));
  }
}

/** Characters of the evidence: enough for the end of a test report, little enough for a prompt. */
const tailLength = 8192;

export function endOf(masked: string): string {
  const trimmed = masked.trimEnd();
  return trimmed.length <= tailLength ? trimmed : trimmed.slice(-tailLength).replace(/^[\udc00-\udfff]/u, '');
}

const secretName =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|COOKIE|(?:^|_)(?:PASS|PAT|AUTH|DSN)(?:_|$)/iu;
/** Shorter values stand in every text by chance. */
const shortestSecret = 6;
/** A key of several lines is printed line by line, with prefixes; shorter lines of it tell nothing. */
const shortestLine = 12;

export function secretValues(environment: Environment): readonly string[] {
  const values = Object.entries(environment).flatMap(([name, value = '']) => {
    const password = /^[a-z][\w+.-]*:\/\/[^/\s@]*:([^/\s@]+)@/iu.exec(value)?.[1] ?? '';
    return secretName.test(name) ? [value, password] : [password];
  });
  return [...new Set(values.flatMap(formsOf))];
}

function formsOf(value: string): string[] {
  const plain = plainText(value).trim();
  if (plain.length < shortestSecret) return [];
  const lines = plain.split('\n').map((line) => line.trim());
  return [plain, ...(lines.length > 1 ? lines.filter(({ length }) => length >= shortestLine) : [])];
}

function longestSecret(secrets: readonly string[]): number {
  return Math.max(0, ...secrets.map(({ length }) => length));
}

/** `text` is plain. At a cut, where a part of a secret may stand, as much is left out as could belong to one. */
export function maskSecrets(
  text: string,
  secrets: readonly string[],
  { atStart = false, atEnd = false } = {},
): string {
  const margin = Math.max(0, longestSecret(secrets) - 1);
  const to = atEnd ? text.length - margin : text.length;
  const spans: { start: number; end: number }[] = [];
  for (const secret of secrets)
    for (let start = text.indexOf(secret); start !== -1; start = text.indexOf(secret, start + 1))
      spans.push({ start, end: start + secret.length });
  spans.sort((left, right) => left.start - right.start || left.end - right.end);
  const parts: string[] = [];
  let at = atStart ? margin : 0;
  for (const { start, end } of spans) {
    if (end <= at || start >= to) continue;
    // One that overlaps with the last is covered by the same mask.
    if (start >= at || parts.length === 0) parts.push(text.slice(at, Math.max(at, start)), '[masked]');
    at = end;
  }
  return parts.join('') + text.slice(at, Math.max(at, to));
}

/** A piece of the configuration inside one of our sentences: masked before it is shortened, so that no part stays. */
export function quoteMasked(text: string, secrets: readonly string[]): string {
  return oneLine(maskSecrets(plainText(text), secrets), 200);
}

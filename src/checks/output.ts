// What a program printed, made fit to be kept and shown: as text that acts on no terminal, of bounded length, and without
// the literal values of secret-looking environment variables. It knows secrets as they stand in the environment, not
// encoded, split over lines or reversed forms of them.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';

/** A carriage return becomes a line end, so that nothing printed before it is hidden. */
export function plainText(text: string): string {
  const unbroken = text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return stripTerminalControls(unbroken.replace(/\r\n?/gu, '\n'));
}

/** Keeps the beginning and the end of a stream of any length, in memory that stays at a small multiple of both. */
class Ends {
  head = '';
  #tail = '';
  total = 0;
  readonly #headLimit: number;
  readonly #tailLimit: number;

  constructor(headLimit: number, tailLimit: number) {
    this.#headLimit = headLimit;
    this.#tailLimit = tailLimit;
  }

  append(chunk: string): void {
    this.total += chunk.length;
    const room = this.#headLimit - this.head.length;
    this.head += chunk.slice(0, room);
    this.#tail += chunk.slice(room);
    // Cut only when it has doubled: cutting at every chunk would copy the tail each time.
    if (this.#tail.length > 2 * this.#tailLimit) this.#tail = this.#tail.slice(-this.#tailLimit);
  }

  get tail(): string {
    return this.#tail;
  }

  /** How many characters between the two ends are gone. */
  get leftOut(): number {
    return this.total - this.head.length - this.#tail.length;
  }
}

/** What a command printed since the last time it was asked for: errors stand at the beginning or at the end. */
export class BoundedOutput {
  readonly #half: number;
  #ends: Ends;

  constructor(maxCharacters: number) {
    this.#half = Math.floor(maxCharacters / 2);
    this.#ends = new Ends(this.#half, this.#half);
  }

  append(chunk: string): void {
    this.#ends.append(chunk);
  }

  get isEmpty(): boolean {
    return this.#ends.total === 0;
  }

  /** As plain text: no escape sequences, line ends made one. */
  take(): string {
    const { head, total } = this.#ends;
    const tail = this.#ends.tail.slice(-this.#half);
    this.#ends = new Ends(this.#half, this.#half);
    const leftOut = total - head.length - tail.length;
    return leftOut > 0
      ? `${plainText(head)}\n… ${leftOut} characters left out …\n${plainText(tail)}`
      : plainText(head + tail);
  }
}

/** Characters of the evidence: enough for the end of a test report, little enough for a prompt. */
const tailLength = 8192;

/** Characters that a pattern sees of each end. */
const searchedLength = 131_072;

/** The output of a check: both ends for the pattern that it must match, the very end, masked, for the evidence. */
export class CheckOutput {
  readonly #secrets: readonly string[];
  readonly #ends: Ends;

  constructor(secrets: readonly string[], headLimit: number = searchedLength) {
    this.#secrets = secrets;
    this.#ends = new Ends(headLimit, headLimit + longestSecret(secrets));
  }

  append(chunk: string): void {
    this.#ends.append(chunk);
  }

  get isCut(): boolean {
    return this.#ends.leftOut > 0;
  }

  /** Plain text with secrets in it: for matching alone. */
  searched(): string {
    return plainText(`${this.#ends.head}${this.isCut ? '\n' : ''}${this.#ends.tail}`);
  }

  tail(): string {
    const text = plainText(this.isCut ? this.#ends.tail : this.#ends.head + this.#ends.tail);
    return endOf(maskSecrets(text, this.#secrets, { atStart: this.isCut }));
  }
}

/** The end of a text that is masked already. */
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
const mask = '[masked]';

export function secretValues(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    if (secretName.test(name)) addForms(value, found);
    const password = /^[a-z][\w+.-]*:\/\/[^/\s@]*:([^/\s@]+)@/iu.exec(value)?.[1];
    if (password !== undefined) addForms(password, found);
  }
  return [...found];
}

function addForms(value: string, found: Set<string>): void {
  const plain = plainText(value).trim();
  if (plain.length < shortestSecret) return;
  found.add(plain);
  const lines = plain.split('\n').map((line) => line.trim());
  if (lines.length > 1) for (const line of lines) if (line.length >= shortestLine) found.add(line);
}

function longestSecret(secrets: readonly string[]): number {
  return secrets.reduce((longest, secret) => Math.max(longest, secret.length), 0);
}

/** Where a text was cut off, a part of a secret may stand that nobody would recognise. */
export interface Cuts {
  readonly atStart?: boolean;
  readonly atEnd?: boolean;
}

/** `text` is plain. At a cut as much is left out as could belong to a secret. */
export function maskSecrets(text: string, secrets: readonly string[], cuts: Cuts = {}): string {
  const margin = Math.max(0, longestSecret(secrets) - 1);
  const from = cuts.atStart === true ? margin : 0;
  const to = cuts.atEnd === true ? text.length - margin : text.length;
  const parts: string[] = [];
  let at = from;
  for (const { start, end } of occurrences(text, secrets)) {
    if (end <= at || start >= to) continue;
    if (start > at) parts.push(text.slice(at, start));
    parts.push(mask);
    at = end;
  }
  return parts.join('') + text.slice(at, Math.max(at, to));
}

/** A piece of the configuration inside one of our sentences: masked before it is shortened, so that no part stays. */
export function quoteMasked(text: string, secrets: readonly string[]): string {
  return oneLine(maskSecrets(plainText(text), secrets), 200);
}

/** In order and without overlap. */
function occurrences(text: string, secrets: readonly string[]): readonly { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  for (const secret of secrets) {
    for (let start = text.indexOf(secret); start !== -1; start = text.indexOf(secret, start + 1)) {
      spans.push({ start, end: start + secret.length });
    }
  }
  spans.sort((left, right) => left.start - right.start || left.end - right.end);
  const merged: typeof spans = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else last.end = Math.max(last.end, span.end);
  }
  return merged;
}

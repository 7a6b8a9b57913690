// Makes printed text fit to be kept: without terminal controls, bounded, and with secrets
// masked (but not encoded ones). Lines that say what failed are kept, wherever they stood
// in the output.
import { findFailedLines } from '../core/failed-lines.ts';
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Environment } from '../engine/policy.ts';

/**
 * Removes terminal controls. A carriage return becomes a line end, so that it hides
 * nothing before it.
 */
function plainText(text: string) {
  const unbroken = text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return stripTerminalControls(unbroken.replace(/\r\n?/gu, '\n'));
}

type Secrets = readonly string[];
type Cut = { readonly atStart?: boolean; readonly atEnd?: boolean };

/**
 * Keeps both ends of a stream. The last one is longer by one secret, so that no secret is
 * cut in two. The part between them is dropped, but its lines that say what failed are
 * kept, masked.
 */
export class BoundedOutput {
  #head = '';
  #tail = '';
  #total = 0;
  /** The lines that say what failed, from the part that was dropped. */
  #failedLines = '';
  #tailBeginsWithWholeLine = false;
  readonly #half: number;
  readonly #secrets: Secrets;

  constructor(maxCharacters: number, secrets: Secrets = []) {
    this.#half = Math.floor(maxCharacters / 2);
    this.#secrets = secrets;
  }

  append(chunk: string) {
    this.#total += chunk.length;
    const room = this.#half - this.#head.length;
    this.#head += chunk.slice(0, room);
    this.#tail += chunk.slice(room);
    const limit = this.#half + longestSecret(this.#secrets);
    // Only when it has doubled in size: cutting at every chunk would copy it each time.
    if (this.#tail.length > 2 * limit) this.#dropFromTail(this.#tail.length - limit);
  }

  /**
   * Drops about `length` characters, up to the end of a line if there is one. Then no
   * secret is cut in two: a secret stands on one line, or each of its lines counts as a
   * secret too.
   */
  #dropFromTail(length: number) {
    const lineEnd = this.#tail.lastIndexOf('\n', length - 1) + 1;
    const dropped = this.#tail.slice(0, lineEnd || length);
    this.#tail = this.#tail.slice(dropped.length);
    if (lineEnd > 0) {
      const lines = maskSecrets(plainText(dropped), this.#secrets).split('\n');
      const failed = findFailedLines(
        this.#tailBeginsWithWholeLine ? lines : lines.slice(1),
      );
      const keptLines = this.#failedLines.split('\n');
      this.#failedLines = joinFittingLines(failedLinesLength, [...keptLines, ...failed]);
    }
    this.#tailBeginsWithWholeLine = lineEnd > 0;
  }

  get isEmpty() {
    return this.#total === 0;
  }

  get isCut() {
    return this.#total > this.#head.length + this.#tail.length;
  }

  /** Returns the output so far, unmasked, and starts again empty. */
  take() {
    const head = this.#head;
    const tail = this.#tail.slice(-this.#half);
    const leftOut = this.#total - head.length - tail.length;
    [this.#head, this.#tail, this.#total] = ['', '', 0];
    this.#failedLines = '';
    this.#tailBeginsWithWholeLine = false;
    if (leftOut === 0) return plainText(head + tail);
    return `${plainText(head)}\n… ${leftOut} characters left out …\n${plainText(tail)}`;
  }

  /** The output with its secrets, for the pattern that it must match. */
  searched() {
    return plainText(`${this.#head}${this.isCut ? '\n' : ''}${this.#tail}`);
  }

  /** The output as it may be kept: masked and shortened. */
  end() {
    if (!this.isCut) return evidenceOf(this.#head + this.#tail, this.#secrets);
    const head = maskSecrets(plainText(this.#head), this.#secrets, { atEnd: true });
    const tail = maskSecrets(plainText(this.#tail), this.#secrets, { atStart: true });
    return shortenOutput(`${head}\n${this.#failedLines}\n${tail}`);
  }
}

/** Enough for the end of a test report, and little enough for a prompt. */
const tailLength = 8192;
/**
 * Half of it is for the lines that say what failed and stood further up; the other half
 * is the end itself.
 */
const failedLinesLength = tailLength / 2;
const longestFailedLine = 500;

/**
 * Text as it may be kept as evidence: masked and shortened. `cut` says at which ends it
 * was cut off.
 */
export function evidenceOf(text: string, secrets: Secrets, cut: Cut = {}) {
  return shortenOutput(maskSecrets(plainText(text), secrets, cut));
}

/** The end of the text, and above it the lines from further up that say what failed. */
function shortenOutput(masked: string) {
  const text = masked.trimEnd();
  if (text.length <= tailLength) return text;
  const lineEnd = text.indexOf('\n', text.length - failedLinesLength);
  const failed =
    lineEnd === -1 ? [] : findFailedLines(text.slice(0, lineEnd).split('\n'));
  if (failed.length === 0)
    return text.slice(-tailLength).replace(/^[\udc00-\udfff]/u, '');
  return `${joinFittingLines(failedLinesLength - 3, failed)}\n…\n${text.slice(lineEnd + 1)}`;
}

/** The first lines that fit into `length` characters; long lines are cut. */
function joinFittingLines(length: number, lines: readonly string[]) {
  let text = '';
  for (const line of lines) {
    const start = line.slice(0, longestFailedLine).replace(/[\ud800-\udbff]$/u, '');
    const joined = text === '' ? start : `${text}\n${start}`;
    if (joined.length > length) break;
    text = joined;
  }
  return text;
}

const secretName =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|COOKIE|(?:^|_)(?:PASS|PAT|AUTH|DSN)(?:_|$)/iu;
/** Shorter values occur in any text by chance. */
const shortestSecret = 6;
/**
 * Keys of several lines are printed with prefixes, so each line counts as a secret too.
 */
const shortestLine = 12;

/**
 * The values of an environment that must not be shown: those of variables with a telling
 * name, and passwords in addresses.
 */
export function secretValues(environment: Environment) {
  const values = Object.entries(environment).flatMap(([name, value = '']) => {
    const password = /^[a-z][\w+.-]*:\/\/[^/\s@]*:([^/\s@]+)@/iu.exec(value)?.[1] ?? '';
    return secretName.test(name) ? [value, password] : [password];
  });
  const plain = values.map((value) => plainText(value).trim());
  const secrets = plain.filter(({ length }) => length >= shortestSecret);
  const lines = secrets
    .filter((secret) => secret.includes('\n'))
    .flatMap((secret) => secret.split('\n'));
  const long = lines
    .map((line) => line.trim())
    .filter(({ length }) => length >= shortestLine);
  return [...new Set([...secrets, ...long])];
}

const longestSecret = (secrets: Secrets) =>
  Math.max(0, ...secrets.map(({ length }) => length));

/**
 * Masks the secrets. At a cut end, everything that could belong to a secret is left out.
 */
export function maskSecrets(
  text: string,
  secrets: Secrets,
  { atStart = false, atEnd = false }: Cut = {},
) {
  const margin = Math.max(0, longestSecret(secrets) - 1);
  const isSecret = new Uint8Array(text.length);
  for (const secret of secrets)
    for (
      let start = text.indexOf(secret);
      start !== -1;
      start = text.indexOf(secret, start + 1)
    )
      isSecret.fill(1, start, start + secret.length);
  let masked = '';
  const from = atStart ? margin : 0;
  const to = atEnd ? text.length - margin : text.length;
  for (let at = from; at < to; ) {
    const start = at;
    while (at < to && isSecret[at] === isSecret[start]) at += 1;
    masked += isSecret[start] === 1 ? '[masked]' : text.slice(start, at);
  }
  return masked;
}

/**
 * A quotation for a sentence. It is masked before it is shortened, so that no part of a
 * secret stays.
 */
export const quoteMasked = (text: string, secrets: Secrets) =>
  oneLine(maskSecrets(plainText(text), secrets), 200);

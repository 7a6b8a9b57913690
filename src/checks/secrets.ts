// The literal values of secret-looking environment variables, and their masking in what is kept of an output.
// It knows values as they stand in the environment, not encoded, split over lines or reversed forms of them.
import { oneLine } from '../core/safe-text.ts';
import { plainText } from './process/plain-text.ts';

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
  const lines = plain.split('\n');
  if (lines.length > 1) {
    for (const line of lines) if (line.trim().length >= shortestLine) found.add(line.trim());
  }
}

export function longestSecret(secrets: readonly string[]): number {
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

interface Span {
  readonly start: number;
  readonly end: number;
}

/** In order and without overlap. */
function occurrences(text: string, secrets: readonly string[]): readonly Span[] {
  const spans: Span[] = [];
  for (const secret of secrets) {
    for (let start = text.indexOf(secret); start !== -1; start = text.indexOf(secret, start + 1)) {
      spans.push({ start, end: start + secret.length });
    }
  }
  spans.sort((left, right) => left.start - right.start || left.end - right.end);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { start: last.start, end: span.end };
  }
  return merged;
}

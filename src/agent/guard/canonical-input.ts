// One text for one meaning: a tool's input with its keys in order, and short digests of anything, so that calls can be
// compared without keeping them. Never fails, whatever a model sends.
import { createHash } from 'node:crypto';

/** Deeper than any honest input; beyond it two inputs count as equal rather than exhaust the stack. */
const maxDepth = 64;

export function canonicalText(value: unknown, within: readonly object[] = []): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  // These show nothing of themselves as fields.
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  if (value instanceof Date) return String(value.getTime());
  if (within.length >= maxDepth || within.includes(value)) return '…';
  const path = [...within, value];
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, path)).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalText(field, path)}`);
  return `{${fields.join(',')}}`;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/**
 * Clock times and measured durations ("in 0.32s", "345ms", "10:11:12") differ at every run of the same failing test;
 * whole seconds and other numbers are kept, since they may be a poll's progress.
 */
export function withoutMeasurements(text: string): string {
  return text
    .replace(/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?/gu, '#')
    .replace(/\b\d{1,9}(?:\.\d{1,9})?[ ]?(?:ms|µs|us|ns)\b/gu, '#')
    .replace(/\b\d{1,9}\.\d{1,9}[ ]?(?:s|sec|secs|seconds?)\b/gu, '#');
}

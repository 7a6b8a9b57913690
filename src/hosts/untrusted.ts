// Reads what a host or a callback gives, field by field, and waits for it within a limit.
// A value of another type counts as missing.
import { oneLine } from '../core/safe-text.ts';
import type { Clock } from '../engine/host.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; empty if it is none. */
export const recordOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
/** The fields of a text that should be a JSON object. */
export function fieldsIn(text: string): Fields {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    // Safe: a text that is damaged or half written says nothing.
    return {};
  }
}
/** The value as a list; empty if it is none. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [];
/** The text, also if it is empty: a message may hold only a picture. */
export const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
export const nonEmptyTextOf = (value: unknown) => textOf(value) || null;
/** An amount of tokens or money; 0 for what cannot be counted. */
export const amountOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;

/**
 * Reads a todo of a host's list. One without a text keeps an empty title: it is refused
 * by name, and the others apply (T6).
 * @param key null: the host gives no lasting key
 */
export function readTodo(value: unknown, key: string | null) {
  const { content, status, priority } = recordOf(value);
  const title = textOf(content) ?? '';
  return {
    key,
    title,
    status: textOf(status) || 'pending',
    priority: textOf(priority) || undefined,
  };
}

type Answered<T> =
  | Readonly<{ answered: true; value: T }>
  /** `late`: nothing failed, and the answer may still come. */
  | Readonly<{ answered: false; late: boolean; error: unknown }>;

/** Waits for an answer, at most `ms`. Never rejects, even if `ask` throws at once. */
export function withinTime<T>(
  clock: Clock,
  ms: number,
  ask: () => T | PromiseLike<T>,
): Promise<Answered<T>> {
  return new Promise((resolve) => {
    const fail = (late: boolean, error: unknown) =>
      resolve({ answered: false, late, error });
    const cancel = clock.wake(clock.now() + ms, () =>
      fail(true, new Error(`no answer within ${ms} ms`)),
    );
    Promise.resolve()
      .then(ask)
      .then((value) => resolve({ answered: true, value }))
      .catch((error: unknown) => fail(false, error))
      .finally(cancel);
  });
}

const abortNames: readonly string[] = ['AbortError', 'MessageAbortedError'];
/** How many causes are read: their chain may be endless. */
const deepest = 5;
/** A longer delay is a mistake in units. */
const longestRetryMs = 86_400_000;

/**
 * Tells the human's abort from an error, and a limit that passes, an overload and an
 * overflow from other errors (G4, G9).
 */
export function readHostError(error: unknown, at: number) {
  const chain: unknown[] = [];
  for (let link = error; chain.length < deepest && link != null; ) {
    chain.push(link);
    link = fieldOf(link, 'data') ?? fieldOf(link, 'error') ?? fieldOf(link, 'cause');
  }
  const all = (name: string) => chain.map((link) => fieldOf(link, name));
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value !== '';
  const names = all('name').filter(isText);
  const abort = names.find((name) => abortNames.includes(name));
  if (abort !== undefined) return { type: 'human-aborted', how: abort } as const;
  const messages = chain
    .map((link) => (isText(link) ? link : fieldOf(link, 'message')))
    .filter(isText);
  const codes = chain.map(
    (link) => fieldOf(link, 'status') ?? fieldOf(link, 'statusCode'),
  );
  const status = codes.find(Number.isInteger) as number | undefined;
  const wait = all('retryAfterMs').find(
    (ms) => typeof ms === 'number' && ms >= 0 && ms <= longestRetryMs,
  );
  const message = oneLine(messages[0] ?? names[0] ?? 'an error without a word', 500);
  const kind = kindOf(
    [...names, ...messages].join(' ').slice(0, 4000).toLowerCase(),
    status,
  );
  // Numbers are left out, because ids, times and ports differ in the same error.
  const signature =
    `${names[0] ?? 'error'} ${status ?? ''} ${message.replace(/\d+/g, '#')}`.slice(
      0,
      300,
    );
  const retryAt = wait === undefined ? null : at + Number(wait);
  return { type: 'error-occurred', kind, signature, message, retryAt } as const;
}

function fieldOf(source: unknown, name: string): unknown {
  try {
    return Reflect.get(source as object, name);
  } catch {
    // Safe: a value that is no object, or cannot be read, says nothing.
    return undefined;
  }
}

function kindOf(words: string, status: number | undefined) {
  if (
    /context.?(?:length|window|overflow)|prompt is too long|maximum context/.test(words)
  )
    return 'overflow';
  if (status === 429 || /rate.?limit|too many requests/.test(words)) return 'rate-limit';
  return status === 503 || status === 529 || /overload/.test(words)
    ? 'overload'
    : 'other';
}

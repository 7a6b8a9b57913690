// What a host or a callback gives: read field by field, waited for but not for ever. A
// value of another type is missing.
import { oneLine } from '../core/safe-text.ts';
import type { Clock } from '../engine/host.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const recordOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
/** Of a text that should be JSON. */
export function fieldsIn(text: string): Fields {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    // Safe: what is damaged, or half written, says nothing.
    return {};
  }
}
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [];
/** An empty text is one too: a message may hold only a picture. */
export const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
export const nonEmptyTextOf = (value: unknown) => textOf(value) || null;
/** Tokens and money; what cannot be counted is none. */
export const amountOf = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;

/**
 * One without a text is refused by name, and the others apply (T6). `key`: null where the
 * host gives no lasting one.
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
  /** `late`: it has not failed, the answer may still come. */
  | Readonly<{ answered: false; late: boolean; error: unknown }>;

/** Never rejects, even if `ask` throws at once. */
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
/** A chain of causes may be endless. */
const deepest = 5;
/** A longer one is a mistake in units. */
const longestRetryMs = 86_400_000;

/** The human's abort, a limit that passes, an overflow, or something else (G4, G9). */
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
  // Ids, times and ports differ: without numbers the same error is the same.
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
    // Safe: what is no object, or cannot be read, says nothing.
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

// What a host or a program's callback gives: read field by field, waited for but not for ever, its errors put into our
// words. Nothing of it is trusted to have the shape that it had last time; a value of another type counts as missing.
import type { EventOf } from '../core/events.ts';
import { oneLine } from '../core/safe-text.ts';
import type { Clock } from '../engine/host.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Tokens and money; anything that cannot be counted is none. */
export function amountOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

export type Answered<T> =
  | { readonly answered: true; readonly value: T }
  /** `late`: it has not failed, the answer may still come. */
  | { readonly answered: false; readonly late: boolean; readonly error: unknown };

/** A callback that never answers must not hold a session up. Never rejects, even if `ask` throws at once. */
export function withinTime<T>(clock: Clock, ms: number, ask: () => T | PromiseLike<T>): Promise<Answered<T>> {
  return new Promise((resolve) => {
    const cancel = clock.wake(clock.now() + ms, () => {
      resolve({ answered: false, late: true, error: new Error(`no answer within ${ms} ms`) });
    });
    Promise.resolve()
      .then(ask)
      .then(
        (value) => resolve({ answered: true, value }),
        (error: unknown) => resolve({ answered: false, late: false, error }),
      )
      .finally(cancel);
  });
}

export type HostError =
  | { readonly type: 'human-aborted'; readonly how: string }
  | Omit<EventOf<'error-occurred'>, 'id' | 'sessionId' | 'at'>;

const abortNames: ReadonlySet<string> = new Set(['AbortError', 'MessageAbortedError']);
/** Ends the search in what may be an endless chain of causes. */
const deepest = 5;
/** A provider's reset lies within a day; a longer one is a mistake in units. */
const longestRetryMs = 86_400_000;

/** The human's abort, a limit that passes, an overflow, or something else (G4, G9). */
export function readHostError(error: unknown, at: number): HostError {
  const names: string[] = [];
  const messages: string[] = [];
  let [status, retryAfterMs]: (number | null)[] = [null, null];
  let current: unknown = error;
  for (let depth = 0; depth < deepest && current !== null && current !== undefined; depth++) {
    if (typeof current === 'string') messages.push(current);
    if (typeof current !== 'object') break;
    const source = current;
    const [name, message, wait] = ['name', 'message', 'retryAfterMs'].map((key) => fieldOf(source, key));
    const code = fieldOf(source, 'status') ?? fieldOf(source, 'statusCode');
    if (typeof name === 'string' && name !== '') names.push(name);
    if (typeof message === 'string' && message !== '') messages.push(message);
    if (Number.isInteger(code)) status ??= code as number;
    if (typeof wait === 'number' && wait >= 0 && wait <= longestRetryMs) retryAfterMs ??= wait;
    current = fieldOf(source, 'data') ?? fieldOf(source, 'error') ?? fieldOf(source, 'cause');
  }
  const abort = names.find((name) => abortNames.has(name));
  if (abort !== undefined) return { type: 'human-aborted', how: abort };
  const message = oneLine(messages[0] ?? names[0] ?? 'an error without a word', 500);
  const kind = kindOf([...names, ...messages].join(' ').slice(0, 4000).toLowerCase(), status ?? null);
  // Numbers differ from one time to the next (ids, times, ports): the same error without them is the same error.
  const signature = `${names[0] ?? 'error'} ${status ?? ''} ${message.replace(/\d+/g, '#')}`.slice(0, 300);
  const retryAt = retryAfterMs == null ? null : at + retryAfterMs;
  return { type: 'error-occurred', kind, signature, message, retryAt };
}

function fieldOf(source: object, name: string): unknown {
  try {
    return Reflect.get(source, name);
  } catch {
    // Safe: a property that cannot be read is one that says nothing.
    return undefined;
  }
}

function kindOf(words: string, status: number | null): EventOf<'error-occurred'>['kind'] {
  if (/context.?(?:length|window|overflow)|prompt is too long|maximum context/.test(words)) return 'overflow';
  if (status === 429 || /rate.?limit|too many requests/.test(words)) return 'rate-limit';
  return status === 503 || status === 529 || /overload/.test(words) ? 'overload' : 'other';
}

// What an error of a told host means to us: the human's abort, a limit that passes, an overflow, or something else (G4,
// G9). Hosts give anything from a text to nested objects; nothing of it is trusted, and no getter may throw.
import type { ErrorOccurred } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';

export type HostError =
  | { readonly aborted: true; readonly how: string }
  | ({ readonly aborted: false } & Pick<ErrorOccurred, 'kind' | 'signature' | 'message' | 'retryAt'>);

const abortNames: ReadonlySet<string> = new Set(['AbortError', 'MessageAbortedError']);
/** Ends the search in what may be an endless chain of causes. */
const deepest = 5;

export function readHostError(error: unknown, at: number): HostError {
  const facts = collect(error);
  const abort = facts.names.find((name) => abortNames.has(name));
  if (abort !== undefined) return { aborted: true, how: abort };
  const message = oneLine(facts.messages[0] ?? facts.names[0] ?? 'an error without a word', 500);
  const kind = kindOf(facts);
  const retryAt = facts.retryAfterMs === null ? null : at + facts.retryAfterMs;
  return { aborted: false, kind, signature: signatureOf(facts, message), message, retryAt };
}

interface Facts {
  readonly names: string[];
  readonly messages: string[];
  status: number | null;
  retryAfterMs: number | null;
}

function collect(error: unknown): Facts {
  const facts: Facts = { names: [], messages: [], status: null, retryAfterMs: null };
  let current: unknown = error;
  for (let depth = 0; depth < deepest && current !== null && current !== undefined; depth++) {
    if (typeof current === 'string') facts.messages.push(current);
    if (typeof current !== 'object') break;
    add(facts, current);
    current = field(current, 'data') ?? field(current, 'error') ?? field(current, 'cause');
  }
  return facts;
}

function add(facts: Facts, source: object): void {
  const name = field(source, 'name');
  const message = field(source, 'message');
  const status = field(source, 'status') ?? field(source, 'statusCode');
  const wait = field(source, 'retryAfterMs');
  if (typeof name === 'string' && name !== '') facts.names.push(name);
  if (typeof message === 'string' && message !== '') facts.messages.push(message);
  if (typeof status === 'number' && Number.isInteger(status)) facts.status ??= status;
  if (typeof wait === 'number' && wait >= 0 && wait <= longestRetryMs) facts.retryAfterMs ??= wait;
}

/** A provider's reset lies within a day; a longer one is a mistake in units. */
const longestRetryMs = 86_400_000;

function field(source: object, name: string): unknown {
  try {
    return Reflect.get(source, name);
  } catch {
    // Safe: a property that cannot be read is one that says nothing.
    return undefined;
  }
}

function kindOf({ names, messages, status }: Facts): ErrorOccurred['kind'] {
  const words = [...names, ...messages].join(' ').slice(0, 4000).toLowerCase();
  if (/context.?(?:length|window|overflow)|prompt is too long|maximum context/.test(words)) return 'overflow';
  if (status === 429 || /rate.?limit|too many requests/.test(words)) return 'rate-limit';
  if (status === 503 || status === 529 || /overload/.test(words)) return 'overload';
  return 'other';
}

/** Numbers differ from one time to the next (ids, times, ports): the same error without them is the same error. */
function signatureOf({ names, status }: Facts, message: string): string {
  return `${names[0] ?? 'error'} ${status ?? ''} ${message.replace(/\d+/g, '#')}`.slice(0, 300);
}

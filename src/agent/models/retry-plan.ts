// Whether a failed call to a model is made again, and when (G9). Pure: time and chance come in. Waiting for a limit or
// an overload to end is no attempt, but all such waiting together is bounded; ending a circuit of equal errors is the
// core's decision, which reads their signatures.
import type { ClassifiedError, ErrorFacts } from './classify-error.ts';

/** Since the last call that succeeded: failures that count, and waits for a limit or an overload. */
export const noFailures = { attempts: 0, waits: 0, waitedMs: 0 };

/** `waitMs`: all waiting for limits and overload together; long enough for an hourly limit. */
export const defaultRetryLimits = { attempts: 3, waitMs: 3_600_000 };

export type RetryPlan = { readonly failures: typeof noFailures } & (
  | { readonly retry: true; readonly delayMs: number }
  | { readonly retry: false; readonly reason: 'pointless' | 'attempts' | 'waited' }
);

export function planRetry(
  error: ClassifiedError,
  before: typeof noFailures,
  { now, random, limits }: { now: number; random: number; limits: typeof defaultRetryLimits },
): RetryPlan {
  // Half is certain, half is chance: never at once, never all together.
  const backoff = (first: number, longest: number, earlier: number): number => {
    const milliseconds = Math.min(longest, first * 2 ** Math.min(earlier, 30));
    return Math.round(milliseconds / 2 + (random * milliseconds) / 2);
  };
  if (error.kind === 'rate-limit' || error.kind === 'overload') {
    const delayMs =
      error.retryAt === null
        ? backoff(2000, 60_000, before.waits)
        : // Everyone who waits for the same reset would come back in the same millisecond.
          Math.max(0, error.retryAt - now) + Math.round(250 + random * 1000);
    const failures = { ...before, waits: before.waits + 1, waitedMs: before.waitedMs + delayMs };
    if (failures.waitedMs > limits.waitMs) return { retry: false, reason: 'waited', failures: before };
    return { retry: true, delayMs, failures };
  }
  const failures = { ...before, attempts: before.attempts + 1 };
  if (!error.retryable) return { retry: false, reason: 'pointless', failures };
  if (failures.attempts >= limits.attempts) return { retry: false, reason: 'attempts', failures };
  // A server that failed may still say when to come back; not longer than the backoff ever gets.
  const asked = error.retryAt === null ? 0 : Math.min(error.retryAt - now, 30_000);
  return { retry: true, delayMs: Math.max(backoff(1000, 30_000, before.attempts), asked), failures };
}

/** A server's word, or a clock that is wrong, must not park an agent for a week: asking too early costs one call. */
export const longestWaitMs = 6 * 3_600_000;

/** When a provider wants to be asked again: by a header, the reset times of its limits, a detail of the body, or prose. */
export function retryAt({ headers, retryDelay, message }: ErrorFacts, now: number): number | null {
  const after = (milliseconds: number | null) => (milliseconds === null ? null : now + milliseconds);
  const at =
    after(number(headers['retry-after-ms'])) ??
    moment(headers['retry-after'], now) ??
    after(duration(retryDelay)) ??
    after(duration(/try again in ((?:\d+(?:\.\d+)? ?(?:ms|s|m|h))+)/i.exec(message)?.[1])) ??
    limitReset(headers, now);
  return at === null ? null : Math.min(Math.max(at, now), now + longestWaitMs);
}

function moment(text: string | undefined, now: number): number | null {
  const plain = number(text);
  if (plain !== null) return plain > 1e12 ? plain : plain > 1e9 ? plain * 1000 : now + plain * 1000;
  const spoken = duration(text);
  if (spoken !== null) return now + spoken;
  // Date.parse makes a date of almost anything; a real one has a month's name or a year with a dash.
  const date = text !== undefined && /[a-z]{3}|\d{4}-/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function duration(text: unknown): number | null {
  if (typeof text !== 'string' || !/^(?:[\d.]+ ?(?:ms|s|m|h))+$/.test(text.trim())) return null;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+) ?(ms|s|m|h)/g))
    total += Number(amount) * (unitMs[unit] ?? 0);
  return Number.isFinite(total) ? total : null;
}

const resetHeader = /^(anthropic-ratelimit-.+-|x-ratelimit-)reset(-.+)?$/;

/** Several limits run side by side: the one that is used up counts, else the one that resets first. */
function limitReset(headers: ErrorFacts['headers'], now: number): number | null {
  const resets = Object.entries(headers).flatMap(([name, text]) => {
    const [, before, behind = ''] = resetHeader.exec(name) ?? [];
    const at = before === undefined ? null : moment(text, now);
    return at === null ? [] : [{ at, isUsedUp: headers[`${before}remaining${behind}`]?.trim() === '0' }];
  });
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp).map(({ at }) => at);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length === 0 ? null : Math.min(...resets.map(({ at }) => at));
}

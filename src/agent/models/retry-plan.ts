// Whether a failed call to a model is made again, and after how long (G9). Pure: time and chance come in. Waiting for
// a limit or an overload to end is no attempt, but all such waiting together is bounded; ending a circuit of equal
// errors is the core's decision, which reads their signatures.
import type { ClassifiedError } from './classify-error.ts';

/** What happened since the last call that succeeded, this failure included. */
export interface Failures {
  /** Failures that count. */
  readonly attempts: number;
  /** Waits for a limit or an overload. */
  readonly waits: number;
  readonly waitedMs: number;
}

export const noFailures: Failures = { attempts: 0, waits: 0, waitedMs: 0 };

export interface RetryLimits {
  /** The call is made at most so many times; the setting `circuitAfter` fits. */
  readonly attempts: number;
  /** All waiting for limits and overload together; long enough for an hourly limit. */
  readonly waitMs: number;
}

export const defaultRetryLimits: RetryLimits = { attempts: 3, waitMs: 3_600_000 };

export type RetryPlan =
  | { readonly retry: true; readonly delayMs: number; readonly failures: Failures }
  | {
      readonly retry: false;
      readonly reason: 'pointless' | 'attempts' | 'waited';
      readonly failures: Failures;
    };

export interface RetryContext {
  readonly now: number;
  /** From 0 up to, not including, 1. */
  readonly random: number;
  readonly limits: RetryLimits;
}

/** `before` is what the last plan returned, `noFailures` after a success. */
export function planRetry(error: ClassifiedError, before: Failures, context: RetryContext): RetryPlan {
  const isWait = error.kind === 'rate-limit' || error.kind === 'overload';
  return isWait ? planWait(error, before, context) : planAttempt(error, before, context);
}

function planAttempt(
  error: ClassifiedError,
  before: Failures,
  { random, now, limits }: RetryContext,
): RetryPlan {
  const failures = { ...before, attempts: before.attempts + 1 };
  if (!error.retryable) return { retry: false, reason: 'pointless', failures };
  if (failures.attempts >= limits.attempts) return { retry: false, reason: 'attempts', failures };
  const backoff = jittered(backoffMs(1000, 30_000, before.attempts), random);
  // A server that failed may still say when to come back; not longer than the backoff ever gets.
  const asked = error.retryAt === null ? 0 : Math.min(error.retryAt - now, 30_000);
  return { retry: true, delayMs: Math.max(backoff, asked), failures };
}

function planWait(
  error: ClassifiedError,
  before: Failures,
  { now, random, limits }: RetryContext,
): RetryPlan {
  const delayMs =
    error.retryAt === null
      ? jittered(backoffMs(2000, 60_000, before.waits), random)
      : // Everyone who waits for the same reset would come back in the same millisecond.
        Math.max(0, error.retryAt - now) + Math.round(250 + random * 1000);
  const failures = { ...before, waits: before.waits + 1, waitedMs: before.waitedMs + delayMs };
  if (failures.waitedMs > limits.waitMs) return { retry: false, reason: 'waited', failures: before };
  return { retry: true, delayMs, failures };
}

function backoffMs(first: number, longest: number, earlier: number): number {
  return Math.min(longest, first * 2 ** Math.min(earlier, 30));
}

/** Half is certain, half is chance: never at once, never all together. */
function jittered(milliseconds: number, random: number): number {
  return Math.round(milliseconds / 2 + (random * milliseconds) / 2);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClassifiedError } from './classify-error.ts';
import { defaultRetryLimits, noFailures, planRetry, type RetryPlan } from './retry-plan.ts';

const now = 1_000_000;

function failure(kind: ClassifiedError['kind'], changes: Partial<ClassifiedError> = {}): ClassifiedError {
  return { kind, signature: kind, sentence: '', retryable: true, retryAt: null, ...changes };
}

/** Plans until one says no; returns all of them. */
function plans(error: ClassifiedError, random = 0.5, limits = defaultRetryLimits): RetryPlan[] {
  const found: RetryPlan[] = [];
  let failures = noFailures;
  for (;;) {
    const plan = planRetry(error, failures, { now, random, limits });
    found.push(plan);
    if (!plan.retry || found.length > 5000) return found;
    failures = plan.failures;
  }
}

describe('G9: a call that failed', () => {
  it('is made again after growing waits, three times in all', () => {
    const made = plans(failure('server'));
    expect(made.map((plan) => (plan.retry ? plan.delayMs : plan.reason))).toEqual([750, 1500, 'attempts']);
  });

  it('is not made again when it cannot succeed', () => {
    expect(plans(failure('auth', { retryable: false }))).toEqual([
      { retry: false, reason: 'pointless', failures: { attempts: 1, waits: 0, waitedMs: 0 } },
    ]);
  });

  it.each(['rate-limit', 'overload'] as const)('by %s waits for the reset and is no attempt', (kind) => {
    const plan = planRetry(failure(kind, { retryAt: now + 7000 }), noFailures, {
      now,
      random: 0,
      limits: defaultRetryLimits,
    });
    expect(plan).toEqual({ retry: true, delayMs: 7250, failures: { attempts: 0, waits: 1, waitedMs: 7250 } });
  });

  it('by an overload without a reset waits longer each time, and in all no longer than the limit', () => {
    const made = plans(failure('overload'));
    const delays = made.flatMap((plan) => (plan.retry ? [plan.delayMs] : []));
    expect(delays.slice(0, 4)).toEqual([1500, 3000, 6000, 12_000]);
    expect(Math.max(...delays)).toBe(45_000);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeLessThanOrEqual(defaultRetryLimits.waitMs);
    expect(made.at(-1)).toMatchObject({ retry: false, reason: 'waited' });
  });

  it('is not waited for when the reset is further away than the limit', () => {
    expect(plans(failure('rate-limit', { retryAt: now + 2 * defaultRetryLimits.waitMs }))).toMatchObject([
      { retry: false, reason: 'waited' },
    ]);
  });

  it('counts other errors on top of waits', () => {
    const waited = { attempts: 2, waits: 9, waitedMs: 5 };
    expect(planRetry(failure('network'), waited, { now, random: 0, limits: defaultRetryLimits })).toEqual({
      retry: false,
      reason: 'attempts',
      failures: { ...waited, attempts: 3 },
    });
  });

  it('listens to a server that says when to come back, up to half a minute', () => {
    const asked = (ahead: number) =>
      planRetry(failure('server', { retryAt: now + ahead }), noFailures, {
        now,
        random: 0,
        limits: defaultRetryLimits,
      });
    expect(asked(5000)).toMatchObject({ delayMs: 5000 });
    expect(asked(5_000_000)).toMatchObject({ delayMs: 30_000 });
  });

  it('always waits a whole, positive and bounded time', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('server', 'rate-limit', 'overload', 'network', 'other' as const),
        fc.option(fc.integer({ min: now - 10_000, max: now + 3_600_000 })),
        fc.nat(40),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (kind, retryAt, waits, random) => {
          const before = { attempts: 0, waits, waitedMs: 0 };
          const plan = planRetry(failure(kind as 'server', { retryAt }), before, {
            now,
            random,
            limits: { attempts: 9, waitMs: 4_000_000 },
          });
          expect(plan.retry).toBe(true);
          if (!plan.retry) return;
          expect(Number.isInteger(plan.delayMs)).toBe(true);
          expect(plan.delayMs).toBeGreaterThan(0);
          expect(plan.delayMs).toBeLessThanOrEqual(3_602_000);
        },
      ),
    );
  });
});

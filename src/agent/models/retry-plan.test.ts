import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClassifiedError,
  defaultRetryLimits,
  errorFacts,
  longestWaitMs,
  noFailures,
  planRetry,
  type RetryPlan,
  retryAt,
} from './failed-call.ts';

const now = 1_000_000;

function failure(
  kind: ClassifiedError['kind'],
  changes: Partial<ClassifiedError> = {},
): ClassifiedError {
  const usual = {
    signature: kind,
    sentence: '',
    retryable: true,
    outage: false,
    retryAt: null,
  };
  return { kind, ...usual, ...changes };
}

/** Plans until one says no; returns all of them. */
function plans(
  error: ClassifiedError,
  random = 0.5,
  limits = defaultRetryLimits,
): RetryPlan[] {
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
    const made = plans(failure('other'));
    expect(made.map((plan) => (plan.retry ? plan.delayMs : plan.reason))).toEqual([
      750,
      1500,
      'attempts',
    ]);
  });

  it('by an outage is made again for ten minutes, with growing waits of at most half a minute', () => {
    const made = plans(failure('server', { outage: true }));
    const delays = made.flatMap((plan) => (plan.retry ? [plan.delayMs] : []));
    expect(delays.slice(0, 6)).toEqual([750, 1500, 3000, 6000, 12_000, 22_500]);
    expect(Math.max(...delays)).toBe(22_500);
    const waited = delays.reduce((sum, delay) => sum + delay, 0);
    expect(waited).toBeGreaterThan(9 * 60_000);
    expect(waited).toBeLessThanOrEqual(defaultRetryLimits.outageMs);
    expect(made.at(-1)).toMatchObject({ retry: false, reason: 'waited' });
  });

  it('by an outage has its own minutes: neither waits for a limit nor other errors shorten them', () => {
    const before = { ...noFailures, attempts: 2, waits: 9, waitedMs: 3_000_000 };
    const given = { now, random: 0, limits: defaultRetryLimits };
    expect(planRetry(failure('network', { outage: true }), before, given)).toMatchObject({
      retry: true,
    });
    const after = { ...noFailures, outages: 20, outageMs: 300_000 };
    expect(planRetry(failure('other'), after, given)).toMatchObject({ retry: true });
  });

  it('is not made again when it cannot succeed', () => {
    expect(plans(failure('auth', { retryable: false }))).toEqual([
      { retry: false, reason: 'pointless', failures: { ...noFailures, attempts: 1 } },
    ]);
  });

  it.each(['rate-limit', 'overload'] as const)(
    'by %s waits for the reset and is no attempt',
    (kind) => {
      const plan = planRetry(failure(kind, { retryAt: now + 7000 }), noFailures, {
        now,
        random: 0,
        limits: defaultRetryLimits,
      });
      const failures = { ...noFailures, waits: 1, waitedMs: 7250 };
      expect(plan).toEqual({ retry: true, delayMs: 7250, failures });
    },
  );

  it('by an overload without a reset waits longer each time, and in all no longer than the limit', () => {
    const made = plans(failure('overload'));
    const delays = made.flatMap((plan) => (plan.retry ? [plan.delayMs] : []));
    expect(delays.slice(0, 4)).toEqual([1500, 3000, 6000, 12_000]);
    expect(Math.max(...delays)).toBe(45_000);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeLessThanOrEqual(
      defaultRetryLimits.waitMs,
    );
    expect(made.at(-1)).toMatchObject({ retry: false, reason: 'waited' });
  });

  it('is not waited for when the reset is further away than the limit', () => {
    expect(
      plans(failure('rate-limit', { retryAt: now + 2 * defaultRetryLimits.waitMs })),
    ).toMatchObject([{ retry: false, reason: 'waited' }]);
  });

  it('counts other errors on top of waits', () => {
    const waited = { ...noFailures, attempts: 2, waits: 9, waitedMs: 5 };
    expect(
      planRetry(failure('network'), waited, {
        now,
        random: 0,
        limits: defaultRetryLimits,
      }),
    ).toEqual({
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
          const before = { ...noFailures, waits, outages: waits };
          const plan = planRetry(failure(kind as 'server', { retryAt }), before, {
            now,
            random,
            limits: { attempts: 9, waitMs: 4_000_000, outageMs: 4_000_000 },
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

const noon = Date.UTC(2026, 10, 15, 12);

function wait(
  headers: Record<string, string>,
  data: unknown = undefined,
  message = '',
): number | null {
  const at = retryAt(
    errorFacts({ statusCode: 429, responseHeaders: headers, data, message }),
    noon,
  );
  return at === null ? null : at - noon;
}

describe('G9: when a provider wants to be asked again', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'Retry-After': '1.5' }, 1500],
    [{ 'retry-after': new Date(noon + 90_000).toUTCString() }, 90_000],
    [{ 'retry-after': '7', 'retry-after-ms': '6800' }, 6800],
    [{ 'retry-after': new Date(noon - 90_000).toUTCString() }, 0],
    [{ 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    [{ 'x-ratelimit-reset-tokens': '120ms' }, 120],
    [{ 'x-ratelimit-reset-requests': '1h0m1.5s' }, 3_601_500],
    [{ 'x-ratelimit-reset': String((noon + 30_000) / 1000) }, 30_000],
    [{ 'x-ratelimit-reset': String(noon + 30_000) }, 30_000],
    [
      { 'anthropic-ratelimit-tokens-reset': new Date(noon + 20_000).toISOString() },
      20_000,
    ],
    [{}, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
  ])('%j', (headers, milliseconds) => {
    expect(wait(headers)).toBe(milliseconds);
  });

  it('is when the limit that is used up resets, not another one', () => {
    expect(
      wait({
        'anthropic-ratelimit-requests-reset': new Date(noon + 5000).toISOString(),
        'anthropic-ratelimit-requests-remaining': '40',
        'anthropic-ratelimit-input-tokens-reset': new Date(noon + 50_000).toISOString(),
        'anthropic-ratelimit-input-tokens-remaining': '0',
      }),
    ).toBe(50_000);
    expect(
      wait({ 'x-ratelimit-reset-requests': '5s', 'x-ratelimit-reset-tokens': '50s' }),
    ).toBe(5000);
  });

  it('is read from the details of the body or from prose where no header says it', () => {
    expect(wait({}, { error: { details: [{}, { retryDelay: '3.5s' }] } })).toBe(3500);
    expect(
      wait({}, undefined, 'Rate limit reached. Please try again in 1.2s. Visit …'),
    ).toBe(1200);
    expect(wait({}, undefined, 'Please try again in 6m0s.')).toBe(360_000);
  });

  it.each([
    { 'retry-after': '99999999' },
    { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' },
  ])('is never further away than a few hours: %j', (headers) => {
    expect(wait(headers)).toBe(longestWaitMs);
  });
});

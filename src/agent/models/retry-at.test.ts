import { describe, expect, it } from 'vitest';
import { errorFacts } from './error-facts.ts';
import { longestWaitMs, retryAt } from './retry-at.ts';

const now = Date.UTC(2026, 10, 15, 12);

function wait(headers: Record<string, string>, data: unknown = undefined, message = ''): number | null {
  const at = retryAt(errorFacts({ statusCode: 429, responseHeaders: headers, data, message }), now);
  return at === null ? null : at - now;
}

describe('G9: when a provider wants to be asked again', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'Retry-After': '1.5' }, 1500],
    [{ 'retry-after': new Date(now + 90_000).toUTCString() }, 90_000],
    [{ 'retry-after': '7', 'retry-after-ms': '6800' }, 6800],
    [{ 'retry-after': new Date(now - 90_000).toUTCString() }, 0],
    [{ 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    [{ 'x-ratelimit-reset-tokens': '120ms' }, 120],
    [{ 'x-ratelimit-reset-requests': '1h0m1.5s' }, 3_601_500],
    [{ 'x-ratelimit-reset': String((now + 30_000) / 1000) }, 30_000],
    [{ 'x-ratelimit-reset': String(now + 30_000) }, 30_000],
    [{ 'anthropic-ratelimit-tokens-reset': new Date(now + 20_000).toISOString() }, 20_000],
    [{}, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
  ])('%j', (headers, milliseconds) => {
    expect(wait(headers)).toBe(milliseconds);
  });

  it('is when the limit that is used up resets, not another one', () => {
    expect(
      wait({
        'anthropic-ratelimit-requests-reset': new Date(now + 5000).toISOString(),
        'anthropic-ratelimit-requests-remaining': '40',
        'anthropic-ratelimit-input-tokens-reset': new Date(now + 50_000).toISOString(),
        'anthropic-ratelimit-input-tokens-remaining': '0',
      }),
    ).toBe(50_000);
    expect(wait({ 'x-ratelimit-reset-requests': '5s', 'x-ratelimit-reset-tokens': '50s' })).toBe(5000);
  });

  it('is read from the details of the body or from prose where no header says it', () => {
    expect(wait({}, { error: { details: [{}, { retryDelay: '3.5s' }] } })).toBe(3500);
    expect(wait({}, undefined, 'Rate limit reached. Please try again in 1.2s. Visit …')).toBe(1200);
    expect(wait({}, undefined, 'Please try again in 6m0s.')).toBe(360_000);
  });

  it.each([{ 'retry-after': '99999999' }, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }])(
    'is never further away than a few hours: %j',
    (headers) => {
      expect(wait(headers)).toBe(longestWaitMs);
    },
  );
});

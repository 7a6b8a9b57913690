import { describe, expect, it } from 'vitest';
import { callUsage } from './usage.ts';

const price = { input: 2, output: 10, cachedInput: 0.2, cacheWrite: 2.5 };
const usage = {
  inputTokens: 1_000_000,
  inputTokenDetails: { cacheReadTokens: 600_000, cacheWriteTokens: 100_000 },
  outputTokens: 50_000,
};

describe('G8: what a call used', () => {
  it('is counted with the cached part shown, and priced by part', () => {
    expect(callUsage(usage, price)).toEqual({
      inputTokens: 1_000_000,
      cachedTokens: 600_000,
      outputTokens: 50_000,
      cost: 0.3 * 2 + 0.6 * 0.2 + 0.1 * 2.5 + 0.05 * 10,
    });
  });

  it('costs the price of input where no price of the cache is known', () => {
    expect(callUsage(usage, { input: 2, output: 10 }).cost).toBeCloseTo(2.5);
  });

  it.each([
    ['no price', usage, null],
    ['no input tokens', { outputTokens: 5 }, price],
    ['no output tokens', { inputTokens: 5 }, price],
    ['tokens that are no number', { inputTokens: Number.NaN, outputTokens: 5 }, price],
  ])('costs an unknown amount with %s, never a guess', (_name, used, priced) => {
    expect(callUsage(used, priced).cost).toBeNull();
  });

  it('never counts more cached tokens than tokens', () => {
    const odd = {
      inputTokens: 10,
      inputTokenDetails: { cacheReadTokens: 50, cacheWriteTokens: 9 },
      outputTokens: 0,
    };
    expect(callUsage(odd, price)).toMatchObject({ inputTokens: 10, cachedTokens: 10 });
    expect(callUsage(odd, price).cost).toBeCloseTo((10 * 0.2) / 1e6);
  });
});

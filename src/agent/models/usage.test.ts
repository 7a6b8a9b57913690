import { describe, expect, it } from 'vitest';
import { cacheOptions } from '../context/prompt.ts';
import { callUsage } from '../loop/step.ts';
import { knownContextLimit, knownProviders } from './resolve-model.ts';

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

describe('G8: how much fits into a model', () => {
  it('is known for every model that is a default', () => {
    const defaults = Object.values(knownProviders).flatMap(
      ({ defaultModel }) => defaultModel ?? [],
    );
    expect(defaults).toHaveLength(3);
    for (const model of defaults)
      expect(knownContextLimit(model)).toBeGreaterThanOrEqual(200_000);
  });

  it.each([
    ['claude-haiku-4-5', 200_000],
    ['anthropic/claude-opus-5-5', 1_000_000],
    ['gpt-5-mini', 272_000],
    ['gpt-4o', 128_000],
    ['qwen3:8b', null],
    ['my-claude-like', null],
  ])('of %s is %s', (model, limit) => {
    expect(knownContextLimit(model)).toBe(limit);
  });
});

describe('V9: what keeps the cache of a prompt warm', () => {
  it('is a breakpoint at the system prompt and at the last stable message for Anthropic', () => {
    const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(cacheOptions('anthropic', 's')).toEqual({
      system: breakpoint,
      message: breakpoint,
      call: null,
    });
  });

  it('is the session as key for OpenAI, and nothing that only the vendor could resolve later', () => {
    expect(cacheOptions('openai', 'x'.repeat(99)).call).toEqual({
      openai: { promptCacheKey: 'x'.repeat(64), store: false, reasoningSummary: null },
    });
  });

  it.each(['google', 'compatible'] as const)('is nothing for %s', (family) => {
    expect(cacheOptions(family, 's')).toEqual({
      system: null,
      message: null,
      call: null,
    });
  });
});

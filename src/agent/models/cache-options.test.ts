import { describe, expect, it } from 'vitest';
import { cacheOptions } from './cache-options.ts';

describe('V9: what keeps the cache of a prompt warm', () => {
  it('is a breakpoint at the system prompt and at the last stable message for Anthropic', () => {
    const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(cacheOptions('anthropic', 's')).toEqual({ system: breakpoint, message: breakpoint, call: null });
  });

  it('is the session as key for OpenAI, and nothing that only the vendor could resolve later', () => {
    expect(cacheOptions('openai', 'x'.repeat(99)).call).toEqual({
      openai: { promptCacheKey: 'x'.repeat(64), store: false },
    });
  });

  it.each(['google', 'compatible'] as const)('is nothing for %s', (family) => {
    expect(cacheOptions(family, 's')).toEqual({ system: null, message: null, call: null });
  });
});

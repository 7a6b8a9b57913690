import { describe, expect, it } from 'vitest';
import { knownContextLimit } from './context-limits.ts';
import { knownProviders } from './provider-table.ts';

describe('G8: how much fits into a model', () => {
  it('is known for every model that is a default', () => {
    const defaults = Object.values(knownProviders).flatMap(({ defaultModel }) => defaultModel ?? []);
    expect(defaults).toHaveLength(3);
    for (const model of defaults) expect(knownContextLimit(model)).toBeGreaterThanOrEqual(200_000);
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

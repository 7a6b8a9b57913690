import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourcesOf } from '../../../test/support/provider-cases.ts';
import type { PartialSettings } from '../../core/settings.ts';
import { knownPrice, knownPrices, pricesOn } from './prices.ts';
import { knownProviders, resolveModel } from './resolve-model.ts';

const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' };

async function priceOf(written: string, environment = {}, user: PartialSettings = {}) {
  const resolved = await resolveModel(
    written,
    sourcesOf({ ...keys, ...environment }, user),
  );
  if (!resolved.ok) throw new Error(resolved.error);
  return resolved.price;
}

describe('G8: the prices that come along', () => {
  it('are those of docs/prices.md, with its date', () => {
    const page = readFileSync(
      new URL('../../../docs/prices.md', import.meta.url),
      'utf8',
    );
    const rows = Object.entries(knownPrices).map(
      ([name, { input, output, cachedInput, cacheWrite }]) =>
        `| \`${name}\` | ${input} | ${output} | ${cachedInput} | ${cacheWrite} |`,
    );
    expect(page.match(/^\| `.*/gm)).toEqual(rows);
    expect(page).toContain(pricesOn);
  });

  it('are of known providers, and no part of a price is above the output', () => {
    for (const [
      name,
      { input, output, cachedInput = 0, cacheWrite = 0 },
    ] of Object.entries(knownPrices)) {
      expect(Object.keys(knownProviders)).toContain(name.split('/')[0]);
      expect(
        [cachedInput, input, cacheWrite, output].toSorted((one, other) => one - other),
      ).toEqual([cachedInput, input, cacheWrite, output]);
    }
  });

  it('hold for a dated name and for no other', () => {
    const { input, output } = knownPrices['anthropic/claude-haiku-4-5']!;
    expect(knownPrice('anthropic/claude-haiku-4-5-20251001')).toMatchObject({
      input,
      output,
    });
    expect(knownPrice('openai/gpt-6-sol-2026-09-22')).toEqual(
      knownPrices['openai/gpt-6-sol'],
    );
    for (const name of [
      'openai/gpt-6-sol-mini',
      'openai/gpt-6',
      'corp/gpt-6-sol',
      'openai/toString',
    ])
      expect(knownPrice(name)).toBeNull();
  });

  it('come after those of the configuration, and count at the provider’s own address only', async () => {
    expect(await priceOf('openai/GPT-6-sol')).toEqual(knownPrices['openai/gpt-6-sol']);
    const own = { input: 9, output: 9 };
    expect(
      await priceOf('openai/gpt-6-sol', {}, { prices: { 'openai/gpt-6-sol': own } }),
    ).toEqual(own);
    expect(
      await priceOf('openai/gpt-6-sol', { OPENAI_BASE_URL: 'https://proxy.example/v1' }),
    ).toBeNull();
  });

  it('are 0 for a local server at its usual address', async () => {
    expect(await priceOf('ollama/qwen3')).toEqual({ input: 0, output: 0 });
    const elsewhere = { models: { ollama: { baseUrl: 'http://gpu.local:11434/v1' } } };
    expect(await priceOf('ollama/qwen3', {}, elsewhere)).toBeNull();
  });
});

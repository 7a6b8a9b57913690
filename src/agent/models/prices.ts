// List prices of some models in US dollars per million tokens, written down by hand and
// never fetched: where from and when stands in docs/prices.md. A price of the
// configuration comes first; a model that is not here has none.
import type { Price } from './resolve-model.ts';

const price = (
  input: number,
  output: number,
  cachedInput: number,
  cacheWrite = input,
): Price => ({
  input,
  output,
  cachedInput,
  cacheWrite,
});

/**
 * As in docs/prices.md. Of two sources the higher one: a budget that ends early is the
 * smaller mistake.
 */
export const pricesOn = '2026-11-16';

export const knownPrices: Readonly<Record<string, Price>> = {
  'anthropic/claude-fable-5-1': price(10, 50, 0.25, 12.5),
  'anthropic/claude-fable-5': price(10, 50, 1, 12.5),
  'anthropic/claude-opus-5-5': price(4, 20, 0.2, 5),
  'anthropic/claude-opus-5': price(5, 25, 0.5, 6.25),
  'anthropic/claude-sonnet-5-5': price(2, 10, 0.2, 2.5),
  'anthropic/claude-sonnet-5': price(2, 10, 0.2, 2.5),
  'anthropic/claude-haiku-4-5': price(1, 5, 0.1, 1.25),
  'openai/gpt-6.1-sol': price(2, 10, 0.1, 2.5),
  'openai/gpt-6-astra': price(10, 50, 1, 12.5),
  'openai/gpt-6-sol': price(2, 10, 0.2, 2.5),
  'openai/gpt-6-luna': price(0.1, 0.5, 0.01, 0.125),
  'openai/gpt-5.6-terra': price(2, 12, 0.2),
  'openai/gpt-5.6-luna': price(0.2, 1.2, 0.02),
  'google/gemini-3.5-flash': price(1.5, 9, 1.5),
  'google/gemini-3.5-flash-lite': price(0.3, 2.5, 0.3),
  'google/gemini-3.1-pro-preview': price(2, 12, 2),
};

/**
 * `key`: provider/model in lower case. A dated name is the same model; any other ending
 * may be another one.
 */
export function knownPrice(key: string): Price | null {
  const plain = key.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return Object.hasOwn(knownPrices, plain) ? (knownPrices[plain] ?? null) : null;
}

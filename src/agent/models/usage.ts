// What a call to a model holds, keeps and costs: the tokens that fit (G8), the options that keep its cache warm (V9),
// the tokens it used and their price (G8). Pure. It never guesses a cost: a budget must not be held against invented
// figures.
import type { LanguageModelUsage } from 'ai';
import type { Settings } from '../../core/settings.ts';
import type { UsageView } from '../agent-event.ts';

export type ModelFamily = 'anthropic' | 'openai' | 'google' | 'compatible';

/**
 * Input tokens of models known by name. Where makers and versions differ the smaller number stands here: compacting
 * early costs a summary, overflowing costs a failed call.
 */
const contextLimits: readonly (readonly [RegExp, number])[] = [
  [/^claude-(?:sonnet|opus|fable)-5/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gpt-6/, 922_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-4o/, 128_000],
  [/^gpt-3\.5/, 16_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_000_000],
];

/** null: nothing is known about the model, and only the provider's own error will tell. */
export function knownContextLimit(modelId: string): number | null {
  const name = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  return contextLimits.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

type Option = string | boolean | Readonly<Record<string, string>>;
type Options = Readonly<Record<string, Readonly<Record<string, Option>>>>;

/** Where the options go that let the unchanged beginning of a prompt be read from the cache. */
export interface CacheOptions {
  readonly system: Options | null;
  /** For the last message that the next call will carry unchanged. */
  readonly message: Options | null;
  readonly call: Options | null;
}

const longestKey = 64;

export function cacheOptions(family: ModelFamily, sessionId: string): CacheOptions {
  if (family === 'anthropic') {
    const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    return { system: breakpoint, message: breakpoint, call: null };
  }
  // Others cache by themselves or not at all; an unknown field could be refused.
  if (family !== 'openai') return { system: null, message: null, call: null };
  // The history lives in our own store: a reference to an item that the vendor keeps could dangle on resume.
  const call = { openai: { promptCacheKey: sessionId.slice(0, longestKey), store: false } };
  return { system: null, message: null, call };
}

export type Price = Settings['prices'][string] & { readonly input: number; readonly output: number };

type Details = Partial<LanguageModelUsage['inputTokenDetails']>;
export type UsageLike = Partial<Pick<LanguageModelUsage, 'inputTokens' | 'outputTokens'>> & {
  readonly inputTokenDetails?: Details | undefined;
};

export function callUsage(usage: UsageLike, price: Price | null): UsageView {
  const input = count(usage.inputTokens);
  const output = count(usage.outputTokens);
  const details = usage.inputTokenDetails;
  const inputTokens = input ?? 0;
  const cachedTokens = Math.min(count(details?.cacheReadTokens) ?? 0, inputTokens);
  const written = Math.min(count(details?.cacheWriteTokens) ?? 0, inputTokens - cachedTokens);
  const counted = { inputTokens, cachedTokens, outputTokens: output ?? 0 };
  if (price === null || input === null || output === null) return { ...counted, cost: null };
  const millions =
    (inputTokens - cachedTokens - written) * price.input +
    cachedTokens * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    output * price.output;
  return { ...counted, cost: millions / 1_000_000 };
}

function count(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) && value >= 0 ? value : null;
}

// What each family of models must be told so that the unchanged beginning of a prompt is read from its cache (V9).
// Pure; where the options go (system, last stable message, whole call) is said by their names.
import type { ModelFamily } from './resolve-model.ts';

type Options = Readonly<
  Record<string, Readonly<Record<string, string | boolean | Readonly<Record<string, string>>>>>
>;

export interface CacheOptions {
  readonly system: Options | null;
  /** For the last message that the next call will carry unchanged. */
  readonly message: Options | null;
  readonly call: Options | null;
}

/** The provider refuses longer keys. */
const longestKey = 64;

export function cacheOptions(family: ModelFamily, sessionId: string): CacheOptions {
  switch (family) {
    case 'anthropic': {
      const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } };
      return { system: breakpoint, message: breakpoint, call: null };
    }
    case 'openai':
      // The history lives in our own store: a reference to an item that the vendor keeps could dangle on resume.
      return {
        system: null,
        message: null,
        call: { openai: { promptCacheKey: sessionId.slice(0, longestKey), store: false } },
      };
    case 'google':
    case 'compatible':
      // These cache by themselves or not at all; an unknown field could be refused.
      return { system: null, message: null, call: null };
  }
}

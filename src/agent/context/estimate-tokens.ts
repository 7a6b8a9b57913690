// How many tokens a text or a message will cost, before anyone has counted them (G8). Cheap and on the high side:
// compacting too early costs a summary, too late costs a failed call. The provider's own figures correct it.
import type { ModelMessage } from 'ai';

/** What separates the messages in a prompt. */
const tokensPerMessage = 6;
/** A picture of ordinary size; its bytes say nothing about it. */
const tokensPerFile = 1600;

export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += weight(text.charCodeAt(index));
  return Math.ceil(tokens);
}

/** Tokens per UTF-16 unit. Tokenisers know Latin words whole, other alphabets in pieces, CJK by character. */
function weight(unit: number): number {
  if (unit < 0x80) return isWordUnit(unit) ? 0.29 : 0.6;
  if (unit < 0x2000) return 0.6;
  if (unit >= 0xd800 && unit <= 0xdfff) return 1.5;
  return 1.2;
}

/** Letters, digits and the space. */
function isWordUnit(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a);
}

export function estimateMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { content }) => sum + tokensPerMessage + estimateValue(content), 0);
}

/** System prompt, tools and whatever else is sent as JSON. */
export function estimateValue(value: unknown): number {
  if (typeof value === 'string') return estimateTokens(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + estimateValue(item), 1);
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields['type'] === 'image' || fields['type'] === 'file' || ArrayBuffer.isView(value))
    return tokensPerFile;
  return Object.entries(fields).reduce(
    // Options for a provider are instructions to it, not text for the model.
    (sum, [key, inner]) =>
      key === 'providerOptions' ? sum : sum + estimateTokens(key) + estimateValue(inner),
    2,
  );
}

/**
 * The factor that brings estimates to what this model reports; the caller keeps it, starting with 1. It rises at once
 * and falls slowly, because an estimate that is too low does more harm.
 */
export function calibrateRatio(ratio: number, estimated: number, reported: number): number {
  // Tiny prompts say more about the provider's wrapping than about the text.
  if (estimated < 200 || !(reported > 0)) return ratio;
  const seen = Math.min(4, Math.max(0.25, reported / estimated));
  return seen > ratio ? seen : ratio * 0.8 + seen * 0.2;
}

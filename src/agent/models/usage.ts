// What one call to a model used and what it cost (G8). An unknown price or an unknown number of tokens gives an
// unknown cost, never a guess: a budget must not be held against invented figures.

/** Per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

/** The part of the AI SDK's usage that is read here. */
export interface UsageLike {
  readonly inputTokens?: number | undefined;
  readonly inputTokenDetails?:
    | { readonly cacheReadTokens?: number | undefined; readonly cacheWriteTokens?: number | undefined }
    | undefined;
  readonly outputTokens?: number | undefined;
}

export interface CallUsage {
  /** All input, the cached part included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
}

export function callUsage(usage: UsageLike, price: Price | null): CallUsage {
  const input = count(usage.inputTokens);
  const output = count(usage.outputTokens);
  const details = usage.inputTokenDetails;
  const inputTokens = input ?? 0;
  const cachedTokens = Math.min(count(details?.cacheReadTokens) ?? 0, inputTokens);
  const written = Math.min(count(details?.cacheWriteTokens) ?? 0, inputTokens - cachedTokens);
  const isKnown = price !== null && input !== null && output !== null;
  const cost = isKnown
    ? ((inputTokens - cachedTokens - written) * price.input +
        cachedTokens * (price.cachedInput ?? price.input) +
        written * (price.cacheWrite ?? price.input) +
        output * price.output) /
      1_000_000
    : null;
  return { inputTokens, cachedTokens, outputTokens: output ?? 0, cost };
}

/** Some servers report nothing, some NaN. */
function count(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) && value >= 0 ? value : null;
}

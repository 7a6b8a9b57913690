// How much of one call to a model stands unchanged at the beginning of the next one: what
// a provider's cache can reuse (V9). A measurement, in characters of the serialised call;
// it changes nothing.

export interface CallParts {
  readonly system: unknown;
  readonly tools: unknown;
  readonly messages: readonly unknown[];
}

/** From 0 to 1, measured against the earlier call. */
export function prefixShare(earlier: CallParts, later: CallParts): number {
  const first = serialise(earlier);
  const second = serialise(later);
  let length = 0;
  while (length < first.length && first.charCodeAt(length) === second.charCodeAt(length))
    length += 1;
  return first.length === 0 ? 1 : length / first.length;
}

/** The shares of each call and the one after it. */
export function prefixShares(calls: readonly CallParts[]): readonly number[] {
  return calls.slice(1).map((later, index) => prefixShare(calls[index] ?? later, later));
}

export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1];
  const high = sorted[Math.floor(middle)];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/**
 * Every message ends in a line of its own: a longer list is a continuation of the shorter
 * one.
 */
function serialise({ system, tools, messages }: CallParts): string {
  return [system, tools, ...messages]
    .map((part) => `${JSON.stringify(part ?? null, withoutMarks)}\n`)
    .join('');
}

/** Where a cache may begin is no part of what is cached. */
function withoutMarks(key: string, value: unknown): unknown {
  return key === 'providerOptions' || key === 'cache_control' ? undefined : value;
}

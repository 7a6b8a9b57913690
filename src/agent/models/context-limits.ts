// How many input tokens fit into the models that are known by name. Where makers and versions differ the smaller
// number stands here: compacting early costs a summary, overflowing costs a failed call.

const limits: readonly (readonly [RegExp, number])[] = [
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
  return limits.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

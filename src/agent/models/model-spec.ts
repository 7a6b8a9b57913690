// Reads "provider/model" as people write it. The model's own name may hold slashes and colons
// (ollama/hf.co/x:Q4); it never holds anything that could leave its place in an address.
import { quoted } from '../../core/config/excerpt.ts';

export interface ModelSpec {
  readonly provider: string;
  readonly modelId: string;
}

export type ParsedSpec =
  | { readonly ok: true; readonly spec: ModelSpec }
  | { readonly ok: false; readonly sentence: string };

const modelIdPattern = /^[A-Za-z0-9](?:[\w.:@+-]|\/(?=[\w@]))*$/;

/** Names that give their maker away, for "did you mean". */
const families: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'anthropic'],
  [/^(?:gpt|o\d)/i, 'openai'],
  [/^gemini/i, 'google'],
];

export function parseModelSpec(text: string): ParsedSpec {
  const plain = text.trim();
  const slash = plain.indexOf('/');
  const provider = plain.slice(0, Math.max(slash, 0)).toLowerCase();
  const modelId = plain.slice(slash + 1);
  if (slash > 0 && modelIdPattern.test(modelId)) return { ok: true, spec: { provider, modelId } };
  const shown = quoted(plain, 60);
  if (slash === -1 && modelIdPattern.test(plain)) {
    const maker = families.find(([pattern]) => pattern.test(plain))?.[1] ?? 'ollama';
    return { ok: false, sentence: `The model ${shown} lacks its provider: write ${maker}/${plain}.` };
  }
  return {
    ok: false,
    sentence: `${shown} is no model: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/qwen3.`,
  };
}

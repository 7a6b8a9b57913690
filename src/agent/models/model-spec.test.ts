import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseModelSpec } from './model-spec.ts';

describe('C1: provider/model', () => {
  it.each([
    ['anthropic/claude-sonnet-5-5', 'anthropic', 'claude-sonnet-5-5'],
    ['OLLAMA/hf.co/org/Model-GGUF:Q4_K_M', 'ollama', 'hf.co/org/Model-GGUF:Q4_K_M'],
    ['my/@cf/meta/llama', null, null],
    ['my/org/@cf', 'my', 'org/@cf'],
    ['vllm/a b', null, null],
    ['vllm/', null, null],
    ['vllm//x', null, null],
    ['vllm/x?key=1', null, null],
    ['vllm/a/../b', null, null],
  ])('%s is read as %s and %s', (text, provider, modelId) => {
    const parsed = parseModelSpec(text);
    expect(parsed.ok ? [parsed.spec.provider, parsed.spec.modelId] : [null, null]).toEqual([
      provider,
      modelId,
    ]);
  });

  it('is answered with a value for any text, and with one printable line when it is wrong', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const parsed = parseModelSpec(text);
        if (!parsed.ok) expect(parsed.sentence).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
        else expect(new URL(`https://a/models/${parsed.spec.modelId}`).pathname).toMatch(/^\/models\/\w/);
      }),
    );
  });
});

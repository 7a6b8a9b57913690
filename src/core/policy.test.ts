import { describe, expect, it } from 'vitest';
import { mergeSettings } from './config.ts';
import { canonicalPolicy } from './policy.ts';
import { defaultSettings } from './settings.ts';

function policyWith(
  project: NonNullable<Parameters<typeof mergeSettings>[0]['project']>,
) {
  return { settings: mergeSettings({ project }).settings, goalChecks: [] };
}

describe('V2: the text of a policy', () => {
  it('is the same whatever the order in which things were written', () => {
    const one = policyWith({
      mode: 'off',
      agents: { b: { ceiling: 1, mode: 'off' }, a: {} },
    });
    const other = policyWith({
      agents: { a: {}, b: { mode: 'off', ceiling: 1 } },
      mode: 'off',
    });
    expect(canonicalPolicy(one)).toBe(canonicalPolicy(other));
    const reversed = Object.fromEntries(
      Object.entries(defaultSettings).reverse(),
    ) as unknown as typeof defaultSettings;
    expect(canonicalPolicy({ goalChecks: [], settings: reversed })).toBe(
      canonicalPolicy({ settings: defaultSettings, goalChecks: [] }),
    );
  });

  it('differs as soon as one setting differs, the order in a list included', () => {
    const texts = [
      policyWith({}),
      policyWith({ ceiling: 7 }),
      policyWith({ skipAgents: ['a', 'b'] }),
      policyWith({ skipAgents: ['b', 'a'] }),
      policyWith({ agents: { a: {} } }),
      { ...policyWith({}), goalChecks: ['tests'] },
      policyWith({ agents: { a: { ceiling: 7 } } }),
    ].map(canonicalPolicy);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('can be read back as the same policy', () => {
    const policy = policyWith({
      maxCost: 1.5,
      agents: { 'my agent': { maxTokens: null } },
    });
    expect(JSON.parse(canonicalPolicy(policy))).toEqual(policy);
  });
});

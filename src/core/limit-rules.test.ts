import { describe, expect, it } from 'vitest';
import {
  all,
  atTime,
  type Patch,
  stopContext,
  withSettings,
  withUsage,
} from '../../test/properties/rule-context.ts';
import { isBudgetSpent, isContextFull } from './rules.ts';

describe('budgets between stop attempts', () => {
  const spent: readonly (readonly [string, Patch])[] = [
    ['tokens', all(withUsage({ tokens: 50 }), withSettings({ maxTokens: 50 }))],
    ['cost', all(withUsage({ cost: 2 }), withSettings({ maxCost: 2 }))],
    ['time', all(withSettings({ maxMinutes: 5 }), atTime(300_000))],
    ['context', withUsage({ contextTokens: 900, contextLimit: 1000 })],
  ];
  for (const [what, patch] of spent) {
    it(`G8: a loop can see that the ${what} is spent before it starts another step`, () => {
      expect(isBudgetSpent(stopContext(patch))).toBe(true);
    });
  }

  it('G8: limits that are not set, or not reached, are not spent', () => {
    expect(
      isBudgetSpent(
        stopContext(withUsage({ tokens: 10 ** 9, cost: 10 ** 6 }), atTime(10 ** 9)),
      ),
    ).toBe(false);
    expect(
      isBudgetSpent(
        stopContext(withUsage({ tokens: 49 }), withSettings({ maxTokens: 50 })),
      ),
    ).toBe(false);
    expect(
      isContextFull(stopContext(withUsage({ contextTokens: 900, contextLimit: null }))),
    ).toBe(false);
  });
});

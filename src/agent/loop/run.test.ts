import { describe, expect, it } from 'vitest';
import { createIterationBudget } from './run.ts';

const limits = { base: 10, extend: 10, cap: 50 };

function stepsUntilSpent(openAt: (step: number) => number, given = limits): number {
  const budget = createIterationBudget(given);
  for (let step = 1; step <= 1000; step += 1)
    if (budget.isSpentBy(openAt(step) > 0)) return step;
  return Number.POSITIVE_INFINITY;
}

describe('the iteration budget', () => {
  it('S2: without open todos it is the base', () => {
    expect(stepsUntilSpent(() => 0)).toBe(10);
  });

  it('S2: while todos are open it extends, up to the cap', () => {
    expect(stepsUntilSpent(() => 1)).toBe(50);
  });

  it('S2: a plan that is drained late leaves the rest of the extension for the answer', () => {
    expect(stepsUntilSpent((step) => (step < 27 ? 1 : 0))).toBe(36);
  });

  it('S2: without an extension the base holds, and the cap holds whatever the base says', () => {
    expect(stepsUntilSpent(() => 1, { ...limits, extend: 0 })).toBe(10);
    expect(stepsUntilSpent(() => 0, { base: 100, extend: 10, cap: 5 })).toBe(5);
  });

  it('S2: it is counted from the last continuation', () => {
    const budget = createIterationBudget({ base: 2, extend: 0, cap: 2 });
    expect([budget.isSpentBy(true), budget.isSpentBy(true)]).toEqual([false, true]);
    budget.renew();
    expect([budget.isSpentBy(true), budget.isSpentBy(true)]).toEqual([false, true]);
  });
});

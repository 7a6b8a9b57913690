import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { failedBeforeSentence, findFailedBefore } from './settlement.ts';
import { createState, type GoalCheck, newGoalCheck, type State } from './state.ts';

const failed: GoalCheck = { ...newGoalCheck, state: 'failed' };
const looked = { fingerprint: null, writes: 0 };

function withGoal(
  goal: State['goal'],
  checks: NonNullable<State['baseline']>['checks'],
): State {
  return { ...createState('session-1', 0), goal, baseline: { ...looked, checks } };
}

describe('P51: what failed before the work began', () => {
  it('P51: is a check that failed both before and last', () => {
    const state = withGoal(
      {
        '$ npm test': failed,
        lint: failed,
        types: { ...failed, state: 'passed' },
        start: failed,
      },
      { '$ npm test': 'failed', lint: 'passed', types: 'failed', start: 'cannot-start' },
    );
    expect(failedBeforeSentence(state)).toBe(
      'The check "npm test" failed before the work began too.',
    );
  });

  it('P51: names three checks and counts the others', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const perName = <Value>(value: Value) =>
      Object.fromEntries(names.map((name) => [name, value]));
    expect(
      failedBeforeSentence(withGoal(perName(failed), perName('failed' as const))),
    ).toBe('The checks "a", "b", "c" and 2 more failed before the work began too.');
  });

  it('P51: quotes a name once, also if it has quotes of its own', () => {
    const check = '$ grep -qx "not ok" out';
    const sentence = failedBeforeSentence(
      withGoal({ [check]: failed }, { [check]: 'failed' }),
    );
    expect(sentence).toBe(
      'The check "grep -qx \\"not ok\\" out" failed before the work began too.',
    );
  });

  it('P51: counts the check of a todo, if the todo has only one', () => {
    const todo = aTodo({ checks: ['unit'], verification: 'failed' });
    const state = withGoal({}, { unit: 'failed', lint: 'failed' });
    expect(failedBeforeSentence({ ...state, plan: [todo] })).toContain(
      'The check "unit" failed',
    );
    const unsure = { ...todo, checks: ['unit', 'lint'] };
    expect(failedBeforeSentence({ ...state, plan: [unsure] })).toBe('');
    expect(
      failedBeforeSentence({ ...state, plan: [{ ...todo, verification: 'passed' }] }),
    ).toBe('');
  });

  it('P51: is unknown without a baseline, whatever the name of the check is', () => {
    expect(findFailedBefore({ baseline: null }, ['unit'])).toEqual([]);
    expect(findFailedBefore(withGoal({}, {}), ['constructor', 'toString'])).toEqual([]);
  });
});

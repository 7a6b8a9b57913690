import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { countPlan, nextTodos, openCount, planSize } from './state.ts';
import { type Todo, todoStatuses } from './todo.ts';

const tally = (todo: Todo) => countPlan([todo]);

describe('countPlan', () => {
  it('T2: a row counts under exactly one status', () => {
    for (const status of todoStatuses) expect(planSize(tally(aTodo({ status })))).toBe(1);
    expect(tally(aTodo({ status: 'in_progress' })).inProgress).toBe(1);
    expect(openCount(tally(aTodo({ status: 'blocked' })))).toBe(0);
  });

  it('T2: dropped counts only while the todo is open, unnamed only until a continuation named it', () => {
    expect(tally(aTodo({ droppedAt: 5 }))).toMatchObject({
      pending: 1,
      dropped: 1,
      unnamedDrops: 1,
    });
    expect(tally(aTodo({ droppedAt: 5, droppedNamedAt: 6 }))).toMatchObject({
      dropped: 1,
      unnamedDrops: 0,
    });
    expect(tally(aTodo({ droppedAt: 5, status: 'completed' }))).toMatchObject({
      dropped: 0,
      unnamedDrops: 0,
    });
  });

  it('V1: a completion is uncovered, unverified or passed, and never two of them', () => {
    const completed = { status: 'completed', verification: 'claimed' } as const;
    expect(tally(aTodo(completed))).toMatchObject({
      uncovered: 1,
      unverified: 0,
      passed: 0,
    });
    expect(tally(aTodo({ ...completed, checks: ['unit'] }))).toMatchObject({
      uncovered: 0,
      unverified: 1,
      passed: 0,
    });
    const passed = aTodo({ ...completed, checks: ['unit'], verification: 'passed' });
    expect(tally(passed)).toMatchObject({ uncovered: 0, unverified: 0, passed: 1 });
  });

  it('V4: unexplained cancellations and what an agent ended since the message are counted apart', () => {
    expect(tally(aTodo({ status: 'cancelled' })).unexplained).toBe(1);
    expect(tally(aTodo({ status: 'cancelled', reason: 'because' })).unexplained).toBe(0);
    const since = (todo: Partial<Todo>) => countPlan([aTodo(todo)], 4);
    expect(since({ status: 'completed', endedIn: 4 })).toMatchObject({
      claims: 1,
      ends: 0,
    });
    expect(since({ status: 'blocked', endedIn: 5 })).toMatchObject({
      claims: 0,
      ends: 1,
    });
    expect(since({ status: 'cancelled', reason: 'because', endedIn: 5 })).toMatchObject({
      claims: 0,
      ends: 1,
    });
    expect(since({ status: 'completed', endedIn: 3 }).claims, 'before the message').toBe(
      0,
    );
    expect(since({ status: 'completed', endedIn: null }).claims, 'by someone else').toBe(
      0,
    );
    expect(
      since({ status: 'completed', endedIn: 4, checks: ['unit'] }).claims,
      'its check judges it',
    ).toBe(0);
  });

  it('adds up over a plan', () => {
    const plan = [
      aTodo(),
      aTodo({ status: 'completed' }),
      aTodo({ status: 'completed', checks: ['unit'] }),
    ];
    expect(countPlan(plan)).toMatchObject({
      pending: 1,
      completed: 2,
      uncovered: 1,
      unverified: 1,
      blocked: 0,
    });
    expect(planSize(countPlan(plan))).toBe(3);
  });
});

describe('the next todo', () => {
  it('T5: is the most important one; in progress comes before pending, else the order of the plan counts', () => {
    const plan = [
      aTodo({ id: 'low', priority: 'low', status: 'in_progress' }),
      aTodo({ id: 'first' }),
      aTodo({ id: 'done', priority: 'high', status: 'completed' }),
      aTodo({ id: 'begun', status: 'in_progress' }),
      aTodo({ id: 'second' }),
      aTodo({ id: 'high', priority: 'high' }),
    ];
    const ids = nextTodos(plan, 9).map(({ id }) => id);
    expect(ids).toEqual(['high', 'begun', 'first', 'second', 'low']);
    expect(nextTodos(plan, 2).map(({ id }) => id)).toEqual(['high', 'begun']);
    expect(nextTodos([], 2)).toEqual([]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { placeWritten } from './reconcile.ts';
import type { Todo } from './todo.ts';

const rowsAt = (...orders: number[]): Todo[] =>
  orders.map((order, index) => aTodo({ id: `t${index}`, order }));

/** Each entry is the index of a row, or null for a new item. */
function place(entries: readonly (number | null)[], rows: readonly Todo[]): number[] {
  return placeWritten(
    entries.map((entry) => (entry === null ? null : (rows[entry] ?? null))),
    rows,
  );
}

const ascends = (orders: readonly number[]) =>
  orders.every((order, index) => index === 0 || order > orders[index - 1]!);

describe('placeWritten', () => {
  it('M5: an unchanged list changes no rank', () => {
    expect(place([0, 1, 2], rowsAt(10, 20, 30))).toEqual([10, 20, 30]);
    expect(place([0, 2], rowsAt(10, 20, 30))).toEqual([10, 30]);
  });

  it('M1: what is new at the end comes after everything, rows that were left out included', () => {
    const orders = place([0, null, null], rowsAt(10, 20, 1_000_000));
    expect(orders[0]).toBe(10);
    expect(orders[1]).toBeGreaterThan(1_000_000);
    expect(ascends(orders)).toBe(true);
  });

  it('M1: what is new at the start or between two rows goes there without touching them', () => {
    const orders = place([null, 0, null, null, 1], rowsAt(10, 20));
    expect([orders[1], orders[4]]).toEqual([10, 20]);
    expect(orders[0]).toBeGreaterThan(0);
    expect(ascends(orders)).toBe(true);
  });

  it('ranks a permuted list anew, in the order in which it was written', () => {
    expect(ascends(place([2, 0, null, 1], rowsAt(10, 20, 30)))).toBe(true);
  });

  it('gives an empty list and an all-new list their ranks', () => {
    expect(place([], rowsAt(10))).toEqual([]);
    expect(ascends(place([null, null, null], []))).toBe(true);
  });

  it('always ranks in the order in which the list was written', () => {
    const lists = fc
      .tuple(
        fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 10 }),
        fc.array(fc.boolean(), { maxLength: 20 }),
      )
      .map(([known, gaps]) => {
        const entries: (number | null)[] = [...known];
        gaps.forEach((isNew, index) => {
          if (isNew) entries.splice(index % (entries.length + 1), 0, null);
        });
        return entries;
      });
    const rows = rowsAt(...Array.from({ length: 10 }, (_, index) => (index + 1) * 1024));
    fc.assert(fc.property(lists, (entries) => ascends(place(entries, rows))));
  });
});

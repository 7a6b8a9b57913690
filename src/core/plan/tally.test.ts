import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aTodo } from '../../../test/support/builders.ts';
import { noCounts, openCount, planSize } from '../session.ts';
import { type Todo, todoStatuses } from '../todo.ts';
import { recount, shiftCounts, tally } from './tally.ts';

const anyTodo = fc
  .record({
    status: fc.constantFrom(...todoStatuses),
    verification: fc.constantFrom('none', 'claimed', 'running', 'passed', 'failed'),
    checks: fc.constantFrom<readonly string[]>([], ['unit']),
    reason: fc.constantFrom(null, 'because'),
    droppedAt: fc.constantFrom(null, 5),
    droppedNamedAt: fc.constantFrom(null, 6),
    idleEnd: fc.boolean(),
  })
  .map((fields) => aTodo(fields as Partial<Todo>));

describe('tally', () => {
  it('T2: a row counts under exactly one status', () => {
    for (const status of todoStatuses) expect(planSize(tally(aTodo({ status })))).toBe(1);
    expect(tally(aTodo({ status: 'in_progress' })).inProgress).toBe(1);
    expect(openCount(tally(aTodo({ status: 'blocked' })))).toBe(0);
  });

  it('T2: dropped counts only while the todo is open, unnamed only until a continuation named it', () => {
    expect(tally(aTodo({ droppedAt: 5 }))).toMatchObject({ pending: 1, dropped: 1, unnamedDrops: 1 });
    expect(tally(aTodo({ droppedAt: 5, droppedNamedAt: 6 }))).toMatchObject({ dropped: 1, unnamedDrops: 0 });
    expect(tally(aTodo({ droppedAt: 5, status: 'completed' }))).toMatchObject({
      dropped: 0,
      unnamedDrops: 0,
    });
  });

  it('V1: a completion is uncovered, unverified or passed, and never two of them', () => {
    const completed = { status: 'completed', verification: 'claimed' } as const;
    expect(tally(aTodo(completed))).toMatchObject({ uncovered: 1, unverified: 0, passed: 0 });
    expect(tally(aTodo({ ...completed, checks: ['unit'] }))).toMatchObject({
      uncovered: 0,
      unverified: 1,
      passed: 0,
    });
    const passed = aTodo({ ...completed, checks: ['unit'], verification: 'passed' });
    expect(tally(passed)).toMatchObject({ uncovered: 0, unverified: 0, passed: 1 });
  });

  it('V4: unexplained cancellations and idle ends are counted apart', () => {
    expect(tally(aTodo({ status: 'cancelled' })).unexplained).toBe(1);
    expect(tally(aTodo({ status: 'cancelled', reason: 'because' })).unexplained).toBe(0);
    expect(tally(aTodo({ status: 'completed', idleEnd: true }))).toMatchObject({
      idleClaims: 1,
      idleEnds: 0,
    });
    expect(tally(aTodo({ status: 'blocked', idleEnd: true }))).toMatchObject({ idleClaims: 0, idleEnds: 1 });
  });

  it('keeps the counts in step with any sequence of changes, without reading the list again', () => {
    const changes = fc.array(fc.tuple(fc.nat(4), anyTodo), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(changes, (sequence) => {
        const rows = new Map<number, Todo>();
        let counts = noCounts;
        for (const [key, after] of sequence) {
          counts = shiftCounts(counts, rows.get(key) ?? null, after);
          rows.set(key, after);
        }
        expect(counts).toEqual(recount(rows.values()));
      }),
    );
  });
});

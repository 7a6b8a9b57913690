import { describe, expect, it } from 'vitest';
import { arrangeValues, toPlainParameters } from './numbered-parameters.ts';
import { statements } from './statements.ts';

describe('numbered parameters', () => {
  it('T4: a value that is used twice is handed over twice, in the order of the marks', () => {
    const { sql, order } = toPlainParameters('SELECT ?2, ?1 WHERE ?2 = ?12');
    expect(sql).toBe('SELECT ?, ? WHERE ? = ?');
    const values = Array.from({ length: 12 }, (_, index) => index + 1);
    expect(arrangeValues(order, values)).toEqual([2, 1, 2, 12]);
  });

  it('T4: plain marks and their values stay as they are', () => {
    const { sql, order } = toPlainParameters('SELECT ?, ?');
    expect(sql).toBe('SELECT ?, ?');
    expect(arrangeValues(order, ['a', null])).toEqual(['a', null]);
  });

  it('T4: no statement mixes both kinds or has a question mark inside a literal', () => {
    for (const sql of Object.values(statements)) {
      const marks = [...sql.matchAll(/\?/gu)].length;
      const numbered = [...sql.matchAll(/\?\d/gu)].length;
      expect([0, marks]).toContain(numbered);
      expect([...sql.matchAll(/'[^']*'/gu)].join()).not.toContain('?');
    }
  });
});

import { describe, expect, it } from 'vitest';
import {
  describeCost,
  formatClock,
  formatElapsed,
  formatShort,
  formatTokens,
  tellingArgument,
} from './words.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('amounts', () => {
  it.each([
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.5, '1.0 s'],
    [59_949, '59.9 s'],
    [59_950, '1 min'],
    [59.4 * minute, '59 min'],
    [59.6 * minute, '1 h'],
    [500 * hour, '500 h'],
  ])('%d ms is short: %s', (milliseconds, text) => {
    expect(formatShort(milliseconds)).toBe(text);
    expect(text.length).toBeLessThanOrEqual(6);
  });

  it('elapsed time has two units', () => {
    expect([400, 59_600, 252_000, 3 * hour + 5 * minute].map(formatElapsed)).toEqual([
      '0 s',
      '1 min 0 s',
      '4 min 12 s',
      '3 h 5 min',
    ]);
  });

  it('a time of another day has its date', () => {
    const now = new Date(2026, 2, 4, 23, 59, 50).getTime();
    expect(formatClock(now + 5000, now)).toBe('23:59:55');
    expect(formatClock(now + 15_000, now)).toBe('2026-03-05 00:00:05');
    expect(formatClock(Number.NaN, now)).toBe('an unknown time');
  });

  it('tokens and cost are rounded, and an unknown price is no zero', () => {
    expect(
      [0, 999, 1000, 1234, 99_949, 120_400, 999_499, 3_400_000].map(formatTokens),
    ).toEqual('0 999 1k 1.2k 99.9k 120k 999k 3.4M'.split(' '));
    expect([null, 0, 0.00012, 12.345].map(describeCost)).toEqual([
      '',
      '$0.0000',
      '$0.0001',
      '$12.35',
    ]);
  });
});

describe('the most telling argument', () => {
  it.each([
    ['shell', { timeoutSeconds: 5, command: 'npm test' }, 'npm test'],
    ['edit_file', { oldText: 'a', newText: 'b', path: 'src/a.ts' }, 'src/a.ts'],
    ['grep', { path: 'src', pattern: 'foo' }, 'foo src'],
    ['todo_write', { todos: [1, 2] }, '2 todos'],
    ['create_todo', { items: [1] }, '1 todo'],
    ['complete_todo', { todoId: 'uuid', outcome: 'Moved.' }, 'Moved.'],
    [
      'update_todo',
      { todoId: 'uuid', status: 'blocked', reason: 'No token.' },
      'blocked No token.',
    ],
    ['unknown', { size: 3, note: 'hello' }, 'hello'],
    ['unknown', 'as text', 'as text'],
    ['constructor', { path: 'a' }, 'a'],
    ['unknown', { path: '  ' }, ''],
    ['unknown', null, ''],
    ['unknown', [1], ''],
  ])('of %s with %j is %j', (tool, input, expected) => {
    expect(tellingArgument(tool, input)).toBe(expected);
  });
});

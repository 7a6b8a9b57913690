import { describe, expect, it } from 'vitest';
import { aTodo } from '../../test/support/builders.ts';
import { isDropped, isFinal, isOpen, normaliseTitle, statusFromWord } from './todo.ts';

describe('one todo', () => {
  it('T2: is open while it is pending or in progress, dropped or not', () => {
    const open = (
      ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'] as const
    ).filter((status) => isOpen(aTodo({ status })));
    expect(open).toEqual(['pending', 'in_progress']);
    expect(isOpen(aTodo({ droppedAt: 1 }))).toBe(true);
  });

  it('T2: is final when completed and proved, completed without a check, or cancelled with a reason', () => {
    expect(isFinal(aTodo({ status: 'completed' }))).toBe(true);
    expect(
      isFinal(aTodo({ status: 'completed', checks: ['own'], verification: 'claimed' })),
    ).toBe(false);
    expect(
      isFinal(aTodo({ status: 'completed', checks: ['own'], verification: 'passed' })),
    ).toBe(true);
    expect(isFinal(aTodo({ status: 'cancelled', reason: 'obsolete' }))).toBe(true);
    expect(isFinal(aTodo({ status: 'cancelled' }))).toBe(false);
    expect(isFinal(aTodo({ status: 'blocked', reason: 'no key' }))).toBe(false);
  });

  it('T2: is dropped only while it is open', () => {
    expect(isDropped(aTodo({ droppedAt: 1 }))).toBe(true);
    expect(isDropped(aTodo({ droppedAt: 1, status: 'cancelled' }))).toBe(false);
    expect(isDropped(aTodo())).toBe(false);
  });

  it("T2: hosts' words are mapped, in any letter case, and unknown ones are not guessed", () => {
    const words = [
      'Done',
      'IN-PROGRESS',
      'in progress',
      'deleted',
      'canceled',
      ' todo ',
      'blocked',
    ];
    expect(words.map(statusFromWord)).toEqual([
      'completed',
      'in_progress',
      'in_progress',
      'cancelled',
      'cancelled',
      'pending',
      'blocked',
    ]);
    for (const word of ['finished?', '', 'constructor', '__proto__'])
      expect(statusFromWord(word)).toBeNull();
  });

  it('M5: titles are the same todo in spite of letter case, spacing, list markers and end punctuation', () => {
    for (const title of [
      'Write the parser',
      '  write   the PARSER. ',
      '- Write the parser',
      '1) write the parser…',
    ]) {
      expect(normaliseTitle(title)).toBe('write the parser');
    }
    expect(normaliseTitle('!!!')).toBe('!!!');
    expect(normaliseTitle('ﬁx it')).toBe('fix it');
  });
});

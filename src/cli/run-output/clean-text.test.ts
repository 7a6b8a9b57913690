import { describe, expect, it } from 'vitest';
import { cleanLine, createTextCleaner, toAscii } from './clean-text.ts';

const ESC = '\u001b';

describe('text in pieces', () => {
  it.each([
    ['a clipboard write', ['a', ESC, ']5', '2;c;AAAA', '\u0007b'], 'ab'],
    ['a hyperlink ended by ST', [`a${ESC}]8;;x${ESC}`, '\\b'], 'ab'],
    ['a colour', [`a${ESC}`, '[3', '1', 'mb'], 'ab'],
    ['an intermediate byte', [`a${ESC}[0 `, 'qb'], 'ab'],
    ['a charset change', [`a${ESC}(`, 'Bb'], 'ab'],
    ['an eight-bit sequence', ['a\u009d0;x', 'y\u009cb'], 'ab'],
    ['a pair of surrogates', ['a\ud83d', '\ude00b'], 'a😀b'],
    ['a line break of two letters', ['a\r', '\nb'], 'a\nb'],
    ['a sequence ended by its line', [`a${ESC}]0;title`, ' more\nb'], 'a\nb'],
  ])('Must hold 6: %s is read across the seams', (_name, pieces, expected) => {
    const cleaner = createTextCleaner(true);
    expect(pieces.map((piece) => cleaner.push(piece)).join('')).toBe(expected);
  });

  it('a sequence that was never finished ends with its step', () => {
    const cleaner = createTextCleaner(true);
    expect(cleaner.push(`a${ESC}]0;title`)).toBe('a');
    cleaner.reset();
    expect(cleaner.push('b')).toBe('b');
  });

  it('an endless sequence in endless pieces takes no memory and no time', () => {
    const cleaner = createTextCleaner(true);
    const began = performance.now();
    cleaner.push(`${ESC}]`);
    for (let index = 0; index < 20_000; index += 1) expect(cleaner.push('x'.repeat(100))).toBe('');
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('ASCII', () => {
  it('keeps words readable', () => {
    expect(toAscii('“Grüße” – naïve… → ½ × 日本 ß é e\u0301 👩‍👧')).toBe(
      '"Grusse" - naive... -> 1?2 x ?? ss e e ??',
    );
  });

  it('Must hold 6: has no byte that another terminal could read as a command', () => {
    const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).join(' ');
    expect(/[^\n\x20-\x7e]/.exec(cleanLine(all, all.length, false))).toBeNull();
  });
});

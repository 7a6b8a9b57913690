import displayWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import { cleanLine, cutToWidth, isUnicodeLocale, lastLines, toAscii } from './page.ts';

describe('the width of text in a terminal', () => {
  it.each([
    ['plain', 5],
    ['Grüße', 5],
    ['e\u0301', 1],
    ['日本語', 6],
    ['한국', 4],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['→✓█│', 4],
    ['', 0],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it('is cut between characters, with an ellipsis that fits', () => {
    expect(cutToWidth('abcdef', 6, '…')).toBe('abcdef');
    expect(cutToWidth('abcdefg', 6, '…')).toBe('abcde…');
    expect(cutToWidth('abcdefg', 6, '...')).toBe('abc...');
    expect(cutToWidth('日本語', 4, '…')).toBe('日…');
    expect(cutToWidth('abc', 2, '...')).toBe('ab');
  });
});

describe('ASCII', () => {
  it('keeps words readable', () => {
    expect(toAscii('“Grüße” – naïve… → ½ × 日本 ß é e\u0301 👩‍👧')).toBe(
      '"Grusse" - naive... -> 1?2 x ?? ss e e ??',
    );
  });

  it('Must hold 6: has no byte that another terminal could read as a command', () => {
    const all = Array.from({ length: 0x1_0000 }, (_, code) =>
      String.fromCharCode(code),
    ).join(' ');
    expect(/[^\n\x20-\x7e]/.exec(cleanLine(all, all.length, false))).toBeNull();
  });
});

describe('the locale', () => {
  it('is believed when it names an encoding, in the order of POSIX', () => {
    expect(isUnicodeLocale({ LANG: 'de_DE.UTF-8' })).toBe(true);
    expect(isUnicodeLocale({ LANG: 'C.utf8' })).toBe(true);
    expect(isUnicodeLocale({ LANG: 'en_US.UTF-8', LC_ALL: 'C' })).toBe(false);
    expect(isUnicodeLocale({ LC_CTYPE: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' })).toBe(
      false,
    );
    expect(isUnicodeLocale({ LC_ALL: '', LANG: '' })).toBe(true);
    expect(isUnicodeLocale({})).toBe(true);
  });
});

describe('the end of an output', () => {
  it('Must hold 6: is its last lines that say something, without the power to act on a terminal', () => {
    const output = `one\n\u001b[31mtwo\u001b[0m\r\n\n \nthree \u001b]52;c;x\u0007\n\n`;
    expect(lastLines(output, 2, true)).toEqual(['two', 'three ']);
    expect(lastLines('x'.repeat(1_000_000), 2, true).join('').length).toBeLessThan(3000);
  });
});

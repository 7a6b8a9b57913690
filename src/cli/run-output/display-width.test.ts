import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth, splitAtWidth } from './display-width.ts';

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
    ['\u200b', 0],
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

  it('always gives at least one character, so that cutting ends', () => {
    expect(splitAtWidth('日本', 1)).toEqual(['日', '本']);
    expect(splitAtWidth('ab', 0)).toEqual(['a', 'b']);
  });
});

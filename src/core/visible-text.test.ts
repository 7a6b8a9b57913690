import { describe, expect, it } from 'vitest';
import { asciiOnly, hasHidden, visibleLine, visibleLines } from './safe-text.ts';

const hiding = 'echo ok \u001b]0; touch HIDDEN; echo \u0007';

describe('a text that a human is asked to approve', () => {
  it.each([
    ['an escape sequence', hiding, 'echo ok \\x1b]0; touch HIDDEN; echo \\x07'],
    ['eight-bit controls', 'a\u009d0; touch b\u009c', 'a\\x9d0; touch b\\x9c'],
    ['a rewritten line', 'rm x\recho\b', 'rm x\\recho\\x08'],
    ['reordered text', 'a\u202eb\u2066c\u200f', 'a\\u202eb\\u2066c\\u200f'],
    [
      'zero-width letters',
      'r\u200bm\u200d \u2060\ufeff\u00ad',
      'r\\u200bm\\u200d \\u2060\\ufeff\\xad',
    ],
    [
      'fillers and selectors',
      'a\u3164b\u115fc\ufe0f\u{e0101}',
      'a\\u3164b\\u115fc\\ufe0f\\u{e0101}',
    ],
    ['tag letters', 'a\u{e0041}', 'a\\u{e0041}'],
    ['other spaces', 'a\u00a0b\u3000c\td', 'a\\xa0b\\u3000c\\td'],
    ['other line breaks', 'a\nb\u2028c\u0085d\ve', 'a\\nb\\u2028c\\x85d\\x0be'],
    ['half a character', 'a\ud83d', 'a\\ud83d'],
  ])('S7: %s is shown, never stripped', (_name, text, shown) => {
    expect(visibleLine(text)).toBe(shown);
    expect(hasHidden(text)).toBe(true);
  });

  it('S7: what hides nothing stays as it is, and line breaks stand between lines', () => {
    expect(visibleLine('npm run “größe” 한국어 👍')).toBe('npm run “größe” 한국어 👍');
    expect(hasHidden('cat <<E\nx\nE')).toBe(false);
    expect(visibleLines('a\u0007\n\nb')).toEqual(['a\\x07', '', 'b']);
  });

  it('S7: in ASCII a letter is named and never taken for another one', () => {
    expect(asciiOnly('rm résumé 👍')).toBe('rm r\\xe9sum\\xe9 \\u{1f44d}');
  });
});

import { describe, expect, it } from 'vitest';
import { isUnicodeLocale } from './unicode-locale.ts';

describe('the locale', () => {
  it('is believed when it names an encoding, in the order of POSIX', () => {
    expect(isUnicodeLocale({ LANG: 'de_DE.UTF-8' })).toBe(true);
    expect(isUnicodeLocale({ LANG: 'C.utf8' })).toBe(true);
    expect(isUnicodeLocale({ LANG: 'en_US.UTF-8', LC_ALL: 'C' })).toBe(false);
    expect(isUnicodeLocale({ LC_CTYPE: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' })).toBe(false);
    expect(isUnicodeLocale({ LC_ALL: '', LANG: '' })).toBe(true);
    expect(isUnicodeLocale({})).toBe(true);
  });
});

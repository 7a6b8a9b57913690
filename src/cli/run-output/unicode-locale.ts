// Whether the locale of the process says that its terminal reads UTF-8. It asks the environment, not the terminal.

/**
 * A locale that names another encoding (or plain `C`) is believed: to a Latin-1 terminal some bytes of UTF-8 are
 * control characters. Where nothing is said at all (containers, Windows) UTF-8 is by far the likelier.
 */
export function isUnicodeLocale(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return locale === '' || /utf-?8/i.test(locale);
}

// Quotes a hostile value inside one of our sentences: short, on one line, without terminal escapes.
// It shows enough to find the place, never the whole value.

const longestExcerpt = 40;

/** Control, format and separator characters become visible escapes; nothing reaches a terminal raw. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

export function quoted(text: string, longest: number): string {
  // Two code units make at most one code point, so this slice is enough and a huge text costs nothing.
  const points = [...text.slice(0, 2 * longest + 2)];
  const shown = points.length > longest ? `${points.slice(0, longest).join('')}…` : points.join('');
  return printable(JSON.stringify(shown));
}

export function excerpt(value: unknown): string {
  if (typeof value === 'string') return quoted(value, longestExcerpt);
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

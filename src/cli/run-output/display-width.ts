// How many columns of a terminal a text takes, and how much of it fits into some. Pure; expects text that holds
// neither control characters nor line breaks.

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** East Asian wide and fullwidth letters, and what is drawn as an emoji by itself. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|.\ufe0f)/u;
const invisible = /^[\p{M}\p{Cf}\p{Cs}]+$/u;
const plain = /^[\x20-\x7e]*$/;

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}

/** The longest start that fits, but at least one character, so that cutting always comes to an end. */
export function splitAtWidth(text: string, width: number): readonly [head: string, rest: string] {
  if (plain.test(text)) {
    const end = Math.max(1, width);
    return [text.slice(0, end), text.slice(end)];
  }
  let used = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width && index > 0) return [text.slice(0, index), text.slice(index)];
  }
  return [text, ''];
}

/** The text itself, or its start and the ellipsis, in at most `width` columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  if (displayWidth(text) <= width) return text;
  const room = width - displayWidth(ellipsis);
  if (room < 1) return splitAtWidth(text, Math.max(1, width))[0];
  return `${splitAtWidth(text, room)[0].trimEnd()}${ellipsis}`;
}

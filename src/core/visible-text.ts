// Makes visible what a text hides: for everything that a human is asked to approve. Nothing is taken away, so that what
// is read is what will be done. Pure; it judges no text, and cuts none.

/** Controls, marks that reorder, letters without a shape, spaces that are not the space, halves of characters. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/u;
const allHidden = new RegExp(hidden, 'gu');
const hiddenInLines = new RegExp(`(?!\\n)${hidden.source}`, 'gu');

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Line breaks hide nothing where each line stands on its own. */
export function hasHidden(text: string): boolean {
  return text.search(hiddenInLines) !== -1;
}

/** On one line: a line break is shown as `\n`, an escape as `\x1b`, a mark that reorders as `\u202e`. */
export function visibleLine(text: string): string {
  return text.replace(allHidden, escaped);
}

/** The same, line by line. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

/** For a terminal that reads nothing else: every other letter is named, since a guess would be another command. */
export function asciiOnly(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, escaped);
}

function escaped(character: string): string {
  const name = names[character];
  if (name !== undefined) return name;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

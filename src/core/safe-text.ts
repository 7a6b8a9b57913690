// Makes hostile text safe to show: in a terminal, on one line, inside a prompt, in a line of JSON.
// Pure. It never judges what a text means; it only takes away the power to act on the reader.

const stringSequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u0018\u001a\u001b\u009c\n]*(?:[\u0007\u0018\u001a\u009c]|\u001b\\)?/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const controlSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const shortSequence = /\u001b[ -/]*[0-~]?/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const strayControl = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Removes everything by which text can act on a terminal: escape sequences (a cut-off one too), other
 * control characters except newline and tab, and the marks that reorder what is displayed.
 * An unterminated OSC, DCS or APC string ends at its line's end: a terminal would swallow more, but then
 * one stray byte could hide the rest of a text from the human.
 */
export function stripTerminalControls(text: string): string {
  return text
    .replace(stringSequence, '')
    .replace(controlSequence, '')
    .replace(shortSequence, '')
    .replace(strayControl, '');
}

/** Made when it is first needed: making it costs more than the start of a hook may. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** One line of at most `maxLength` UTF-16 units, the closing … included; no character is cut in two. */
export function oneLine(text: string, maxLength: number): string {
  const spaced = text.replace(/[\r\v\f\u0085]/gu, ' ');
  const line = stripTerminalControls(spaced).replace(/\s+/gu, ' ').trim();
  if (line.length <= maxLength) return line;
  if (maxLength < 1) return '';
  // Where a character ends depends on the code point after it and on nothing further right.
  const reach = graphemesOf(line.slice(0, maxLength + 2)).containing(maxLength - 1);
  return `${line.slice(0, reach?.index ?? 0).trimEnd()}…`;
}

/** Long enough for any honest title, too short for a page of instructions. */
const quotedLength = 200;

/**
 * Quotes a stranger's text inside a prompt. Between the quotes stand no tag, no code fence, no second
 * line, no invisible letter and no quotation mark, so that the text can neither close our tags nor its
 * own quotes. What is replaced keeps its look: people and models still read the same words.
 */
export function quoteForModel(text: string, maxLength: number = quotedLength): string {
  const visible = text.replace(/[\u{e0000}-\u{e007f}]/gu, '');
  const tame = visible
    .replace(/[<\uff1c\ufe64]/gu, '‹')
    .replace(/[>\uff1e\ufe65]/gu, '›')
    .replace(/[`"\u201c-\u201f\u00ab\u00bb\uff02\uff40]/gu, "'");
  return `“${oneLine(tame, maxLength)}”`;
}

/**
 * Takes the JSON text of one value and returns the same value on one line that a terminal can show as it
 * is: what JSON leaves unescaped inside strings (DEL, C1, line separators, reordering marks) is escaped.
 */
export function escapeJsonLine(json: string): string {
  // Outside strings JSON knows no control character but these three; inside strings it has none at all.
  return json
    .replace(/[\n\r\t]/gu, ' ')
    .replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escapeCodeUnit);
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

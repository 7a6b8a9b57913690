// Makes hostile text safe to show: in a terminal, a prompt, a line of JSON or of
// Markdown, to a human who approves it.
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what this removes

const stringSequence =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u0018\u001a\u001b\u009c\n]*(?:[\u0007\u0018\u001a\u009c]|\u001b\\)?/gu;
const controlSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/gu;
const shortSequence = /\u001b[ -/]*[0-~]?/gu;
const strayControl =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * All but newline and tab. An unterminated string ends with its line: else one stray byte
 * could hide the rest.
 */
export function stripTerminalControls(text: string): string {
  return text
    .replace(stringSequence, '')
    .replace(controlSequence, '')
    .replace(shortSequence, '')
    .replace(strayControl, '');
}

/** Made on first use: it costs more than the start of a hook may. */
let segmenter: Intl.Segmenter | null = null;

/** At most `maxLength` UTF-16 units with the closing …; no character is cut in two. */
export function oneLine(text: string, maxLength: number): string {
  const spaced = text.replace(/[\r\v\f\u0085]/gu, ' ');
  const line = stripTerminalControls(spaced).replace(/\s+/gu, ' ').trim();
  if (line.length <= maxLength) return line;
  if (maxLength < 1) return '';
  // Where a character ends depends on nothing further right than the next code point.
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  const reach = segmenter.segment(line.slice(0, maxLength + 2)).containing(maxLength - 1);
  return `${line.slice(0, reach?.index ?? 0).trimEnd()}…`;
}

/** Enough for any honest title, too short for a page of instructions. */
const quotedLength = 200;

/**
 * A stranger's text can close neither our tags nor its quotes. What is replaced keeps its
 * look.
 */
export function quoteForModel(text: string, maxLength: number = quotedLength): string {
  const tame = text
    .replace(/[\u{e0000}-\u{e007f}]/gu, '')
    .replace(/[<\uff1c\ufe64]/gu, '‹')
    .replace(/[>\uff1e\ufe65]/gu, '›')
    .replace(/[`"\u201c-\u201f\u00ab\u00bb\uff02\uff40]/gu, "'");
  return `“${oneLine(tame, maxLength)}”`;
}

/**
 * The same value on one line; DEL, C1, line separators and reordering marks are escaped
 * too.
 */
export function escapeJsonLine(json: string): string {
  // Outside strings JSON knows no control character but these three; inside strings it
  // has none.
  return json
    .replace(/[\n\r\t]/gu, ' ')
    .replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escapeCodeUnit);
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * A name with a newline could pose as a second result: what is not plain is shown as
 * JSON.
 */
export function displayName(name: string): string {
  const plain =
    stripTerminalControls(name) === name &&
    !/[\n\t\u2028\u2029"'`<>\\\p{Surrogate}]|^[\s-]|\s$|^$/u.test(name);
  if (plain) return name;
  return escapeJsonLine(JSON.stringify(name)).replace(/[<>]/gu, escapeCodeUnit);
}

/**
 * Inside a line of Markdown: no mark-up, link, HTML or table cell of its own; no `@name`
 * that calls people and no `#1` that closes an issue, which need a letter without width,
 * since escapes do not stop them.
 */
export function markdownText(text: string, maxLength: number): string {
  return oneLine(text.slice(0, maxLength * 16), maxLength)
    .replace(/&/gu, '&amp;')
    .replace(/[\\`*_[\]<>|~]/gu, '\\$&')
    .replace(/:(?=\/\/)/gu, '\\:')
    .replace(/[@#](?=\S)|\bwww(?=\.)|\bGH(?=-\d)/giu, '$&\u200b')
    .replace(/^(?:[-+=#]|\d+(?=[.)]))/u, '\\$&');
}

/**
 * As code: what stands in it is never read as anything else, whatever quotes it has. A
 * bar would end a table's cell.
 */
export function markdownCode(text: string, inTable = false): string {
  const line = oneLine(text.slice(0, 4000), quotedLength);
  const longest = Math.max(0, ...[...line.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  // A backslash before a bar would escape our own, and the bar end the cell.
  const inCell = line.replaceAll('\\|', '\\\u200b|').replaceAll('|', '\\|');
  return `${fence}${pad}${inTable ? inCell : line}${pad}${fence}`;
}

/**
 * Controls, marks that reorder, letters without a shape, odd spaces, halves of
 * characters.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu;
const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * For what a human is asked to approve. Line breaks hide nothing where each line stands
 * on its own.
 */
export function hasHidden(text: string): boolean {
  return visibleLines(text).join('\n') !== text;
}

/** Nothing is taken away: an escape is `\x1b`, a mark that reorders `\u202e`. */
export function visibleLine(text: string): string {
  return text.replace(hidden, escaped);
}

export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

/** Every other letter is named, since a guess would be another command. */
export function asciiOnly(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, escaped);
}

function escaped(character: string): string {
  const name = names[character];
  if (name !== undefined) return name;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\u{${code.toString(16)}}`;
}

/**
 * Question marks of all scripts, and particles that close a question where none is
 * written.
 */
const questionEnd =
  /(?:[?\uff1f\u061f\u055e\u037e\u2047\u2048]|(?:ます|です|しょう|ません)か[。.]?|[吗嗎][。.]?)$/u;
const trailing =
  /(?:[\s"'”’»)\]}*_~!！」』）]|\p{Extended_Pictographic}|\u{fe0f}|\u{200d})+$/u;

/** The end decides; reading more would cost time for nothing. */
const tailLength = 500;

/** G11: by punctuation only; a question in code or in the middle is none. */
export function endsInQuestion(text: string): boolean {
  const tail = text.slice(-tailLength).trimEnd();
  if (tail.endsWith('```')) return false;
  return questionEnd.test(tail.replace(trailing, ''));
}

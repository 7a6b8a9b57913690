// Makes hostile text safe to show: in a terminal, a prompt, a line of JSON or Markdown,
// or to a human who approves it.
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what this removes

const stringSequence =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u0018\u001a\u001b\u009c\n]*(?:[\u0007\u0018\u001a\u009c]|\u001b\\)?/gu;
const controlSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/gu;
const shortSequence = /\u001b[ -/]*[0-~]?/gu;
const strayControl =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Removes all control sequences, but no newline and no tab. An unterminated string ends
 * with its line, because one stray byte could otherwise hide the rest.
 */
export function stripTerminalControls(text: string): string {
  return text
    .replace(stringSequence, '')
    .replace(controlSequence, '')
    .replace(shortSequence, '')
    .replace(strayControl, '');
}

/** Made when it is first needed: it costs more than the start of a hook may. */
let segmenter: Intl.Segmenter | null = null;

/**
 * The text on one line, with at most `maxLength` UTF-16 units including the closing …; no
 * character is cut in two.
 */
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

/** Long enough for any honest title, too short for a page of instructions. */
const quotedLength = 200;

/**
 * Quotes a stranger's text so that it can close neither our tags nor its quotes. The
 * replacements look like the originals.
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
 * The same JSON value on one line. DEL, C1, line separators and marks that reorder text
 * are escaped too.
 */
export function escapeJsonLine(json: string): string {
  // Outside strings JSON has only these three control characters, and inside none.
  return json
    .replace(/[\n\r\t]/gu, ' ')
    .replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, escapeCodeUnit);
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * A name that is safe to print. With a newline it could pose as a second result, so a
 * name that is not plain is shown as JSON.
 */
export function displayName(name: string): string {
  const plain =
    stripTerminalControls(name) === name &&
    !/[\n\t\u2028\u2029"'`<>\\\p{Surrogate}]|^[\s-]|\s$|^$/u.test(name);
  if (plain) return name;
  return escapeJsonLine(JSON.stringify(name)).replace(/[<>]/gu, escapeCodeUnit);
}

/**
 * A text inside a line of Markdown: no mark-up, link, HTML or table cell of its own, no
 * `@name` that calls people and no `#1` that closes an issue. Escapes do not stop the
 * last two, so they get a letter without width.
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
 * A text as Markdown code: it is never read as anything else, whatever quotes it has. In
 * a table, a bar would end the cell.
 */
export function markdownCode(text: string, inTable = false): string {
  const line = oneLine(text.slice(0, 4000), quotedLength);
  const longest = Math.max(0, ...[...line.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  // A backslash before a bar would escape our own backslash, and the bar would end the
  // cell.
  const inCell = line.replaceAll('\\|', '\\\u200b|').replaceAll('|', '\\|');
  return `${fence}${pad}${inTable ? inCell : line}${pad}${fence}`;
}

/**
 * Controls, marks that reorder text, letters without a shape, odd spaces, halves of
 * characters.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/gu;
const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Whether a text that a human is to approve has hidden characters. Line breaks hide
 * nothing if each line is shown on its own.
 */
export function hasHidden(text: string): boolean {
  return visibleLines(text).join('\n') !== text;
}

/**
 * Shows hidden characters and takes none away: an escape is `\x1b`, a mark that reorders
 * is `\u202e`.
 */
export function visibleLine(text: string): string {
  return text.replace(hidden, escapeCharacter);
}

/** The lines of a text, each with its hidden characters shown. */
export function visibleLines(text: string): string[] {
  return text.split('\n').map(visibleLine);
}

/**
 * Shows every character outside ASCII by its code, since a guess would be another
 * command.
 */
export function asciiOnly(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const name = names[character];
  if (name !== undefined) return name;
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\u{${code.toString(16)}}`;
}

/**
 * Question marks of all scripts, and particles that close a question where no mark is
 * usual.
 */
const questionEnd =
  /(?:[?\uff1f\u061f\u055e\u037e\u2047\u2048]|(?:ます|です|しょう|ません)か[。.]?|[吗嗎][。.]?)$/u;
const trailing =
  /(?:[\s"'”’»)\]}*_~!！」』）]|\p{Extended_Pictographic}|\u{fe0f}|\u{200d})+$/u;

/** In UTF-16 units. The end decides, and reading more would only cost time. */
const tailLength = 500;

/**
 * Whether a text ends in a question, by punctuation only. A question in code or in the
 * middle is none (G11).
 */
export function endsInQuestion(text: string): boolean {
  const tail = text.slice(-tailLength).trimEnd();
  if (tail.endsWith('```')) return false;
  return questionEnd.test(tail.replace(trailing, ''));
}

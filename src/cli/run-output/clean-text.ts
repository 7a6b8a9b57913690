// Makes a stranger's text fit for the output of a run: on one line, or piece by piece as it is streamed.
// What is removed is decided in core/safe-text.ts; this adds the seams between pieces and the ASCII fallback.
import { oneLine, stripTerminalControls } from '../../core/safe-text.ts';

/** How much of a text is looked at for each letter that may be shown: the rest can be escape sequences. */
const lookedAt = 16;

/**
 * A stranger's text on one line; in ASCII where the terminal reads nothing else. Of a very long text only the start
 * is looked at: a title of a megabyte must not hold up a run.
 */
export function cleanLine(text: string, maxLength: number, unicode: boolean): string {
  const line = oneLine(text.slice(0, maxLength * lookedAt), maxLength);
  return unicode ? line : toAscii(line);
}

const spellings: Readonly<Record<string, string>> = {
  '…': '...',
  '→': '->',
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '‹': '<',
  '›': '>',
  '«': '<<',
  '»': '>>',
  '‐': '-',
  '‑': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '•': '*',
  '·': '-',
  '×': 'x',
  ß: 'ss',
};

/** Every other letter is shown without its accents or as `?`: a byte above 127 may be a command to the terminal. */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[^\p{ASCII}]/gu, (letter) => spellings[letter] ?? '?');
}

/** Takes pieces and returns what of them can be shown already. */
export interface TextCleaner {
  push(piece: string): string;
  /** Forgets a sequence that was never finished. */
  reset(): void;
}

/** Half a character, or a line break whose second half may follow. */
const splitEnd = /[\ud800-\udbff\r]$/;
/** An escape sequence that the piece does not finish. No part of it can hold an opening again: that keeps it linear. */
const openSequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  /(?:(?<string>\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u0018\u001a\u001b\u0090\u0098\u009c-\u009f\n]*(?<end>\u001b?)|(?<control>\u001b\[|\u009b)[0-?]*(?<middle>[ -/]?)[ -/]*|(?<short>\u001b)[ -/]*)$/;

/**
 * An escape sequence that is spread over pieces is removed like one that is not. Only its opening is remembered,
 * never its content, so that a sequence without an end costs nothing.
 */
export function createTextCleaner(unicode: boolean): TextCleaner {
  let carried = '';
  return {
    push(piece) {
      const raw = carried + piece;
      const open = openSequence.exec(raw) ?? splitEnd.exec(raw);
      carried = open === null ? '' : remembered(open);
      const whole = open === null ? raw : raw.slice(0, open.index);
      const broken = whole.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n').replaceAll('\t', '    ');
      const text = stripTerminalControls(broken);
      return unicode ? text : toAscii(text);
    },
    reset() {
      carried = '';
    },
  };
}

function remembered({ 0: found, groups = {} }: RegExpExecArray): string {
  const { string, end, control, middle, short } = groups;
  if (string !== undefined) return `${string}${end}`;
  if (control !== undefined) return `${control}${middle}`;
  return short === undefined ? found : found.slice(0, 2);
}

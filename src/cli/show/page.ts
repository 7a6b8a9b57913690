// What is shown is drawn on a page: its width, its colours, its signs. Every way to put a
// stranger's text on it cleans the text first (core/safe-text.ts says of what), so that
// no caller can forget to.
import truncatedWidth from 'fast-string-truncated-width';
import displayWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { pickFailedLines } from '../../core/failed-lines.ts';
import { oneLine, stripTerminalControls } from '../../core/safe-text.ts';
import type { Io } from '../io.ts';
import { createPaint, hasColor, type Style } from '../print.ts';

/** The text itself, or its start and the ellipsis, in at most `width` columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  const mark = displayWidth(ellipsis) < width ? ellipsis : '';
  const { index, truncated } = truncatedWidth(text, {
    limit: Math.max(1, width),
    ellipsis: mark,
  });
  if (!truncated) return text;
  // Never half a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(index - 1)) ? index - 1 : index;
  return `${text.slice(0, end).trimEnd()}${mark}`;
}

/**
 * How much of a text is looked at for each letter that may be shown: the rest can be
 * escape sequences.
 */
const lookedAt = 16;

/**
 * A stranger's text on one line; in ASCII where the terminal reads nothing else. Of a
 * very long text only the start is looked at: a title of a megabyte must not hold up a
 * run.
 */
export function cleanLine(text: string, maxLength: number, unicode: boolean): string {
  const line = oneLine(text.slice(0, maxLength * lookedAt), maxLength);
  return unicode ? line : toAscii(line);
}

/** A stranger's text in its lines. */
export function cleanLines(text: string, unicode: boolean): string {
  const broken = text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n')
    .replaceAll('\t', '    ');
  const clean = stripTerminalControls(broken);
  return unicode ? clean : toAscii(clean);
}

/** The last lines of an output that say something. */
export function lastLines(text: string, most: number, unicode: boolean): string[] {
  const lines = cleanLines(text.slice(-most * 1000), unicode).split('\n');
  return lines.filter((line) => line.trim() !== '').slice(-most);
}

const spellings: Readonly<Record<string, string>> = {
  '…': '...',
  '→': '->',
  '‐': '-',
  '‑': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '·': '-',
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
  '•': '*',
  '×': 'x',
  ß: 'ss',
};

/**
 * Every other letter is shown without its accents or as `?`: a byte above 127 may be a
 * command to the terminal.
 */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[^\p{ASCII}]/gu, (letter) => spellings[letter] ?? '?');
}

/**
 * All but the hand, which is to be seen, are one column wide: terminals disagree about
 * the width of emoji.
 */
const unicodeSigns = {
  start: '»',
  call: '·',
  ok: '✓',
  failed: '✗',
  refused: '✋',
  continuation: '↻',
  waiting: '…',
  error: '!',
  notice: '•',
  margin: '│',
  checked: '█',
  claimed: '▒',
  open: '░',
  ellipsis: '…',
  arrow: '→',
  separator: '·',
  minus: '−',
  prompt: '›',
  cursor: '▏',
  rule: '─',
  scroll: '↑↓',
};

const asciiSigns: typeof unicodeSigns = {
  start: '>',
  call: '-',
  ok: 'ok',
  failed: 'failed',
  refused: '!!',
  continuation: '>>',
  waiting: '..',
  error: '!',
  notice: '*',
  margin: '|',
  checked: '#',
  claimed: '=',
  open: '.',
  ellipsis: '...',
  arrow: '->',
  separator: '-',
  minus: '-',
  prompt: '>',
  cursor: '_',
  rule: '-',
  scroll: 'up/down',
};

/** How a terminal looks. */
export interface Look {
  /** Null: none is known, and lines are not wrapped. */
  readonly columns: number | null;
  readonly color: boolean;
  readonly unicode: boolean;
}

/** Of this process; the width is that of the moment. */
export function lookOf({ isTTY, env }: Pick<Io, 'isTTY' | 'env'>): Look {
  return {
    get columns() {
      return isTTY ? (process.stdout.columns ?? null) : null;
    },
    color: hasColor({ isTTY, env }),
    unicode: isUnicodeLocale(env),
  };
}

/**
 * A locale that names another encoding (or plain `C`) is believed: to a Latin-1 terminal
 * some bytes of UTF-8 are control characters. Where nothing is said at all (containers,
 * Windows) UTF-8 is by far the likelier.
 */
export function isUnicodeLocale(
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return locale === '' || /utf-?8/i.test(locale);
}

export interface Entry {
  /** Absent: none. */
  readonly mark?: string;
  readonly markStyle?: Style;
  readonly text: string;
  readonly style?: Style;
  readonly indent?: number;
  /** How much further in the second and later lines start. */
  readonly hang?: number;
  /** Cut to one line instead of being wrapped. */
  readonly cut?: boolean;
}

export type Page = ReturnType<typeof createPage>;

/**
 * Narrower than this nothing can be laid out; the terminal then breaks the lines itself.
 */
const narrowest = 20;
/** Long enough for any honest sentence or title with its reason. */
const longestEntry = 600;
/** A cut line where no width is known: a log is read by eyes too. */
const cutWithoutWidth = 160;

/**
 * Its width is that of the look at each moment, `less` columns less: a terminal can be
 * resized.
 */
export function createPage(look: Look, less = 0) {
  const { color, unicode } = look;
  const signs = unicode ? unicodeSigns : asciiSigns;
  const paint = createPaint(color);
  /** A stranger's text on one line, cut to a width. */
  const clip = (text: string, room: number): string =>
    cutToWidth(
      cleanLine(text, Math.max(longestEntry, room * 2), unicode),
      room,
      signs.ellipsis,
    );
  const page = {
    /** Null: not wrapped. */
    get width(): number | null {
      const { columns } = look;
      return columns === null || columns < 1
        ? null
        : Math.max(narrowest, Math.floor(columns) - less);
    },
    unicode,
    color,
    signs,
    paint,
    clip,
    /** A mark, and beside it a text in as many lines as it needs. */
    entry({
      mark = '',
      markStyle,
      text,
      style,
      indent = 0,
      hang = 0,
      cut = false,
    }: Entry): string[] {
      const lead = mark === '' ? indent : indent + displayWidth(mark) + 1;
      const room = page.width === null ? null : Math.max(1, page.width - lead - hang);
      const whole = cut
        ? clip(text, room ?? cutWithoutWidth)
        : cleanLine(text, longestEntry, unicode);
      const shownMark = markStyle === undefined ? mark : paint(markStyle, mark);
      return wrap(whole, room).map((line, index) => {
        const first =
          mark === '' ? ' '.repeat(lead) : `${' '.repeat(indent)}${shownMark} `;
        const start = index > 0 ? ' '.repeat(lead + hang) : first;
        return `${start}${style === undefined ? line : paint(style, line)}`.trimEnd();
      });
    },
  };
  return page;
}

/** `width` null: the lines that it has. A word that is too long is broken. */
export function wrap(text: string, width: number | null): string[] {
  return (width === null ? text : wrapAnsi(text, width, { hard: true })).split('\n');
}

/** `+12 −3` lines, in colour. */
export function changeSize(
  { paint, signs }: Page,
  changes: readonly { readonly added: number; readonly removed: number }[],
): string {
  const sum = (of: 'added' | 'removed'): number =>
    changes.reduce((total, change) => total + change[of], 0);
  const parts = [
    sum('added') > 0 || sum('removed') === 0 ? paint('green', `+${sum('added')}`) : '',
  ];
  if (sum('removed') > 0) parts.push(paint('red', `${signs.minus}${sum('removed')}`));
  return parts.filter((part) => part !== '').join(' ');
}

/** The first `most` of them, and how many more there are. */
export function upTo<T>(
  page: Page,
  items: readonly T[],
  most: number,
  draw: (item: T) => string | string[],
) {
  const hidden = items.length - most;
  const more =
    hidden > 0 ? page.entry({ indent: 2, text: `and ${hidden} more`, style: 'dim' }) : [];
  return [...items.slice(0, most).flatMap(draw), ...more];
}

/** The lines of a failed check's output that say what failed, behind a margin. */
export function failedLinesOf(page: Page, output: string, most: number): string[] {
  return pickFailedLines(output, most).flatMap((text) =>
    page.entry({
      mark: page.signs.margin,
      markStyle: 'red',
      indent: 2,
      text,
      style: 'dim',
      cut: true,
    }),
  );
}

// A page is where text is drawn: its width, its colours, its signs. Every way to put a
// text of the model, a tool or a host on it cleans the text first (core/safe-text.ts says
// how), so that no caller can forget it.
import truncatedWidth from 'fast-string-truncated-width';
import displayWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { pickFailedLines } from '../../core/failed-lines.ts';
import { oneLine, stripTerminalControls } from '../../core/safe-text.ts';
import type { Io } from '../io.ts';
import { createPaint, hasColor, type Style } from '../print.ts';

/** Returns the text, or its start with the ellipsis, in at most `width` columns. */
export function cutToWidth(text: string, width: number, ellipsis: string): string {
  const mark = displayWidth(ellipsis) < width ? ellipsis : '';
  const { index, truncated } = truncatedWidth(text, {
    limit: Math.max(1, width),
    ellipsis: mark,
  });
  if (!truncated) return text;
  // Never cuts a character in half.
  const end = /[\ud800-\udbff]/.test(text.charAt(index - 1)) ? index - 1 : index;
  return `${text.slice(0, end).trimEnd()}${mark}`;
}

/**
 * How many letters of a text are read for each letter shown: the rest can be escape
 * sequences.
 */
const readPerShownLetter = 16;

/**
 * Cleans a foreign text and puts it on one line; in ASCII if the terminal reads nothing
 * else. Only the start of a very long text is read: a title of a megabyte must not hold
 * up a run.
 */
export function cleanLine(text: string, maxLength: number, unicode: boolean): string {
  const line = oneLine(text.slice(0, maxLength * readPerShownLetter), maxLength);
  return unicode ? line : toAscii(line);
}

/** Cleans a foreign text and keeps its lines. */
export function cleanLines(text: string, unicode: boolean): string {
  const broken = text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n')
    .replaceAll('\t', '    ');
  const clean = stripTerminalControls(broken);
  return unicode ? clean : toAscii(clean);
}

/** The last lines of an output that are not blank. */
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
 * Spells a text in ASCII: a letter without its accents, or `?`. A terminal that does not
 * read UTF-8 may take a byte above 127 for a command.
 */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/[^\p{ASCII}]/gu, (letter) => spellings[letter] ?? '?');
}

/**
 * All signs but the hand, which must catch the eye, are one column wide: terminals
 * disagree about the width of emoji.
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
export interface TerminalStyle {
  /** Null: the width is unknown, and lines are not wrapped. */
  readonly columns: number | null;
  readonly color: boolean;
  readonly unicode: boolean;
}

/**
 * The look of this process's terminal; `columns` is its width at the moment of reading.
 */
export function readTerminalStyle({
  isTTY,
  env,
}: Pick<Io, 'isTTY' | 'env'>): TerminalStyle {
  return {
    get columns() {
      return isTTY ? (process.stdout.columns ?? null) : null;
    },
    color: hasColor({ isTTY, env }),
    unicode: isUnicodeLocale(env),
  };
}

/**
 * Whether the locale reads UTF-8. A locale that names another encoding (or plain `C`) is
 * believed: a Latin-1 terminal takes some bytes of UTF-8 for control characters. If no
 * locale is set (containers, Windows), UTF-8 is by far the likelier.
 */
export function isUnicodeLocale(
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return locale === '' || /utf-?8/i.test(locale);
}

export interface Entry {
  /** Absent: no mark. */
  readonly mark?: string;
  readonly markStyle?: Style;
  readonly text: string;
  readonly style?: Style;
  readonly indent?: number;
  /** How much further to the right the second and later lines start. */
  readonly hang?: number;
  /** Cut to one line instead of wrapped. */
  readonly cut?: boolean;
}

export type Page = ReturnType<typeof createPage>;

/**
 * Nothing can be laid out on a narrower page; the terminal then breaks the lines itself.
 */
const narrowestPage = 20;
/** Long enough for any honest sentence or title with its reason. */
const longestEntry = 600;
/** Where a line is cut if the width is unknown: people read logs too. */
const cutWithoutWidth = 160;

/**
 * Opens a page on a terminal. Its width follows the terminal, which can be resized, and
 * is `less` columns smaller.
 */
export function createPage(look: TerminalStyle, less = 0) {
  const { color, unicode } = look;
  const signs = unicode ? unicodeSigns : asciiSigns;
  const paint = createPaint(color);
  /** Cleans a foreign text and cuts it to a width on one line. */
  const clip = (text: string, room: number): string =>
    cutToWidth(
      cleanLine(text, Math.max(longestEntry, room * 2), unicode),
      room,
      signs.ellipsis,
    );
  const page = {
    /** Null: lines are not wrapped. */
    get width(): number | null {
      const { columns } = look;
      return columns === null || columns < 1
        ? null
        : Math.max(narrowestPage, Math.floor(columns) - less);
    },
    unicode,
    color,
    signs,
    paint,
    clip,
    /** A mark and a text beside it, in as many lines as the text needs. */
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
      return wrapText(whole, room).map((line, index) => {
        const first =
          mark === '' ? ' '.repeat(lead) : `${' '.repeat(indent)}${shownMark} `;
        const start = index > 0 ? ' '.repeat(lead + hang) : first;
        return `${start}${style === undefined ? line : paint(style, line)}`.trimEnd();
      });
    },
  };
  return page;
}

/**
 * Breaks a text into lines, and a word that is too long as well. `width` null: only at
 * its own line breaks.
 */
export function wrapText(text: string, width: number | null): string[] {
  return (width === null ? text : wrapAnsi(text, width, { hard: true })).split('\n');
}

/** `+12 −3` lines, coloured. */
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

/** Draws the first `most` items and says how many more there are. */
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

/** The lines of a check's output that say what failed, behind a margin. */
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

// What the lines of a run are drawn on: its width, its colours, its signs. The two ways to draw a line go through here
// and clean the text themselves, so that no caller can forget to.
import { styleText } from 'node:util';
import type { Paint, Style } from '../print.ts';
import { cleanLine } from './clean-text.ts';
import { cutToWidth, displayWidth } from './display-width.ts';
import { asciiSigns, type Signs, unicodeSigns } from './signs.ts';
import { createTextFlow } from './text-flow.ts';

export interface PageOptions {
  /** Of the terminal; null: none is known, and lines are not wrapped. */
  readonly columns: number | null;
  readonly color: boolean;
  readonly unicode: boolean;
}

export interface Entry {
  readonly mark: string;
  readonly markStyle?: Style;
  readonly text: string;
  readonly style?: Style;
  readonly indent?: number;
  /** How much further in the second and later lines start. */
  readonly hang?: number;
  /** Cut to one line instead of being wrapped. */
  readonly cut?: boolean;
}

export interface Page {
  /** Null: not wrapped. */
  readonly width: number | null;
  readonly unicode: boolean;
  readonly signs: Signs;
  readonly paint: Paint;
  /** A stranger's text on one line, cut to a width. */
  clip(text: string, width: number): string;
  /** A mark, and beside it a text in as many lines as it needs. */
  entry(entry: Entry): string[];
}

/** Narrower than this nothing can be laid out; the terminal then breaks the lines itself. */
const narrowest = 20;
/** Long enough for any honest sentence or title with its reason. */
const longestEntry = 600;
/** A cut line where no width is known: a log is read by eyes too. */
const cutWithoutWidth = 160;

/** Its width is that of the options at each moment: a terminal can be resized. */
export function createPage(options: PageOptions): Page {
  const { color, unicode } = options;
  const currentWidth = (): number | null => {
    const { columns } = options;
    return columns === null || columns < 1 ? null : Math.max(narrowest, Math.floor(columns));
  };
  const signs = unicode ? unicodeSigns : asciiSigns;
  const paint: Paint = color
    ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
    : (_style, text) => text;
  const clip = (text: string, room: number): string =>
    cutToWidth(cleanLine(text, Math.max(longestEntry, room * 2), unicode), room, signs.ellipsis);
  return {
    get width() {
      return currentWidth();
    },
    unicode,
    signs,
    paint,
    clip,
    entry({ mark, markStyle, text, style, indent = 0, hang = 0, cut = false }) {
      const width = currentWidth();
      const lead = mark === '' ? indent : indent + displayWidth(mark) + 1;
      const room = width === null ? null : Math.max(1, width - lead - hang);
      const lines = cut
        ? [clip(text, room ?? cutWithoutWidth)]
        : wrap(cleanLine(text, longestEntry, unicode), room);
      const shownMark = markStyle === undefined ? mark : paint(markStyle, mark);
      return lines.map((line, index) => {
        const start =
          index > 0
            ? ' '.repeat(lead + hang)
            : mark === ''
              ? ' '.repeat(lead)
              : `${' '.repeat(indent)}${shownMark} `;
        return `${start}${style === undefined ? line : paint(style, line)}`.trimEnd();
      });
    },
  };
}

function wrap(line: string, width: number | null): string[] {
  const parts: string[] = [];
  const flow = createTextFlow({ width, margin: '', emit: (text) => parts.push(text) });
  flow.push(line);
  flow.end();
  return parts.join('').split('\n');
}

// One line of the living part, made of pieces with their styles, never wider than the terminal. Every piece is cleaned
// here, so that no caller can forget to.
import type { Style } from '../print.ts';
import { cutToWidth, displayWidth } from '../run-output/display-width.ts';
import type { Page } from '../run-output/page.ts';

export type Piece = string | readonly [text: string, style: Style];

/** Pieces are joined by one space; those that are empty are left out, and the first that does not fit is cut. */
export function styledLine(page: Page, pieces: readonly Piece[], indent = 0): string {
  const width = lineWidth(page);
  let used = Math.min(indent, width - 1);
  let line = ' '.repeat(used);
  let isFirst = true;
  for (const piece of pieces) {
    const [text, style] = typeof piece === 'string' ? [piece, null] : piece;
    const gap = isFirst ? 0 : 1;
    const room = width - used - gap;
    if (room < 1) break;
    const shown = page.clip(text, room);
    if (shown === '') continue;
    line += ' '.repeat(gap) + (style === null ? shown : page.paint(style, shown));
    used += gap + displayWidth(shown);
    isFirst = false;
  }
  return line;
}

/** As many of the parts as fit, in their order, with a sign between them; the first is cut rather than left out. */
export function partsLine(page: Page, parts: readonly string[], style: Style): string {
  const width = lineWidth(page);
  const between = ` ${page.signs.separator} `;
  let line = '';
  for (const part of parts) {
    const shown = page.clip(part, width);
    if (shown === '') continue;
    const longer = line === '' ? shown : `${line}${between}${shown}`;
    if (line === '' || displayWidth(longer) <= width) line = longer;
  }
  return page.paint(style, cutToWidth(line, width, page.signs.ellipsis));
}

/** The last column stays free: some terminals wrap when it is written to. */
export function lineWidth({ width }: Page): number {
  return Math.max(1, (width ?? 80) - 1);
}

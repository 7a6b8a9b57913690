// Lays out what the agent says, which is Markdown, as lines for a terminal, with the
// parser that also reads plan files. The text was cleaned before; the parser decodes
// entities, so the result is cleaned again.
import displayWidth from 'fast-string-width';
import MarkdownIt, { type Token } from 'markdown-it';
import { stripTerminalControls } from '../../core/safe-text.ts';
import { plainSpeech, type RenderSpeech } from './lines.ts';
import { type Page, toAscii, wrapText } from './page.ts';

const parser = new MarkdownIt();
/** A rule across the page says no more than a short one. */
const widestRule = 40;

/**
 * Renders Markdown. If the parser finds nothing that it can lay out, the text stays as it
 * is.
 */
export const renderMarkdown: RenderSpeech = (text, page, width) => {
  const lines = drawBlocks(parser.parse(text, {}), page, width);
  return lines.length === 0 ? plainSpeech(text, page, width) : lines;
};

function drawBlocks(
  tokens: readonly Token[],
  page: Page,
  width: number | null,
): string[] {
  const lines: string[] = [];
  let end = -1;
  for (const [index, token] of tokens.entries()) {
    if (index <= end) continue;
    end = token.nesting === 1 ? closingOf(tokens, token, index) : index;
    lines.push(...drawBlock(token, tokens.slice(index + 1, end), page, width));
  }
  return lines;
}

function drawBlock(
  token: Token,
  inner: readonly Token[],
  page: Page,
  width: number | null,
): string[] {
  const { signs, paint, color } = page;
  switch (token.type) {
    case 'heading_open': {
      const text = drawInline(inner[0], page);
      return wrapText(color ? paint('bold', text) : `${token.markup} ${text}`, width);
    }
    case 'paragraph_open':
      return wrapText(drawInline(inner[0], page), width);
    case 'fence':
    case 'code_block':
      return indentLines(token.content.replace(/\n$/u, '').split('\n'), '  ', width);
    case 'blockquote_open':
      return indentLines(
        drawBlocks(inner, page, narrowBy(width, 2)),
        paint('dim', '> '),
        null,
      );
    case 'bullet_list_open':
    case 'ordered_list_open':
      return drawList(token, inner, page, width);
    case 'hr':
      return [paint('dim', signs.rule.repeat(Math.min(width ?? widestRule, widestRule)))];
    case 'table_open':
      return drawTable(inner, page, width);
    default:
      return token.content === '' ? [] : wrapText(cleanText(token.content, page), width);
  }
}

function closingOf(tokens: readonly Token[], { level }: Token, open: number): number {
  const isEnd = (token: Token, index: number): boolean =>
    index > open && token.level === level && token.nesting === -1;
  const close = tokens.findIndex(isEnd);
  return close === -1 ? tokens.length : close;
}

function narrowBy(width: number | null, by: number): number | null {
  return width === null ? null : Math.max(8, width - by);
}

/** Indents lines by `lead`. `width` null: the lines already fit. */
function indentLines(
  lines: readonly string[],
  lead: string,
  width: number | null,
): string[] {
  const room = narrowBy(width, 2);
  return lines
    .flatMap((line) => (room === null ? [line] : wrapCode(line, room)))
    .map((line) => lead + line);
}

/** Wraps a line of code and keeps its indentation. */
function wrapCode(line: string, room: number): string[] {
  const indent = /^ */u.exec(line)?.[0] ?? '';
  return displayWidth(line) <= room
    ? [line]
    : wrapText(line, Math.max(8, room - indent.length)).map((part) => indent + part);
}

function drawList(
  token: Token,
  inner: readonly Token[],
  page: Page,
  width: number | null,
): string[] {
  const start = Number(token.attrGet('start') ?? 1);
  const lines: string[] = [];
  let number = start - 1;
  for (const [index, item] of inner.entries()) {
    if (item.type !== 'list_item_open' || item.level !== token.level + 1) continue;
    number += 1;
    const mark =
      token.type === 'ordered_list_open' ? `${number}. ` : `${page.unicode ? '•' : '*'} `;
    const drawn = drawBlocks(
      inner.slice(index + 1, closingOf(inner, item, index)),
      page,
      narrowBy(width, mark.length),
    );
    const lead = ' '.repeat(mark.length);
    lines.push(
      ...(drawn.length === 0 ? [''] : drawn).map(
        (line, at) => (at === 0 ? mark : lead) + line,
      ),
    );
  }
  return lines;
}

/**
 * Columns as wide as their cells. If the page is too narrow, the widest columns shrink
 * and their cells are wrapped.
 */
function drawTable(inner: readonly Token[], page: Page, width: number | null): string[] {
  const { paint, signs } = page;
  const rows: string[][] = [];
  for (const token of inner) {
    if (token.type === 'tr_open') rows.push([]);
    if (token.type === 'inline') rows.at(-1)?.push(drawInline(token, page));
  }
  const columns = Math.max(...rows.map((row) => row.length));
  // Too narrow for columns: each row is one line.
  if (width !== null && columns * 7 > width)
    return rows.flatMap((row) => wrapText(row.join(' | '), width));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...rows.map((row) => displayWidth(row[at] ?? ''))),
  );
  const sum = (): number => widths.reduce((total, each) => total + each, 0);
  const room =
    width === null
      ? Number.POSITIVE_INFINITY
      : Math.max(columns * 4, width - 3 * (columns - 1));
  while (sum() > room) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  const between = ` ${paint('dim', signs.margin)} `;
  const [head = [], ...body] = rows.map((row) => {
    const cells = widths.map((each, column) => wrapText(row[column] ?? '', each));
    return Array.from(
      { length: Math.max(...cells.map((cell) => cell.length)) },
      (_, line) =>
        widths
          .map((each, column) => padText(cells[column]?.[line] ?? '', each))
          .join(between)
          .trimEnd(),
    );
  });
  const rule = paint('dim', signs.rule.repeat(sum() + 3 * (columns - 1)));
  return [...head.map((line) => paint('bold', line)), rule, ...body.flat()];
}

function padText(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function cleanText(text: string, { unicode }: Page): string {
  const stripped = stripTerminalControls(text).replaceAll('\t', ' ');
  return unicode ? stripped : toAscii(stripped);
}

/**
 * Draws words with their weight. Markup that has no form here loses its marks and keeps
 * its words.
 */
function drawInline(token: Token | undefined, page: Page): string {
  const { paint, color } = page;
  const links: string[] = [];
  const depth = { strong: 0, s: 0 };
  const parts = (token?.children ?? []).map((child): string => {
    const text = cleanText(child.content, page);
    const [, weight] = /^(strong|s)_(?:open|close)$/u.exec(child.type) ?? [];
    if (weight !== undefined) depth[weight as keyof typeof depth] += child.nesting;
    if (child.type === 'softbreak' || child.type === 'hardbreak') return '\n';
    if (child.type === 'code_inline') return color ? paint('bold', text) : `\`${text}\``;
    if (child.type === 'link_open')
      links.push(cleanText(String(child.attrGet('href') ?? ''), page));
    if (child.type === 'link_close') {
      const target = links.pop() ?? '';
      return target === '' || (token?.content ?? '').startsWith('<')
        ? ''
        : paint('dim', ` (${target})`);
    }
    if (child.type !== 'text' && child.type !== 'html_inline')
      return child.type === 'image' ? text : '';
    if (depth.strong > 0) return paint('bold', text);
    return depth.s > 0 ? paint('dim', text) : text;
  });
  return parts.join('');
}

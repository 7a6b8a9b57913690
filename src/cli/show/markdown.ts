// What the agent says, which is Markdown, as lines for a terminal: over the tokens of the parser that plan files are
// read with. The text was cleaned before; entities are decoded here, so that what they stand for is cleaned again.
import MarkdownIt, { type Token } from 'markdown-it';
import { stripTerminalControls } from '../../core/safe-text.ts';
import { plainSpeech, type RenderSpeech } from './lines.ts';
import { displayWidth, type Page, toAscii, wrap } from './page.ts';

const parser = new MarkdownIt();
/** A rule across the page says no more than a short one. */
const widestRule = 40;

/** What is nested deeper than the parser goes is shown as it was said. */
export const renderMarkdown: RenderSpeech = (text, page, width) => {
  const lines = blocks(parser.parse(text, {}), page, width);
  return lines.length === 0 ? plainSpeech(text, page, width) : lines;
};

function blocks(tokens: readonly Token[], page: Page, width: number | null): string[] {
  const lines: string[] = [];
  let end = -1;
  for (const [index, token] of tokens.entries()) {
    if (index <= end) continue;
    end = token.nesting === 1 ? closingOf(tokens, token, index) : index;
    lines.push(...block(token, tokens.slice(index + 1, end), page, width));
  }
  return lines;
}

function block(token: Token, inner: readonly Token[], page: Page, width: number | null): string[] {
  const { signs, paint, color } = page;
  switch (token.type) {
    case 'heading_open': {
      const text = inline(inner[0], page);
      return wrap(color ? paint('bold', text) : `${token.markup} ${text}`, width);
    }
    case 'paragraph_open':
      return wrap(inline(inner[0], page), width);
    case 'fence':
    case 'code_block':
      return inset(token.content.replace(/\n$/u, '').split('\n'), '  ', width);
    case 'blockquote_open':
      return inset(blocks(inner, page, less(width, 2)), paint('dim', '> '), null);
    case 'bullet_list_open':
    case 'ordered_list_open':
      return list(token, inner, page, width);
    case 'hr':
      return [paint('dim', signs.rule.repeat(Math.min(width ?? widestRule, widestRule)))];
    case 'table_open':
      return table(inner, page, width);
    default:
      return token.content === '' ? [] : wrap(clean(token.content, page), width);
  }
}

function closingOf(tokens: readonly Token[], { level }: Token, open: number): number {
  const isEnd = (token: Token, index: number): boolean =>
    index > open && token.level === level && token.nesting === -1;
  const close = tokens.findIndex(isEnd);
  return close === -1 ? tokens.length : close;
}

function less(width: number | null, by: number): number | null {
  return width === null ? null : Math.max(8, width - by);
}

/** `width` null: the lines fit already. */
function inset(lines: readonly string[], lead: string, width: number | null): string[] {
  const room = less(width, 2);
  return lines.flatMap((line) => (room === null ? [line] : wrapCode(line, room))).map((line) => lead + line);
}

/** Code keeps its spaces. */
function wrapCode(line: string, room: number): string[] {
  const indent = /^ */u.exec(line)?.[0] ?? '';
  return displayWidth(line) <= room
    ? [line]
    : wrap(line, Math.max(8, room - indent.length)).map((part) => indent + part);
}

function list(token: Token, inner: readonly Token[], page: Page, width: number | null): string[] {
  const start = Number(token.attrGet('start') ?? 1);
  const lines: string[] = [];
  let number = start - 1;
  for (const [index, item] of inner.entries()) {
    if (item.type !== 'list_item_open' || item.level !== token.level + 1) continue;
    number += 1;
    const mark = token.type === 'ordered_list_open' ? `${number}. ` : `${page.unicode ? '•' : '*'} `;
    const drawn = blocks(
      inner.slice(index + 1, closingOf(inner, item, index)),
      page,
      less(width, mark.length),
    );
    const lead = ' '.repeat(mark.length);
    lines.push(...(drawn.length === 0 ? [''] : drawn).map((line, at) => (at === 0 ? mark : lead) + line));
  }
  return lines;
}

/** Columns as wide as they need to be; where that is too wide, the widest give way and their cells are wrapped. */
function table(inner: readonly Token[], page: Page, width: number | null): string[] {
  const rows: string[][] = [];
  for (const token of inner) {
    if (token.type === 'tr_open') rows.push([]);
    if (token.type === 'inline') rows.at(-1)?.push(inline(token, page));
  }
  const columns = Math.max(...rows.map((row) => row.length));
  // No room for columns: a row is a line.
  if (width !== null && columns * 7 > width) return rows.flatMap((row) => wrap(row.join(' | '), width));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...rows.map((row) => displayWidth(row[at] ?? ''))),
  );
  const room = width === null ? Number.POSITIVE_INFINITY : Math.max(columns * 4, width - 3 * (columns - 1));
  while (widths.reduce((sum, each) => sum + each, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  const between = ` ${page.paint('dim', page.signs.margin)} `;
  const drawn = rows.flatMap((row, at) => {
    const cells = widths.map((each, column) => wrap(row[column] ?? '', each));
    const height = Math.max(...cells.map((cell) => cell.length));
    const lines = Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, column) => padded(cell[line] ?? '', widths[column] ?? 0))
        .join(between)
        .trimEnd(),
    );
    return at === 0 ? lines.map((line) => page.paint('bold', line)) : lines;
  });
  const [head = '', ...body] = drawn;
  const rule = page.paint('dim', page.signs.rule.repeat(widths.reduce((sum, each) => sum + each + 3, -3)));
  return [head, rule, ...body];
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function clean(text: string, { unicode }: Page): string {
  const stripped = stripTerminalControls(text).replaceAll('\t', ' ');
  return unicode ? stripped : toAscii(stripped);
}

/** Words with their weight. What has no look of its own here keeps its words and loses its marks. */
function inline(token: Token | undefined, page: Page): string {
  const { paint, color } = page;
  const links: string[] = [];
  let bold = 0;
  let struck = 0;
  const parts = (token?.children ?? []).map((child): string => {
    switch (child.type) {
      case 'text':
      case 'html_inline': {
        const text = clean(child.content, page);
        return bold > 0 ? paint('bold', text) : struck > 0 ? paint('dim', text) : text;
      }
      case 'code_inline':
        return color ? paint('bold', clean(child.content, page)) : `\`${clean(child.content, page)}\``;
      case 'softbreak':
      case 'hardbreak':
        return '\n';
      case 'strong_open':
      case 'strong_close':
        bold += child.nesting;
        return '';
      case 's_open':
      case 's_close':
        struck += child.nesting;
        return '';
      case 'link_open':
        links.push(clean(String(child.attrGet('href') ?? ''), page));
        return '';
      case 'link_close': {
        const target = links.pop() ?? '';
        return target === '' || (token?.content ?? '').startsWith('<') ? '' : paint('dim', ` (${target})`);
      }
      case 'image':
        return clean(child.content, page);
      default:
        return '';
    }
  });
  return parts.join('');
}

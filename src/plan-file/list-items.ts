// Finds the list items of a Markdown document and the paragraphs in them, with the lines they stand on. Code, HTML,
// block quotes and everything else that only looks like a list is left out: the parser knows, not a pattern.
import MarkdownIt from 'markdown-it';
import type { SourceLines } from './source-lines.ts';

export interface Paragraph {
  /** The paragraph's text: lines joined by LF, without what the containers put before them. */
  readonly text: string;
  /** Index of its first line. */
  readonly line: number;
}

export interface ListItem {
  readonly parent: ListItem | null;
  /** The paragraph that begins on the line of the item's mark; null: something else does. */
  readonly head: Paragraph | null;
  /** The other paragraphs that stand directly in it. */
  readonly paragraphs: readonly Paragraph[];
}

/** Twenty lists in each other, two levels each. Every level reads its lines anew, so that more would cost minutes. */
const maxNesting = 40;

/** Blocks only: where emphasis and links begin does not matter here, and reading them is what costs time. */
const markdown = new MarkdownIt('commonmark', { maxNesting });
markdown.core.ruler.enableOnly(['normalize', 'block']);

interface OpenItem {
  readonly parent: OpenItem | null;
  readonly line: number;
  head: Paragraph | null;
  paragraphs: Paragraph[];
  /** No block of it was seen yet. */
  empty: boolean;
}

/** In document order; an item stands before those inside it. */
export function findListItems(text: string): ListItem[] {
  const items: ListItem[] = [];
  let open = null as OpenItem | null;
  let quotes = 0;
  let isParagraph = false;
  for (const { type, map, content } of markdown.parse(text, {})) {
    if (type === 'blockquote_open') quotes += 1;
    else if (type === 'blockquote_close') quotes -= 1;
    if (quotes > 0) {
      if (open !== null) open.empty = false;
      continue;
    }
    if (type === 'list_item_open') {
      if (open !== null) open.empty = false;
      open = { parent: open, line: map?.[0] ?? 0, head: null, paragraphs: [], empty: true };
      items.push(open);
    } else if (type === 'list_item_close') {
      open = open?.parent ?? null;
    } else if (open !== null && type !== 'bullet_list_open' && type !== 'ordered_list_open') {
      // A heading's text comes in the same kind of token as a paragraph's.
      if (type === 'inline' && isParagraph) addParagraph(open, { text: content, line: map?.[0] ?? 0 });
      else if (type !== 'paragraph_open') open.empty = false;
    }
    isParagraph = type === 'paragraph_open';
  }
  return items;
}

function addParagraph(item: OpenItem, paragraph: Paragraph): void {
  if (item.empty && paragraph.line === item.line) item.head = paragraph;
  else item.paragraphs.push(paragraph);
  item.empty = false;
}

/** Offset of the head's first character: what the parser keeps of that line is the line's own end. */
export function headOffset(head: Paragraph, lines: SourceLines): number {
  const source = lines.text(head.line).trimEnd();
  const kept = (head.text.split('\n', 1)[0] ?? '').trimEnd();
  return lines.start(head.line) + source.length - kept.length;
}

// Adds a member or an element to a JSON text, takes one out, or puts another value in its place, and touches no other
// byte: comments stay where they are, also beside a comma. jsonc-parser's own `modify` drops a comment that stands
// between a comma and what it removes, and moves one that follows the last value.
import { createScanner } from 'jsonc-parser';
import type { Json } from './edit.ts';
import { indentationBefore, type Layout, lineIndentation, type Node } from './json-document.ts';

/** Appends to an object (with a key) or an array (without). */
export function appendChild(
  text: string,
  container: Node,
  key: string | null,
  value: Json,
  layout: Layout,
): string {
  const open = container.offset;
  const close = container.offset + container.length - 1;
  const inside = text.slice(open + 1, close);
  const last = container.children?.at(-1);
  const isOneLine = last !== undefined && !inside.includes('\n');
  const label = key === null ? '' : `${JSON.stringify(key)}: `;
  if (isOneLine) {
    const comma = commaBetween(text, endOf(last), close);
    const at = comma === null ? endOf(last) : comma + 1;
    return `${text.slice(0, at)}${comma === null ? ',' : ''} ${label}${JSON.stringify(value)}${text.slice(at)}`;
  }
  const outer = lineIndentation(text, open);
  const first = container.children?.[0];
  const inner = (first && indentationBefore(text, first.offset)) ?? outer + layout.indentation;
  const shown = `${layout.endOfLine}${inner}${label}${render(value, inner, layout)}`;
  // Behind the last thing that is no blank, be it a value, a comma or a comment.
  const at = open + 1 + inside.trimEnd().length;
  const needsClosingLine = !text.slice(at, close).includes('\n');
  const tail = needsClosingLine ? `${layout.endOfLine}${outer}${text.slice(close)}` : text.slice(at);
  const end = last === undefined ? at : endOf(last);
  const comma = last !== undefined && commaBetween(text, end, close) === null ? ',' : '';
  return `${text.slice(0, end)}${comma}${text.slice(end, at)}${shown}${tail}`;
}

export function replaceValue(text: string, node: Node, value: Json, layout: Layout): string {
  const isOneLine = !text.slice(node.offset, endOf(node)).includes('\n');
  const shown = isOneLine ? JSON.stringify(value) : render(value, lineIndentation(text, node.offset), layout);
  return `${text.slice(0, node.offset)}${shown}${text.slice(endOf(node))}`;
}

/** `child` is an element of an array, or a property of an object. */
export function removeChild(text: string, child: Node): string {
  const container = child.parent;
  const siblings = container?.children ?? [];
  const index = siblings.indexOf(child);
  const close = container === undefined ? text.length : endOf(container) - 1;
  const next = siblings[index + 1];
  const commaAfter = commaBetween(text, endOf(child), next?.offset ?? close);
  if (commaAfter !== null) return cut(text, child.offset, commaAfter + 1);
  const previous = siblings[index - 1];
  const commaBefore = previous === undefined ? null : commaBetween(text, endOf(previous), child.offset);
  if (commaBefore !== null && /^[ \t]*$/.test(text.slice(commaBefore + 1, child.offset))) {
    return `${text.slice(0, commaBefore)}${text.slice(endOf(child))}`;
  }
  const rest = cut(text, child.offset, endOf(child));
  return commaBefore === null ? rest : `${rest.slice(0, commaBefore)}${rest.slice(commaBefore + 1)}`;
}

/** Takes the whole line with it where nothing else stands in it. */
function cut(text: string, start: number, end: number): string {
  const own = indentationBefore(text, start);
  const after = /^[ \t]*(\r?\n)?/.exec(text.slice(end))?.[0] ?? '';
  const isLine = own !== null && after.endsWith('\n');
  if (isLine) return `${text.slice(0, start - own.length)}${text.slice(end + after.length)}`;
  // `{ "a": 1, "b": 2 }`: one of the two blanks around it goes too.
  const blanks = /[ \t]$/.test(text.slice(0, start)) ? (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0) : 0;
  const closes = /^[}\]]/.test(text.slice(end + blanks));
  return `${text.slice(0, start)}${text.slice(closes ? end : end + blanks)}`;
}

function commaBetween(text: string, start: number, end: number): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(start);
  scanner.scan();
  const token = scanner.getTokenOffset();
  return token < end && text[token] === ',' ? token : null;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function render(value: Json, indentation: string, { indentation: unit, endOfLine }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${endOfLine}${indentation}`);
}

// Reads JSON with comments into a tree with offsets, and tells how the text is laid out, so that what is added looks
// like what is there. It repairs nothing: a text that is not JSON gets a sentence with its line and column.
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

export type { Node } from 'jsonc-parser';

export interface Layout {
  readonly endOfLine: '\n' | '\r\n';
  /** One level of indentation. */
  readonly indentation: string;
}

export type ParsedDocument =
  | { readonly ok: true; readonly root: Node; readonly layout: Layout }
  | { readonly ok: false; readonly sentence: string };

const byteOrderMark = '\uFEFF';

/** The mark is no part of the document; it is put back when the text is written. */
export function withoutMark(text: string): { readonly mark: string; readonly plain: string } {
  return text.startsWith(byteOrderMark)
    ? { mark: byteOrderMark, plain: text.slice(1) }
    : { mark: '', plain: text };
}

export function parseDocument(text: string): ParsedDocument {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch {
    // Safe: the parser is recursive, and only a text of absurd depth ends it. Nothing was changed.
    return { ok: false, sentence: 'is nested too deeply' };
  }
  const [error] = errors;
  if (error !== undefined) return { ok: false, sentence: `is not valid JSON: ${describeError(text, error)}` };
  if (root?.type !== 'object') return { ok: false, sentence: 'holds something else than a JSON object' };
  return { ok: true, root, layout: layoutOf(text, root) };
}

/** Hosts that use JSON.parse ignore a file with comments or trailing commas as a whole. */
export function isPlainJson(text: string): boolean {
  try {
    JSON.parse(withoutMark(text).plain);
    return true;
  } catch {
    // Safe: this is the question that was asked.
    return false;
  }
}

function describeError(text: string, { error, offset }: ParseError): string {
  const before = text.slice(0, offset).split('\n');
  const words = printParseErrorCode(error).replace(/[A-Z]/g, (letter, index) =>
    index === 0 ? letter.toLowerCase() : ` ${letter.toLowerCase()}`,
  );
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${words}`;
}

function layoutOf(text: string, root: Node): Layout {
  const first = root.children?.[0];
  const own = first === undefined ? null : indentationBefore(text, first.offset);
  return {
    endOfLine: /\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n',
    indentation: own === null || own === '' ? '  ' : own,
  };
}

/** What stands before `offset` in its line; null: something else than blanks. */
export function indentationBefore(text: string, offset: number): string | null {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  return lineStart > 0 && /^[ \t]*$/.test(before) ? before : null;
}

/** The blanks that begin the line of `offset`. */
export function lineIndentation(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

/** Is there a value under these keys? A text that is not JSON has none. */
export function hasJsonPath(text: string, path: readonly string[]): boolean {
  const document = parseDocument(withoutMark(text).plain);
  return document.ok && findNodeAtLocation(document.root, [...path]) !== undefined;
}

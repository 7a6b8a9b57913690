// Edits in a JSON text, put in and taken out byte by byte: comments, order and layout stay. What a person wrote stays too:
// another value under a key of the host is kept and told, a list or object of another shape is refused, and a list entry
// that was there is not ours. jsonc-parser only reads: its own `modify` drops and moves comments. No file is touched here.
import { isDeepStrictEqual } from 'node:util';
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { Refusal, readHookCommand } from './files.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type KeyPath = readonly string[];

/** Kept as plain values in the record of an install, so that uninstalling knows exactly what was added. */
export type JsonEdit =
  /** A key with a value. A value that a person wrote stays, unless the key itself is `named` for us. */
  | { readonly kind: 'member'; readonly path: KeyPath; readonly value: Json; readonly named?: true }
  | { readonly kind: 'entry'; readonly path: KeyPath; readonly value: string }
  /** An element of the list at `path` that carries a hook command of ours; it replaces every other one of ours. */
  | { readonly kind: 'hook'; readonly path: KeyPath; readonly value: Json }
  /** Our package in a list of packages, pinned to a version; it replaces every other pinned one. */
  | { readonly kind: 'package'; readonly path: KeyPath; readonly name: string; readonly version: string };

type ListEdit = Exclude<JsonEdit, { kind: 'member' }>;

/** The mark is no part of the document; it is put back when the text is written. */
export function withoutMark(text: string): { readonly mark: string; readonly plain: string } {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return { mark, plain: text.slice(mark.length) };
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

/** The object that the text holds, comments and trailing commas allowed. Throws a Refusal. */
export function parseJson(text: string): Readonly<Record<string, unknown>> {
  return getNodeValue(parseDocument(withoutMark(text).plain));
}

/** Is there a value under these keys? A text that is not JSON has none. */
export function hasJsonPath(text: string, path: KeyPath): boolean {
  try {
    return findNodeAtLocation(parseDocument(withoutMark(text).plain), [...path]) !== undefined;
  } catch {
    // Safe: what cannot be read holds nothing.
    return false;
  }
}

function parseDocument(text: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser is recursive, and only a text of absurd depth ends it. Nothing was changed.
    throw new Refusal('is nested too deeply', { cause: error });
  }
  const [wrong] = errors;
  if (wrong !== undefined) {
    const before = text.slice(0, wrong.offset).split('\n');
    const words = printParseErrorCode(wrong.error)
      .replace(/(?<!^)[A-Z]/g, ' $&')
      .toLowerCase();
    const column = (before.at(-1) ?? '').length + 1;
    throw new Refusal(`is not valid JSON: line ${before.length}, column ${column}: ${words}`);
  }
  if (root?.type !== 'object') throw new Refusal('holds something else than a JSON object');
  return root;
}

export interface Applied {
  readonly text: string;
  /** Edits that met another value of a person's, which stays. */
  readonly kept: readonly JsonEdit[];
}

/** An empty text begins as an empty object. Throws a Refusal. */
export function applyJsonEdits(original: string, edits: readonly JsonEdit[], host: string): Applied {
  const { mark, plain } = withoutMark(original);
  const start = plain.trim() === '' ? '{}\n' : plain;
  const kept: JsonEdit[] = [];
  let text = start;
  for (const edit of edits) {
    const root = parseDocument(text);
    assertNoDoubledKey(root, edit.path);
    const target = findNodeAtLocation(root, [...edit.path]);
    if (target === undefined)
      text = create(text, root, edit.path, edit.kind === 'member' ? edit.value : [wantedIn(edit)]);
    else if (edit.kind !== 'member') {
      if (target.type !== 'array') throw new Refusal(`has something else than a list at ${shown(edit.path)}`);
      text = putInList(text, target, edit, host);
    } else if (!isDeepStrictEqual(getNodeValue(target), edit.value)) {
      if (edit.named) text = replaceValue(text, target, edit.value);
      else kept.push(edit);
    }
  }
  const isUntouched = text === start && start !== plain;
  return { text: isUntouched ? original : mark + text, kept };
}

function create(text: string, root: Node, path: KeyPath, value: Json): string {
  const isThere = (depth: number) => findNodeAtLocation(root, path.slice(0, depth)) !== undefined;
  const depth = path.findIndex((_key, index) => !isThere(index + 1));
  const container = findNodeAtLocation(root, path.slice(0, depth)) ?? root;
  if (container.type !== 'object')
    throw new Refusal(`has something else than an object at ${shown(path.slice(0, depth))}`);
  const nested = path.slice(depth + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return appendChild(text, container, path[depth] ?? '', nested);
}

/** Programs read the last of two equal keys, this one the first: an edit would go unseen. */
function assertNoDoubledKey(root: Node, path: KeyPath): void {
  let node: Node | undefined = root;
  for (const key of path) {
    const named: Node[] = (node?.children ?? []).filter((property) => property.children?.[0]?.value === key);
    if (named.length > 1) throw new Refusal(`has the key "${key}" twice in one object`);
    node = named[0]?.children?.[1];
  }
}

function shown(path: KeyPath): string {
  return path.length === 0 ? 'its root' : `"${path.join('.')}"`;
}

/**
 * Takes edits out. `mayEmpty` says of an object or list that our removal left empty whether it may go as well. Hooks are
 * known by their command, so one that a person moved or an older version wrote goes too. Throws a Refusal.
 */
export function removeJsonEdits(
  original: string,
  edits: readonly JsonEdit[],
  host: string,
  mayEmpty: (path: KeyPath) => boolean,
): string {
  const { mark, plain } = withoutMark(original);
  if (plain.trim() === '') return original;
  let text = plain;
  for (const edit of edits) {
    const before = text;
    text = edit.kind === 'member' ? removeMember(text, edit) : removeFromList(text, edit, host);
    const path = edit.kind === 'member' ? edit.path.slice(0, -1) : edit.path;
    if (text !== before) text = prune(text, path, mayEmpty);
  }
  return mark + text;
}

function removeMember(text: string, { path, value, named }: Extract<JsonEdit, { kind: 'member' }>): string {
  const target = findNodeAtLocation(parseDocument(text), [...path]);
  const isOurs = target && (named === true || isDeepStrictEqual(getNodeValue(target), value));
  return isOurs && target.parent !== undefined ? removeChild(text, target.parent) : text;
}

function prune(start: string, path: KeyPath, mayEmpty: (path: KeyPath) => boolean): string {
  let text = start;
  for (let length = path.length; length > 0; length -= 1) {
    const place = path.slice(0, length);
    const container = findNodeAtLocation(parseDocument(text), [...place]);
    const isEmpty =
      container?.children?.length === 0 &&
      /^.\s*.$/.test(text.slice(container.offset, container.offset + container.length));
    if (!isEmpty || container?.parent === undefined || !mayEmpty(place)) return text;
    text = removeChild(text, container.parent);
  }
  return text;
}

function wantedIn(edit: ListEdit): Json {
  return edit.kind === 'package' ? `${edit.name}@${edit.version}` : edit.value;
}

function oursIn(list: Node, edit: ListEdit, host: string): Node[] {
  if (edit.kind === 'hook') return hooksIn(list, host);
  const pinned = edit.kind === 'package' ? `${edit.name}@` : '';
  return (list.children ?? []).filter(({ value }: { value?: unknown }) =>
    edit.kind === 'entry'
      ? value === edit.value
      : typeof value === 'string' && value.startsWith(pinned) && /^\d/.test(value.slice(pinned.length)),
  );
}

/** One element as it should be: any other of ours goes, and one that stands alone lends its place. */
function putInList(text: string, list: Node, edit: ListEdit, host: string): string {
  const value = wantedIn(edit);
  const [first, ...others] = oursIn(list, edit, host);
  if (first === undefined) {
    // The name of the package without a version, or with options, is a person's own way to ask for it.
    const isNamed = edit.kind === 'package' && packageVersions(getNodeValue(list), edit.name).length > 0;
    return isNamed ? text : appendChild(text, list, null, value);
  }
  if (edit.kind === 'entry') return text;
  const element = elementOf(list, first);
  if (others.length === 0 && countHooks(element) === 1)
    return isDeepStrictEqual(getNodeValue(element), value) ? text : replaceValue(text, element, value);
  const cleared = removeFromList(text, edit, host);
  const left = findNodeAtLocation(parseDocument(cleared), [...edit.path]);
  return left === undefined ? text : appendChild(cleared, left, null, value);
}

function removeFromList(start: string, edit: ListEdit, host: string): string {
  let text = start;
  for (;;) {
    const list = findNodeAtLocation(parseDocument(text), [...edit.path]);
    const [ours] = list === undefined ? [] : oursIn(list, edit, host);
    if (list === undefined || ours === undefined) return text;
    // With the last command of an element the element itself has no meaning any more.
    const element = elementOf(list, ours);
    text = removeChild(text, countHooks(element) === 1 ? element : ours);
    if (edit.kind === 'entry') return text;
  }
}

/** What the list says of the package: a version, a tag or a path; `latest` where it says nothing. */
export function packageVersions(list: readonly unknown[], name: string): string[] {
  return list.flatMap((element) => {
    const written: unknown = Array.isArray(element) ? element[0] : element;
    if (typeof written !== 'string') return [];
    if (written === name) return ['latest'];
    return written.startsWith(`${name}@`) ? [written.slice(name.length + 1)] : [];
  });
}

/** The hook commands of ours in the lists at `paths`, each once. A text that cannot be read has none. */
export function findHookLines(text: string, paths: readonly KeyPath[], host: string): string[] {
  if (!hasJsonPath(text, [])) return [];
  const root = parseDocument(withoutMark(text).plain);
  const lines = paths.flatMap((path) => {
    const list = findNodeAtLocation(root, [...path]);
    return list === undefined ? [] : hooksIn(list, host).flatMap(stringsIn);
  });
  return [...new Set(lines)];
}

/** Elements that carry a command of ours, of whatever version: hosts nest hooks one or two lists deep. */
function hooksIn(list: Node, host: string): Node[] {
  return (list.children ?? []).flatMap((element) => {
    const deeper = listsIn(element).flatMap((inner) => hooksIn(inner, host));
    if (deeper.length > 0) return deeper;
    return stringsIn(element).some((text) => readHookCommand(text, host) !== null) ? [element] : [];
  });
}

function listsIn(element: Node): Node[] {
  return (element.children ?? []).flatMap((property) => {
    const value = property.type === 'property' ? property.children?.[1] : property;
    return value?.type === 'array' ? [value] : [];
  });
}

function stringsIn(element: Node): string[] {
  return (element.children ?? []).flatMap((property) => {
    const value: unknown = property.children?.[1]?.value;
    return typeof value === 'string' ? [value] : [];
  });
}

function countHooks(element: Node): number {
  const lists = listsIn(element);
  return lists.length === 0 ? 1 : lists.reduce((sum, list) => sum + (list.children?.length ?? 0), 0);
}

function elementOf(list: Node, inner: Node): Node {
  let node = inner;
  while (node.parent !== undefined && node.parent !== list) node = node.parent;
  return node;
}

/** Appends to an object (with a key) or an array (without), in the layout of the text. */
function appendChild(text: string, container: Node, key: string | null, value: Json): string {
  const open = container.offset;
  const close = endOf(container) - 1;
  const inside = text.slice(open + 1, close);
  const last = container.children?.at(-1);
  const label = key === null ? '' : `${JSON.stringify(key)}: `;
  const comma = last === undefined ? null : commaBetween(text, endOf(last), close);
  if (last !== undefined && !inside.includes('\n')) {
    const at = comma === null ? endOf(last) : comma + 1;
    return `${text.slice(0, at)}${comma === null ? ',' : ''} ${label}${JSON.stringify(value)}${text.slice(at)}`;
  }
  const endOfLine = endOfLineIn(text);
  const outer = lineIndentation(text, open);
  const first = container.children?.[0];
  const inner = (first && indentationBefore(text, first.offset)) ?? outer + indentationUnit(text);
  const written = `${endOfLine}${inner}${label}${render(text, value, inner)}`;
  // Behind the last thing that is no blank, be it a value, a comma or a comment.
  const at = open + 1 + inside.trimEnd().length;
  const needsClosingLine = !text.slice(at, close).includes('\n');
  const tail = needsClosingLine ? `${endOfLine}${outer}${text.slice(close)}` : text.slice(at);
  const end = last === undefined ? at : endOf(last);
  const added = last !== undefined && comma === null ? ',' : '';
  return `${text.slice(0, end)}${added}${text.slice(end, at)}${written}${tail}`;
}

function replaceValue(text: string, node: Node, value: Json): string {
  const isOneLine = !text.slice(node.offset, endOf(node)).includes('\n');
  const written = isOneLine ? JSON.stringify(value) : render(text, value, lineIndentation(text, node.offset));
  return `${text.slice(0, node.offset)}${written}${text.slice(endOf(node))}`;
}

/** `child` is an element of an array, or a property of an object. */
function removeChild(text: string, child: Node): string {
  const container = child.parent;
  const siblings = container?.children ?? [];
  const index = siblings.indexOf(child);
  const close = container === undefined ? text.length : endOf(container) - 1;
  const commaAfter = commaBetween(text, endOf(child), siblings[index + 1]?.offset ?? close);
  if (commaAfter !== null) return cut(text, child.offset, commaAfter + 1);
  const previous = siblings[index - 1];
  const commaBefore = previous === undefined ? null : commaBetween(text, endOf(previous), child.offset);
  if (commaBefore !== null && /^[ \t]*$/.test(text.slice(commaBefore + 1, child.offset)))
    return `${text.slice(0, commaBefore)}${text.slice(endOf(child))}`;
  const rest = cut(text, child.offset, endOf(child));
  return commaBefore === null ? rest : `${rest.slice(0, commaBefore)}${rest.slice(commaBefore + 1)}`;
}

/** Takes the whole line with it where nothing else stands in it. */
function cut(text: string, start: number, end: number): string {
  const own = indentationBefore(text, start);
  const after = /^[ \t]*(\r?\n)?/.exec(text.slice(end))?.[0] ?? '';
  if (own !== null && after.endsWith('\n'))
    return `${text.slice(0, start - own.length)}${text.slice(end + after.length)}`;
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

function render(text: string, value: Json, indentation: string): string {
  const lines = JSON.stringify(value, null, indentationUnit(text));
  return lines.replaceAll('\n', `${endOfLineIn(text)}${indentation}`);
}

function endOfLineIn(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** One level of indentation, as the first member of the document has it. */
function indentationUnit(text: string): string {
  const first = parseDocument(text).children?.[0];
  return (first && indentationBefore(text, first.offset)) || '  ';
}

/** What stands before `offset` in its line; null: something else than blanks. */
function indentationBefore(text: string, offset: number): string | null {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  return lineStart > 0 && /^[ \t]*$/.test(before) ? before : null;
}

function lineIndentation(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

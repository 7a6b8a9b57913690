// Edits a JSON text in place: comments, order and layout stay (`modify` of jsonc-parser
// drops and moves comments). Refuses a text that does not fit, with a Refusal.
import { isDeepStrictEqual } from 'node:util';
import * as jsonc from 'jsonc-parser';
import { type Fields, recordOf } from '../untrusted.ts';
import { askOr, Refusal, readHookCommand } from './files.ts';

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };
type KeyPath = readonly string[];
type Node = jsonc.Node;

/**
 * Records of earlier versions hold such edits too. All kinds but `member` go into the
 * list at `path`.
 */
export type JsonEdit = Readonly<
  | { kind: 'entry' | 'hook'; path: KeyPath; value: Json }
  /** A pinned version; like a `hook` it replaces every other one of ours. */
  | { kind: 'package'; path: KeyPath; name: string; version: string }
  /** A person's value stays, unless the key is `named` for us. */
  | { kind: 'member'; path: KeyPath; value: Json; named?: true }
>;

/** The edit that sets a key. */
export const member = (path: KeyPath, value: Json) =>
  ({ kind: 'member', path, value }) as const;
/** The edit that adds an entry to a list. */
export const entry = (path: KeyPath, value: Json) =>
  ({ kind: 'entry', path, value }) as const;

/**
 * The value of plain JSON; undefined: it has comments or trailing commas, and hosts that
 * use JSON.parse ignore such a file.
 */
export const parsePlain = (text: string): unknown =>
  askOr(undefined, () => JSON.parse(text.replace(/^\uFEFF/, '')));

/** The fields of a JSON text. Throws a Refusal if it is none. */
export function parseJson(text: string, refusesComments: boolean): Fields {
  const value = refusesComments ? parsePlain(text) : plainValue(parse(text));
  if (value !== undefined) return recordOf(value);
  throw new Refusal('is not plain JSON (comments and trailing commas are refused too)');
}

/** The value at a path; undefined: nothing is there, or the text is not JSON. */
export const valueAt = (text: string, path: KeyPath): unknown =>
  askOr(undefined, () => plainValue(find(text, path)));

/**
 * A cloned value, because the parser's objects have no prototype and equal no other
 * object.
 */
const plainValue = (node: Node | undefined) =>
  node && structuredClone(jsonc.getNodeValue(node));

function parse(text: string): Node {
  const errors: jsonc.ParseError[] = [];
  let root: Node | undefined;
  try {
    // A blank in place of a byte order mark keeps the offsets.
    root = jsonc.parseTree(text.replace(/^\uFEFF/, ' '), errors, {
      allowTrailingComma: true,
    });
  } catch (error) {
    // The parser is recursive, and only absurd depth ends it.
    throw new Refusal('is nested too deeply', { cause: error });
  }
  const [wrong] = errors;
  if (wrong !== undefined) {
    const lines = text.slice(0, wrong.offset).split('\n');
    const words = jsonc.printParseErrorCode(wrong.error).split(/(?=[A-Z])/);
    const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
    throw new Refusal(`is not valid JSON: ${place}: ${words.join(' ').toLowerCase()}`);
  }
  if (root?.type !== 'object')
    throw new Refusal('has something other than a JSON object in it');
  return root;
}

const find = (text: string, path: KeyPath) =>
  jsonc.findNodeAtLocation(parse(text), [...path]);

/**
 * Gives the text with the edit; an edit that is there already changes nothing. Throws a
 * Refusal.
 */
export function applyJson(text: string, edit: JsonEdit, host: string): string {
  const start = text.trim() === '' ? `${/^\uFEFF/.exec(text) ?? ''}{}\n` : text;
  const { path, kind } = edit;
  const value = kind === 'package' ? `${edit.name}@${edit.version}` : edit.value;
  const { node, depth } = descend(start, path);
  if (depth < path.length) {
    const inner = kind === 'member' ? value : [value];
    const nested = path
      .slice(depth + 1)
      .reduceRight<Json>((one, key) => ({ [key]: one }), inner);
    return append(start, node, path[depth] ?? '', nested);
  }
  if (kind === 'member') return edit.named ? replaceValue(text, node, value) : text;
  if (node.type !== 'array')
    throw new Refusal(`has something other than a list at "${path.join('.')}"`);
  const [first, ...others] = oursIn(node, edit, host);
  if (first === undefined) {
    // A name without a version, or with options, is a person's own wish.
    const isNamed =
      kind === 'package' && packageVersions(plainValue(node), edit.name).length > 0;
    return isNamed ? text : append(text, node, null, value);
  }
  if (kind === 'entry') return text;
  // A single one is replaced in place. If there are several, or one beside hooks of
  // others, they are removed first.
  if (others.length === 0 && first.parent === node)
    return replaceValue(text, first, value);
  return applyJson(takeOut(text, edit, host), edit, host);
}

function descend(text: string, path: KeyPath) {
  let node = parse(text);
  for (const [depth, key] of path.entries()) {
    if (node.type !== 'object')
      throw new Refusal(
        `has something other than an object at "${path.slice(0, depth).join('.')}"`,
      );
    const named =
      node.children?.filter(({ children }) => children?.[0]?.value === key) ?? [];
    // If an object has a key twice, programs read the last one and the parser the first.
    if (named.length > 1) throw new Refusal(`has the key "${key}" twice in one object`);
    const value = named[0]?.children?.[1];
    if (value === undefined) return { node, depth };
    node = value;
  }
  return { node, depth: path.length };
}

/**
 * Gives the text without the edit.
 * @param mayEmpty whether an object or list that is empty then may go too
 */
export function removeJson(
  text: string,
  edit: JsonEdit,
  host: string,
  mayEmpty: (path: KeyPath) => boolean,
) {
  let left = text.trim() === '' ? text : takeOut(text, edit, host);
  if (left === text) return text;
  for (
    let length = edit.path.length - (edit.kind === 'member' ? 1 : 0);
    length > 0;
    length -= 1
  ) {
    const place = edit.path.slice(0, length);
    const container = find(left, place);
    const isEmpty =
      container && /^.\s*.$/.test(left.slice(container.offset, endOf(container)));
    if (!isEmpty || container.parent === undefined || !mayEmpty(place)) return left;
    left = removeChild(left, container.parent);
  }
  return left;
}

function takeOut(text: string, edit: JsonEdit, host: string): string {
  const target = find(text, edit.path);
  const [ours] = target === undefined ? [] : oursIn(target, edit, host);
  if (ours === undefined) return text;
  const left = removeChild(text, ours);
  return edit.kind === 'hook' || edit.kind === 'package'
    ? takeOut(left, edit, host)
    : left;
}

function oursIn(target: Node, edit: JsonEdit, host: string): Node[] {
  if (edit.kind === 'hook') return hooksIn(target, host);
  if (edit.kind === 'member') {
    const isOurs = edit.named || isDeepStrictEqual(plainValue(target), edit.value);
    return isOurs && target.parent ? [target.parent] : [];
  }
  return (target.children ?? []).filter((node) =>
    edit.kind === 'package'
      ? isPinned(packageVersions([node.value], edit.name)[0])
      : isDeepStrictEqual(plainValue(node), edit.value),
  );
}

/** Whether a version is a number, not a tag or a path. */
export const isPinned = (version: string | undefined) => /^\d/.test(version ?? '');

/**
 * How the list names this package: a version, a tag or a path; `latest` if it names none.
 */
export function packageVersions(list: readonly unknown[], name: string): string[] {
  return list.flatMap((element) => {
    const written: unknown = Array.isArray(element) ? element[0] : element;
    if (written === name) return ['latest'];
    const isOfName = typeof written === 'string' && written.startsWith(`${name}@`);
    return isOfName ? [written.slice(name.length + 1)] : [];
  });
}

/**
 * Our hooks of any version, found by their commands wherever a person moved them: hosts
 * nest hooks one or two lists deep.
 */
function hooksIn(list: Node, host: string): Node[] {
  const isCommand = ({ children = [] }: Node) =>
    readHookCommand(String(children[1]?.value), host) !== null;
  return (list.children ?? []).flatMap((element) => {
    const nodes = nodesIn(element);
    const ours = nodes.filter(
      ({ type, children }) => type === 'object' && children?.some(isCommand),
    );
    const inner = nodes.filter(
      (node) => node !== element && node.parent?.type === 'array',
    );
    // An element without its only hook means nothing, so it counts as ours.
    return ours.length === 0 || inner.length > 1 ? ours : [element];
  });
}

const nodesIn = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(nodesIn)];

/**
 * Adds a value to an object (with a key) or a list (without), in the layout of the text.
 */
function append(
  before: string,
  container: Node,
  key: string | null,
  value: Json,
): string {
  const { offset, children = [] } = container;
  const first = children[0];
  const last = children.at(-1);
  const needsComma = last !== undefined && commaAfter(before, last) === null;
  const text = needsComma ? splice(before, endOf(last), 0, ',') : before;
  const close = endOf(container) - (needsComma ? 0 : 1);
  const inside = text.slice(offset + 1, close);
  // The place behind the last comma or comment.
  const at = offset + 1 + inside.trimEnd().length;
  const label = key === null ? '' : `${JSON.stringify(key)}: `;
  if (first && !inside.includes('\n'))
    return splice(text, at, 0, ` ${label}${JSON.stringify(value)}`);
  const outer = indentationOf(text, offset);
  const inner =
    (first && indentationBefore(text, first.offset)) ?? outer + indentationUnit(text);
  const endOfLine = endOfLineIn(text);
  const blanks = text.slice(at, close);
  const closing = blanks.includes('\n') ? blanks : endOfLine + outer;
  return splice(
    text,
    at,
    blanks.length,
    endOfLine + inner + label + render(text, value, inner) + closing,
  );
}

function replaceValue(text: string, old: Node, value: Json): string {
  if (isDeepStrictEqual(plainValue(old), value)) return text;
  const { offset, length } = old;
  const isOneLine = !text.slice(offset, offset + length).includes('\n');
  const written = isOneLine
    ? JSON.stringify(value)
    : render(text, value, indentationOf(text, offset));
  return splice(text, offset, length, written);
}

function removeChild(text: string, child: Node): string {
  const start = child.offset;
  const end = endOf(child);
  const siblings = child.parent?.children ?? [];
  const after = commaAfter(text, child);
  if (after !== null) return cut(text, start, after + 1);
  const before = commaAfter(text, siblings[siblings.indexOf(child) - 1]);
  if (before === null) return cut(text, start, end);
  const isBeside = /^,[^\S\n]*$/.test(text.slice(before, start));
  return isBeside ? cut(text, before, end) : splice(cut(text, start, end), before, 1);
}

/** Removes a range, with its whole line if nothing else stands in it. */
function cut(text: string, start: number, end: number): string {
  const before = text.slice(0, start);
  const after = text.slice(end);
  const isLine = indentationBefore(text, start) !== null && /^[ \t]*\r?\n/.test(after);
  if (isLine) return before.replace(/[ \t]*$/, '') + after.replace(/^[ \t]*\r?\n/, '');
  // In `{ "a": 1, "b": 2 }`, one of the blanks around it goes too.
  return (
    before + (/[ \t]$/.test(before) ? after.replace(/^[ \t]+(?![ \t}\]])/, '') : after)
  );
}

const splice = (text: string, start: number, length: number, written = '') =>
  text.slice(0, start) + written + text.slice(start + length);

function commaAfter(text: string, node: Node | undefined): number | null {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(node === undefined ? text.length : endOf(node));
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : null;
}

const endOf = ({ offset, length }: Node) => offset + length;

function render(text: string, value: Json, indentation: string): string {
  const lines = JSON.stringify(value, null, indentationUnit(text));
  return lines.replaceAll('\n', endOfLineIn(text) + indentation);
}

export const endOfLineIn = (text: string) => /\r?\n/.exec(text)?.[0] ?? '\n';

/** One step of indentation, as the first member has it. */
function indentationUnit(text: string): string {
  const first = parse(text).children?.[0];
  return (first && indentationBefore(text, first.offset)) || '  ';
}

/**
 * The blanks before an offset; null: it is in the first line, or something stands before
 * it.
 */
const indentationBefore = (text: string, offset: number) =>
  /(?<=\n)[ \t]*$/.exec(text.slice(0, offset))?.[0] ?? null;
const indentationOf = (text: string, offset: number) =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';

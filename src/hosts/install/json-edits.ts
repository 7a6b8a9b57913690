// Applies edits to a JSON text and takes them out again. What a person wrote stays: another value under a key of the
// host is kept and told, a list or object of another shape is refused, and a list entry that was there is not ours.
import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, getNodeValue } from 'jsonc-parser';
import type { Edited, Json, JsonEdit, KeyPath } from './edit.ts';
import { type Layout, type Node, parseDocument, withoutMark } from './json-document.ts';
import { removeHooks, setHook } from './json-hooks.ts';
import { removePackage, setPackage } from './json-packages.ts';
import { appendChild, removeChild, replaceValue } from './json-splice.ts';

type Stepped =
  | { readonly ok: true; readonly text: string; readonly kept?: true }
  | { readonly ok: false; readonly sentence: string };

/** An empty text begins as an empty object. */
export function applyJsonEdits(original: string, edits: readonly JsonEdit[], host: string): Edited {
  const { mark, plain } = withoutMark(original);
  let text = plain.trim() === '' ? '{}\n' : plain;
  const kept: JsonEdit[] = [];
  for (const edit of edits) {
    const step = applyOne(text, edit, host);
    if (!step.ok) return step;
    if (step.kept) kept.push(edit);
    text = step.text;
  }
  const isUntouched = plain.trim() === '' && text === '{}\n';
  return { ok: true, text: isUntouched ? original : mark + text, kept };
}

function applyOne(text: string, edit: JsonEdit, host: string): Stepped {
  const document = parseDocument(text);
  if (!document.ok) return document;
  const { root, layout } = document;
  const doubled = doubledKey(root, edit.path);
  if (doubled !== null) return { ok: false, sentence: `has the key "${doubled}" twice in one object` };
  const target = findNodeAtLocation(root, [...edit.path]);
  if (target === undefined) {
    return create(text, root, edit.path, freshValue(edit), layout);
  }
  if (edit.kind === 'member') return setMember(text, target, edit, layout);
  if (target.type !== 'array')
    return { ok: false, sentence: `has something else than a list at ${shownPath(edit.path)}` };
  if (edit.kind === 'hook') return { ok: true, text: setHook(text, target, edit.value, layout, host) };
  if (edit.kind === 'package') return { ok: true, text: setPackage(text, target, edit, layout) };
  const isThere = (target.children ?? []).some((child) => child.value === edit.value);
  return { ok: true, text: isThere ? text : appendChild(text, target, null, edit.value, layout) };
}

/** What stands under the key where there was none. */
function freshValue(edit: JsonEdit): Json {
  if (edit.kind === 'member') return edit.value;
  return [edit.kind === 'package' ? `${edit.name}@${edit.version}` : edit.value];
}

function setMember(
  text: string,
  target: Node,
  { value, named }: Extract<JsonEdit, { kind: 'member' }>,
  layout: Layout,
): Stepped {
  if (isDeepStrictEqual(getNodeValue(target), value)) return { ok: true, text };
  return named
    ? { ok: true, text: replaceValue(text, target, value, layout) }
    : { ok: true, text, kept: true };
}

/** Builds what is missing of the path in one piece. */
function create(text: string, root: Node, path: KeyPath, value: Json, layout: Layout): Stepped {
  let container = root;
  let depth = 0;
  for (; depth < path.length; depth += 1) {
    const next = findNodeAtLocation(root, path.slice(0, depth + 1));
    if (next === undefined) break;
    container = next;
  }
  if (container.type !== 'object') {
    return { ok: false, sentence: `has something else than an object at ${shownPath(path.slice(0, depth))}` };
  }
  const nested = path.slice(depth + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return { ok: true, text: appendChild(text, container, path[depth] ?? '', nested, layout) };
}

/**
 * Takes edits out. `mayEmpty` says of an object or list that our removal left empty whether it may go as well.
 * Hooks are known by their command, so one that a person moved or an older version wrote goes too.
 */
export function removeJsonEdits(
  original: string,
  edits: readonly JsonEdit[],
  host: string,
  mayEmpty: (path: KeyPath) => boolean,
): Edited {
  const { mark, plain } = withoutMark(original);
  let text = plain;
  for (const edit of edits) {
    const document = parseDocument(text);
    if (!document.ok) return document;
    const before = text;
    text = withoutEdit(text, document.root, edit, host);
    if (text !== before)
      text = prune(text, edit.kind === 'member' ? edit.path.slice(0, -1) : edit.path, mayEmpty);
  }
  return { ok: true, text: mark + text, kept: [] };
}

function withoutEdit(text: string, root: Node, edit: JsonEdit, host: string): string {
  if (edit.kind === 'hook') return removeHooks(text, edit.path, host);
  return edit.kind === 'package' ? removePackage(text, edit.path, edit.name) : removeOne(text, root, edit);
}

function removeOne(text: string, root: Node, edit: Extract<JsonEdit, { kind: 'member' | 'entry' }>): string {
  const target = findNodeAtLocation(root, [...edit.path]);
  if (target === undefined) return text;
  if (edit.kind === 'member') {
    const isOurs = edit.named === true || isDeepStrictEqual(getNodeValue(target), edit.value);
    return isOurs && target.parent !== undefined ? removeChild(text, target.parent) : text;
  }
  const entry = target.children?.find((child) => child.value === edit.value);
  return entry === undefined ? text : removeChild(text, entry);
}

function prune(start: string, path: KeyPath, mayEmpty: (path: KeyPath) => boolean): string {
  let text = start;
  for (let length = path.length; length > 0; length -= 1) {
    const place = path.slice(0, length);
    const document = parseDocument(text);
    const container = document.ok ? findNodeAtLocation(document.root, [...place]) : undefined;
    const isEmpty =
      container?.children?.length === 0 &&
      /^.\s*.$/.test(text.slice(container.offset, container.offset + container.length));
    if (!isEmpty || container?.parent === undefined || !mayEmpty(place)) return text;
    text = removeChild(text, container.parent);
  }
  return text;
}

/** Programs read the last of two equal keys, this one the first: an edit would go unseen. */
function doubledKey(root: Node, path: KeyPath): string | null {
  let node: Node | undefined = root;
  for (const key of path) {
    const named: Node[] = (node?.children ?? []).filter((property) => property.children?.[0]?.value === key);
    if (named.length > 1) return key;
    node = named[0]?.children?.[1];
  }
  return null;
}

function shownPath(path: KeyPath): string {
  return path.length === 0 ? 'its root' : `"${path.join('.')}"`;
}

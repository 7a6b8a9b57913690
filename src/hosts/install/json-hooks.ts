// Hooks in a JSON text: elements of a list that carry a command of ours, one or two lists deep. They are known by
// the command, so that one of an older version, or one that a person moved, is found; hooks of others are not touched.
import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, getNodeValue } from 'jsonc-parser';
import type { Json, KeyPath } from './edit.ts';
import { type HookCommand, readHookCommand } from './hook-command.ts';
import { type Layout, type Node, parseDocument, withoutMark } from './json-document.ts';
import { appendChild, removeChild, replaceValue } from './json-splice.ts';
import { readSettingsFile } from './settings-file.ts';

/** One element with our command, as it should be: any other of ours goes, and the first lends its place. */
export function setHook(text: string, list: Node, value: Json, layout: Layout, host: string): string {
  const ours = hooksIn(list, host);
  const [first, ...others] = ours;
  if (first === undefined) return appendChild(text, list, null, value, layout);
  const element = elementOf(list, first);
  const standsAlone = hooksAndNeighbours(element) === 1;
  if (others.length === 0 && standsAlone) {
    return isDeepStrictEqual(getNodeValue(element), value)
      ? text
      : replaceValue(text, element, value, layout);
  }
  const cleared = removeHooks(text, pathOf(list), host);
  const again = parseDocument(cleared);
  const left = again.ok ? findNodeAtLocation(again.root, [...pathOf(list)]) : undefined;
  return left === undefined ? text : appendChild(cleared, left, null, value, layout);
}

export function removeHooks(start: string, path: KeyPath, host: string): string {
  let text = start;
  for (;;) {
    const document = parseDocument(text);
    const list = document.ok ? findNodeAtLocation(document.root, [...path]) : undefined;
    const [hook] = list === undefined ? [] : hooksIn(list, host);
    if (list === undefined || hook === undefined) return text;
    // With the last command of an element the element itself has no meaning any more.
    const element = elementOf(list, hook);
    text = removeChild(text, hooksAndNeighbours(element) === 1 ? element : hook);
  }
}

/** The commands of ours in the lists at `paths` of a settings file, each once. A file that cannot be read has none. */
export function findHookCommands(file: string, paths: readonly KeyPath[], host: string): HookCommand[] {
  const settings = readSettingsFile(file);
  if (!settings.ok || settings.text === null) return [];
  const document = parseDocument(withoutMark(settings.text).plain);
  if (!document.ok) return [];
  const commands = paths.flatMap((path) => {
    const list = findNodeAtLocation(document.root, [...path]);
    return list === undefined ? [] : hooksIn(list, host).flatMap(stringsIn);
  });
  return [...new Set(commands)].flatMap((text) => readHookCommand(text, host) ?? []);
}

/** The innermost list elements that carry a command of ours: hosts nest hooks one or two lists deep. */
function hooksIn(list: Node, host: string): Node[] {
  return (list.children ?? []).flatMap((element) => {
    const deeper = listsIn(element).flatMap((inner) => hooksIn(inner, host));
    return deeper.length > 0
      ? deeper
      : stringsIn(element).some((text) => readHookCommand(text, host) !== null)
        ? [element]
        : [];
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

/** How many hooks stand in the element, ours and others. */
function hooksAndNeighbours(element: Node): number {
  const lists = listsIn(element);
  return lists.length === 0 ? 1 : lists.reduce((sum, list) => sum + (list.children?.length ?? 0), 0);
}

function elementOf(list: Node, inner: Node): Node {
  let node = inner;
  while (node.parent !== undefined && node.parent !== list) node = node.parent;
  return node;
}

function pathOf(node: Node): string[] {
  const path: string[] = [];
  for (let inner: Node | undefined = node; inner?.parent !== undefined; inner = inner.parent) {
    if (inner.type === 'property') path.unshift(String(inner.children?.[0]?.value));
  }
  return path;
}

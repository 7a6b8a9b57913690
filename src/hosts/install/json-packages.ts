// Our package in a list of packages, as hosts with plugins keep it: `"name@1.2.3"`, `"name"`, or a pair with options. What
// `init` writes is the pinned name alone, and only that is replaced or taken out; the other ways are a person's.
import { findNodeAtLocation } from 'jsonc-parser';
import type { JsonEdit, KeyPath } from './edit.ts';
import { type Layout, type Node, parseDocument } from './json-document.ts';
import { appendChild, removeChild, replaceValue } from './json-splice.ts';

type PackageEdit = Extract<JsonEdit, { kind: 'package' }>;

/** @param list at `edit.path` in `text` */
export function setPackage(text: string, list: Node, edit: PackageEdit, layout: Layout): string {
  const { path, name, version } = edit;
  const wanted = `${name}@${version}`;
  const ours = (list.children ?? []).filter((element) => namesPackage(element, name));
  const [pinned, ...others] = ours.filter((element) => isPinned(element, name));
  const isWrittenByPerson = pinned === undefined && ours.length > 0;
  if (isWrittenByPerson) return text;
  if (pinned === undefined) return appendChild(text, list, null, wanted, layout);
  if (others.length === 0) {
    return pinned.value === wanted ? text : replaceValue(text, pinned, wanted, layout);
  }
  const cleared = removePackage(text, path, name);
  const again = parseDocument(cleared);
  const left = again.ok ? findNodeAtLocation(again.root, [...path]) : undefined;
  return left === undefined ? text : appendChild(cleared, left, null, wanted, layout);
}

export function removePackage(start: string, path: KeyPath, name: string): string {
  let text = start;
  for (;;) {
    const document = parseDocument(text);
    const list = document.ok ? findNodeAtLocation(document.root, [...path]) : undefined;
    const pinned = list?.children?.find((element) => isPinned(element, name));
    if (pinned === undefined) return text;
    text = removeChild(text, pinned);
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

function isPinned(element: Node, name: string): boolean {
  const value: unknown = element.value;
  return (
    typeof value === 'string' && value.startsWith(`${name}@`) && /^\d/.test(value.slice(name.length + 1))
  );
}

function namesPackage(element: Node, name: string): boolean {
  const value: unknown = element.type === 'array' ? element.children?.[0]?.value : element.value;
  return packageVersions([value], name).length > 0;
}

// Reads one untrusted value as a kind of the table and reports every way in which it does not fit.
// It walks the table, never the value: depth and work are bounded by what we know, not by what came in.

import { closestName } from './closest-name.ts';
import { excerpt } from './excerpt.ts';
import type { Kind, NamedKind, SectionKind } from './kinds.ts';
import { joinPath, type Report } from './problem.ts';

/** Visible text on one line; the JSON Schema carries the same pattern. */
export const textPattern = '^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\s][^\\p{Cc}\\p{Cs}]*$';
const isVisibleText = new RegExp(textPattern, 'u');

export const nameKind = { type: 'text', maximumLength: 100 } as const;

/** As keys of an object these reach its prototype instead of its content. */
export const reservedNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/** Returns the value as we keep it; what it returns is meaningless once something was reported. */
export function readValue(kind: Kind, value: unknown, path: string, report: Report): unknown {
  switch (kind.type) {
    case 'nullable':
      if (value === null) return null;
      if (isLeaf(kind.of) && !fits(kind.of, value)) break;
      return readValue(kind.of, value, path, report);
    case 'either': {
      const meant = kind.of.find((one) => looksLike(one, value));
      if (meant === undefined) break;
      return readValue(meant, value, path, report);
    }
    case 'list':
      if (!Array.isArray(value) || value.length > kind.maximumItems) break;
      return Array.from(value, (item, index) => readValue(kind.of, item, `${path}[${index}]`, report));
    case 'section':
      if (!isObject(value)) break;
      return readSection(kind, value, path, report);
    case 'named':
      if (!isObject(value) || Object.keys(value).length > kind.maximumEntries) break;
      return readNamed(kind, value, path, report);
    default:
      if (fits(kind, value)) return value;
  }
  report(path, `must be ${expectation(kind)}, got ${excerpt(value)}`);
  return undefined;
}

function readSection(
  kind: SectionKind,
  value: Record<string, unknown>,
  path: string,
  report: Report,
): unknown {
  const known = Object.keys(kind.fields);
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const field = Object.hasOwn(kind.fields, key) ? kind.fields[key] : undefined;
    const keyPath = joinPath(path, key);
    if (field === undefined) report(keyPath, () => unknownKey(key, path, known));
    else entries.push([key, readValue(field.kind, inner, keyPath, report)]);
  }
  return Object.fromEntries(entries);
}

function unknownKey(key: string, path: string, known: readonly string[]): string {
  const closest = closestName(key, known);
  const where = path === '' ? 'is not a setting' : 'is not a setting that can be given here';
  return closest === null ? where : `${where}; did you mean "${closest}"?`;
}

function readNamed(kind: NamedKind, value: Record<string, unknown>, path: string, report: Report): unknown {
  const spellings = new Map<string, string>();
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const namePath = joinPath(path, name);
    const key = name.toLowerCase();
    const earlier = spellings.get(key);
    if (reservedNames.includes(key)) report(namePath, 'cannot be used as a name');
    else if (!fits(nameKind, name)) report(namePath, `the name must be ${expectation(nameKind)}`);
    else if (earlier !== undefined) report(namePath, `is given twice: ${excerpt(earlier)} is the same name`);
    else {
      spellings.set(key, name);
      entries.push([key, readValue(kind.of, inner, namePath, report)]);
    }
  }
  return Object.fromEntries(entries);
}

function isLeaf(kind: Kind): boolean {
  return !['list', 'section', 'named', 'either'].includes(kind.type);
}

/** What someone meant who wrote this value, right or wrong: a text is never a mistaken list. */
function looksLike(kind: Kind, value: unknown): boolean {
  if (kind.type === 'list') return Array.isArray(value);
  if (kind.type === 'text') return typeof value === 'string';
  return kind.type === 'section' || kind.type === 'named' ? isObject(value) : fits(kind, value);
}

function fits(kind: Kind, value: unknown): boolean {
  switch (kind.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && isBetween(value as number, kind.minimum, kind.maximum);
    case 'number':
      return typeof value === 'number' && isBetween(value, kind.minimum, kind.maximum);
    case 'choice':
      return typeof value === 'string' && kind.values.includes(value);
    case 'text':
      return typeof value === 'string' && isText(value, kind.maximumLength);
    default:
      return false;
  }
}

/** NaN is between nothing. */
function isBetween(value: number, minimum: number, maximum: number): boolean {
  return value >= minimum && value <= maximum;
}

function isText(value: string, maximumLength: number): boolean {
  // The cheap question first: a huge text is never split into characters.
  return value.length <= 2 * maximumLength && [...value].length <= maximumLength && isVisibleText.test(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  // Dates, maps and the like are objects without keys; they must not pass for an empty section.
  return Object.prototype.toString.call(value) === '[object Object]';
}

function expectation(kind: Kind): string {
  switch (kind.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number from ${kind.minimum} to ${kind.maximum}`;
    case 'number':
      return `a number from ${kind.minimum} to ${kind.maximum}`;
    case 'choice':
      return `one of ${kind.values.join(', ')}`;
    case 'text':
      return `a visible text on one line of at most ${kind.maximumLength} characters`;
    case 'list':
      return `a list of at most ${kind.maximumItems} entries`;
    case 'nullable':
      return `${expectation(kind.of)}, or null`;
    case 'either':
      return kind.of.map(expectation).join(', or ');
    case 'section':
      return 'an object';
    case 'named':
      return `an object of at most ${kind.maximumEntries} names`;
  }
}

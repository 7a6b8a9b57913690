// Edits one table of a TOML text in place: comments, order and line ends stay. Refuses a
// text that does not fit, with a Refusal.
import { isDeepStrictEqual } from 'node:util';
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { messageOf } from '../../core/error.ts';
import { type Fields, recordOf } from '../untrusted.ts';
import { askOr, Refusal } from './files.ts';
import { endOfLineIn, type Json } from './json-text.ts';

type KeyPath = readonly string[];

/**
 * Sets keys of the table at `path`. A person's values stay, unless the table is `named`
 * for us; other keys stay anyway.
 */
export type TomlEdit = Readonly<{
  kind: 'table';
  path: KeyPath;
  value: Readonly<Record<string, Json>>;
  named?: true;
}>;

export const parseToml = (text: string): Fields =>
  structuredClone(recordOf(getStaticTOMLValue(parse(text))));

/** The value at a path; undefined: nothing is there, or the text is not TOML. */
export const valueAt = (text: string, path: KeyPath): unknown =>
  askOr(undefined, () => find(text, path));

const find = (text: string, path: KeyPath) =>
  path.reduce<unknown>((value, key) => recordOf(value)[key], parseToml(text));

function parse(text: string): AST.TOMLProgram {
  try {
    // A blank in place of a byte order mark keeps the offsets.
    return parseTOML(text.replace(/^\uFEFF/, ' '));
  } catch (error) {
    const place =
      error instanceof ParseError
        ? `line ${error.lineNumber}, column ${error.column + 1}: `
        : '';
    throw new Refusal(`is not valid TOML: ${place}${messageOf(error)}`, { cause: error });
  }
}

/**
 * The table at a path and those below it: another program may have split our one table
 * into several.
 */
function tablesAt(text: string, path: KeyPath): AST.TOMLTable[] {
  const isIt = (key: readonly unknown[]) =>
    isDeepStrictEqual(key.slice(0, path.length), path);
  return parse(text).body[0].body.filter(
    (node) => node.type === 'TOMLTable' && isIt(node.resolvedKey),
  ) as AST.TOMLTable[];
}

const ownTable = (text: string, path: KeyPath) =>
  tablesAt(text, path).find(({ resolvedKey }) => resolvedKey.length === path.length);

/**
 * Gives the text with the edit; an edit that is there already changes nothing. Throws a
 * Refusal.
 */
export function applyToml(text: string, { path, value, named }: TomlEdit): string {
  const there = find(text, path);
  const entries = Object.entries(value);
  if (there === undefined) {
    const lines = [`[${path.map(writeKey).join('.')}]`, ...entries.map(writeEntry)];
    const endOfLine = endOfLineIn(text);
    const start = text.trimEnd() === '' ? text : asLines(text);
    const gap = start === '' || /\n\r?\n$/.test(start) ? '' : endOfLine;
    return checked(
      start + gap + lines.map((line) => line + endOfLine).join(''),
      path,
      value,
    );
  }
  const known = recordOf(there);
  const wrong = entries.filter(([key, one]) => !isDeepStrictEqual(known[key], one));
  const changed = wrong.filter(([key]) => named || known[key] === undefined);
  if (changed.length === 0) return text;
  const wanted = { ...known, ...Object.fromEntries(changed) };
  return checked(
    changed.reduce((one, entry) => setKey(one, path, entry), text),
    path,
    wanted,
  );
}

function checked(text: string, path: KeyPath, wanted: object): string {
  if (isDeepStrictEqual(valueAt(text, path), wanted)) return text;
  throw new Refusal(`has "${path.join('.')}" in a form that untildone does not edit`);
}

function setKey(text: string, path: KeyPath, entry: [string, Json]): string {
  const table = ownTable(text, path);
  const node = table && pairOf(table, entry[0]);
  if (node)
    return (
      text.slice(0, node.value.range[0]) +
      writeValue(entry[1]) +
      text.slice(node.value.range[1])
    );
  if (!table) return text;
  const lines = asLines(text);
  const at = lineEnd(lines, table.key.range[1]);
  return lines.slice(0, at) + writeEntry(entry) + endOfLineIn(lines) + lines.slice(at);
}

/**
 * Gives the text without the edit.
 * @param mayEmpty whether a table that is empty then may go too
 */
export function removeToml(
  text: string,
  edit: TomlEdit,
  mayEmpty: (path: KeyPath) => boolean,
): string {
  const { path, value, named } = edit;
  if (text.trim() === '') return text;
  if (named) return tablesAt(text, path).reduceRight(cutTable, text);
  const known = recordOf(find(text, path));
  const ours = Object.keys(value).filter((key) =>
    isDeepStrictEqual(known[key], value[key]),
  );
  const left = ours.reduce((one, key) => {
    const table = ownTable(one, path);
    const node = table && pairOf(table, key);
    return node ? cutLines(one, node.range) : one;
  }, text);
  const table = ownTable(left, path);
  return left !== text && table?.body.length === 0 && mayEmpty(path)
    ? cutTable(left, table)
    : left;
}

const pairOf = (table: AST.TOMLTable, key: string) =>
  table.body.find(
    ({ key: { keys } }) => keys.length === 1 && isDeepStrictEqual(nameOf(keys[0]), key),
  );
const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted | undefined) =>
  key && ('name' in key ? key.name : key.value);

/**
 * Removes a table, with the blank line before it, unless something follows that needs
 * that line.
 */
function cutTable(text: string, { range }: AST.TOMLTable): string {
  const left = cutLines(text, range);
  const start = lineStart(text, range[0]);
  const needsGap = /\S/.test(/^.*/.exec(left.slice(start))?.[0] ?? '');
  return needsGap
    ? left
    : left.slice(0, start).replace(/(\n)\r?\n$/, '$1') + left.slice(start);
}

const cutLines = (text: string, [start, end]: AST.Range) =>
  text.slice(0, lineStart(text, start)) + text.slice(lineEnd(text, end));
const lineStart = (text: string, offset: number) =>
  text.lastIndexOf('\n', offset - 1) + 1;
const lineEnd = (text: string, offset: number) =>
  text.indexOf('\n', offset) + 1 || text.length;
const asLines = (text: string) => (text.endsWith('\n') ? text : text + endOfLineIn(text));

// Strings, numbers and lists of JSON are valid TOML too. Any other value is refused when
// the text is read again.
const writeKey = (key: string) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));
const writeEntry = ([key, value]: [string, Json]) =>
  `${writeKey(key)} = ${writeValue(value)}`;
/** A value in TOML, on one line. */
export function writeValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value).map(writeEntry).join(', ')} }`;
}

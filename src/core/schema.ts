// The one schema system: kinds of values, their types (`Infer`), one reader, and their
// JSON Schema. The reader walks the table of the kind and never the value, so its work is
// bounded by what we know and not by what came in.
import {
  collectProblems,
  didYouMean,
  excerpt,
  joinPath,
  type Problem,
  type Report,
} from './problem.ts';

/** A kind of value: how it is read, and the type `T` of the result. */
export type Kind<T = unknown> = Shape & Traits<T>;

/** What every kind may say besides its shape. */
export interface Traits<T> {
  /** Never set: it only carries the type. */
  readonly holds?: () => T;
  readonly summary?: string;
  /** As a field of an object, the value may be missing or null. */
  readonly optional?: boolean;
  /** The words after "must be", for a shape that has no good words of its own. */
  readonly expected?: string;
  /** The JSON Schema defines the kind once, under this name, and refers to it. */
  readonly definition?: string;
}

/** The type of the values of a kind. */
export type Infer<K> = K extends { readonly holds?: () => infer T } ? T : never;
/** The fields of an object or a section, by name. */
export type Fields = Readonly<Record<string, Kind>>;

type Shape = Readonly<
  | { type: 'boolean' }
  | { type: 'integer' | 'number'; minimum: number; maximum: number }
  | { type: 'choice'; values: readonly string[] }
  /** The length is in UTF-16 units. */
  | { type: 'text'; minimum: number; maximum: number; notBlank?: boolean }
  /**
   * One visible line: not blank, no control characters, no halves of surrogate pairs. The
   * length is in code points.
   */
  | { type: 'line'; maximum: number }
  | { type: 'list'; of: Kind; maximum: number; unread?: boolean }
  | { type: 'nullable'; of: Kind }
  /**
   * A line or a list, told apart by the type of the value, so that a text is never taken
   * for a wrong list. `refuses` says what else is wrong with a value of the right shape.
   */
  | { type: 'either'; of: readonly Kind[]; refuses?: (value: unknown) => string | null }
  | ObjectShape
  | SectionShape
  /** An object with names that people choose; the names are kept in lower case. */
  | { type: 'named'; of: Kind; maximum: number }
  /** Objects of several types; the word in the field `tag` says which. */
  | { type: 'variant'; tag: string; of: Readonly<Record<string, ObjectShape>> }
  | { type: 'taken'; take: (value: unknown) => unknown }
>;

type ObjectShape = Readonly<{
  type: 'object';
  fields: Fields;
  entries: readonly (readonly [string, Kind])[];
}>;

/**
 * An object that people write: every key may be missing, and an unknown key is a mistake.
 */
export type SectionShape = Readonly<{
  type: 'section';
  fields: Fields;
  /** The fields make sense only together, so a stronger source replaces all of them. */
  isOneValue?: boolean;
}>;

type Optional = { readonly optional: true };
type Flat<T> = { [Name in keyof T]: T[Name] };

/** The type of an object with these fields. */
export type Values<F> = Flat<
  {
    readonly [Name in keyof F as F[Name] extends Optional ? never : Name]: Infer<F[Name]>;
  } & {
    readonly [Name in keyof F as F[Name] extends Optional ? Name : never]?:
      | Infer<F[Name]>
      | undefined;
  }
>;

/** One type of object for each word of the tag. */
export type Variant<Tag extends string, Table> = {
  [Name in keyof Table]: Flat<{ readonly [T in Tag]: Name } & Values<Table[Name]>>;
}[keyof Table];

/** The type of a section: every field may be missing. */
export type Part<F> = { readonly [Name in keyof F]?: Infer<F[Name]> };

/** The maximum of a kind that has no limit. */
export const unbounded = Number.MAX_SAFE_INTEGER;
/** True or false. */
export const flag: Kind<boolean> = { type: 'boolean' };
/** A whole number between two bounds. */
export const integer = numeric('integer');
/** A number between two bounds. */
export const number = numeric('number');
/** A text with any number of lines, measured in UTF-16 units. */
export const text = (maximum = unbounded, minimum = 0): Kind<string> => ({
  type: 'text',
  minimum,
  maximum,
});
/** A visible text on one line, measured in code points. */
export const line = (maximum: number): Kind<string> => ({ type: 'line', maximum });
/** An id. Hosts use UUIDs, paths and hashes as ids, so a longer text is none. */
export const identifier: Kind<string> = {
  type: 'text',
  minimum: 1,
  maximum: 200,
  notBlank: true,
};

function numeric(type: 'integer' | 'number') {
  return (minimum: number, maximum = unbounded): Kind<number> => ({
    type,
    minimum,
    maximum,
  });
}

/** One of these words. */
export function choice<const Words extends readonly string[]>(
  ...values: Words
): Kind<Words[number]> {
  return { type: 'choice', values };
}

/** A list of values of one kind. */
export function list<T>(of: Kind<T>, maximum = unbounded): Kind<readonly T[]> {
  return { type: 'list', of, maximum };
}

/**
 * A list whose entries the caller reads one by one, so that a bad entry does not cost the
 * others.
 */
export function unreadList(of: Kind): Kind<readonly unknown[]> {
  return { type: 'list', of, maximum: unbounded, unread: true };
}

/** A value or null. A field of an object that is missing reads as null. */
export function nullable<T>(of: Kind<T>): Kind<T | null> {
  return { type: 'nullable', of };
}

/** A field that may be missing; if it is null, it is left out too. */
export function optional<K extends Kind>(kind: K): K & Optional {
  return { ...kind, optional: true };
}

/** The kind with a sentence that tells people what it means. */
export function described<K extends Kind>(
  kind: K,
  summary: string,
): K & { readonly summary: string } {
  return { ...kind, summary };
}

/** A value of one of these kinds, told apart by its type. */
export function either<const Kinds extends readonly Kind[]>(
  ...of: Kinds
): Kind<Infer<Kinds[number]>> {
  return { type: 'either', of };
}

/**
 * Interfaces, because the declarations of the package then name them instead of spelling
 * them out.
 */
export interface ObjectKind<F extends Fields> extends ObjectShape, Traits<Values<F>> {
  readonly fields: F;
}
/** A section, with the type of its values. */
export interface SectionKind<F extends Fields> extends SectionShape, Traits<Part<F>> {}

/** An object with these fields; unknown keys are left out. */
export function object<const F extends Fields>(fields: F): ObjectKind<F> {
  return { type: 'object', fields, entries: Object.entries(fields) };
}

/** A section with these fields; an unknown key is a problem. */
export function section<const F extends Fields>(fields: F): SectionKind<F> {
  return { type: 'section', fields };
}

/** An object whose keys are names that people choose. */
export function named<T>(
  of: Kind<T>,
  maximum: number,
): Kind<{ readonly [name: string]: T }> {
  return { type: 'named', of, maximum };
}

/** An object whose field `tag` says which of these tables its other fields come from. */
export function variant<
  const Tag extends string,
  const Table extends Readonly<Record<string, Fields>>,
>(tag: Tag, table: Table): Kind<Variant<Tag, Table>> {
  const of = Object.fromEntries(
    Object.entries(table).map(([word, fields]) => [word, object(fields)]),
  );
  return { type: 'variant', tag, of };
}

/** A value that `take` turns into another one; nothing is refused. */
export function taken<T>(take: (value: unknown) => T): Kind<T> {
  return { type: 'taken', take };
}

/** The value that was read, or every problem that was found. */
export type Read<T> =
  | Readonly<{ ok: true; value: T }>
  | Readonly<{ ok: false; problems: readonly Problem[] }>;

/**
 * Reads a value from outside. Keys that an object of this kind does not know are left
 * out.
 */
export function read<T>(kind: Kind<T>, value: unknown, mostProblems?: number): Read<T> {
  const { report, problems } = collectProblems(mostProblems);
  const found = readInto(kind, value, '', report);
  return problems().length === 0
    ? { ok: true, value: found }
    : { ok: false, problems: problems() };
}

/** Reads a value and reports its problems. After a report the result must not be used. */
export function readInto<T>(
  kind: Kind<T>,
  value: unknown,
  path: string,
  report: Report,
): T {
  return readKind(kind, value, { path, keys: [], report }) as T;
}

/** Where the reader stands. The path is put into words only if there is a problem. */
type ReadPosition = Readonly<{
  path: string;
  keys: (string | number)[];
  report: Report;
}>;

function readKind(kind: Kind, value: unknown, position: ReadPosition): unknown {
  switch (kind.type) {
    case 'nullable':
      if (value === null) return null;
      if (leaves.includes(kind.of.type) && !fits(kind.of, value)) break;
      return readKind(kind.of, value, position);
    case 'taken':
      return kind.take(value);
    case 'either': {
      const isMeant = ({ type }: Kind): boolean =>
        type === 'list' ? Array.isArray(value) : typeof value === 'string';
      const fitting = kind.of.find(isMeant);
      if (fitting === undefined) break;
      const found = readKind(fitting, value, position);
      const wrong = kind.refuses?.(value) ?? null;
      if (wrong !== null) reportAt(position, wrong);
      return found;
    }
    case 'list':
      if (!Array.isArray(value) || value.length > kind.maximum) break;
      if (kind.unread === true) return value;
      return Array.from({ length: value.length }, (_, at) =>
        readAt(kind.of, value[at], position, at),
      );
    case 'object':
      if (!isObject(value)) break;
      return readFields(kind, value, {}, position);
    case 'variant': {
      if (!isObject(value)) break;
      const word = ownValue(value, kind.tag);
      const fields =
        typeof word === 'string' && Object.hasOwn(kind.of, word)
          ? kind.of[word]
          : undefined;
      if (fields !== undefined)
        return readFields(fields, value, { [kind.tag]: word }, position);
      return readAt(
        { type: 'choice', values: Object.keys(kind.of) },
        word,
        position,
        kind.tag,
      );
    }
    case 'section':
      if (!isObject(value)) break;
      return readSection(kind, value, position);
    case 'named':
      if (!isObject(value) || Object.keys(value).length > kind.maximum) break;
      return readNamed(kind.of, value, position);
    default:
      if (fits(kind, value)) return value;
  }
  reportAt(position, () => {
    const sentence = `must be ${describeKind(kind)}, got ${excerpt(value)}`;
    const { values = [] } = (kind.type === 'nullable' ? kind.of : kind) as {
      values?: readonly string[];
    };
    return typeof value === 'string' ? didYouMean(sentence, value, values) : sentence;
  });
  return undefined;
}

function readAt(
  kind: Kind,
  value: unknown,
  position: ReadPosition,
  key: string | number,
): unknown {
  position.keys.push(key);
  const found = readKind(kind, value, position);
  position.keys.pop();
  return found;
}

function reportAt(
  position: ReadPosition,
  message: string | (() => string),
  key?: string,
): void {
  position.report(pathIn(position, key), message);
}

function pathIn(position: ReadPosition, key?: string): () => string {
  const keys = key === undefined ? position.keys : [...position.keys, key];
  return () =>
    keys.reduce<string>(
      (at, part) => (typeof part === 'number' ? `${at}[${part}]` : joinPath(at, part)),
      position.path,
    );
}

function readFields(
  { entries }: ObjectShape,
  value: Record<string, unknown>,
  copy: Record<string, unknown>,
  position: ReadPosition,
): unknown {
  for (const [name, kind] of entries) {
    const own = ownValue(value, name);
    const isMissing = own === undefined || own === null;
    if (isMissing && kind.optional === true) continue;
    const found =
      isMissing && kind.type === 'nullable' ? null : readAt(kind, own, position, name);
    if (found !== undefined) copy[name] = found;
  }
  return copy;
}

function readSection(
  { fields }: SectionShape,
  value: Record<string, unknown>,
  position: ReadPosition,
): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const where =
      position.path === '' && position.keys.length === 0 ? '' : ' that can be given here';
    if (kind === undefined)
      reportAt(
        position,
        () => didYouMean(`is not a setting${where}`, key, Object.keys(fields)),
        key,
      );
    else entries.push([key, readAt(kind, inner, position, key)]);
  }
  return Object.fromEntries(entries);
}

const nameKind = line(100);

/** As keys, these names would reach the prototype of an object. */
const reservedNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

function readNamed(
  kind: Kind,
  value: Record<string, unknown>,
  position: ReadPosition,
): unknown {
  const spellings = new Map<string, string>();
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const key = name.toLowerCase();
    const earlier = spellings.get(key);
    if (reservedNames.includes(key)) reportAt(position, 'cannot be used as a name', name);
    else if (!fits(nameKind, name))
      reportAt(position, `the name must be ${describeKind(nameKind)}`, name);
    else if (earlier !== undefined)
      reportAt(position, `is given twice: ${excerpt(earlier)} is the same name`, name);
    else {
      spellings.set(key, name);
      entries.push([key, readAt(kind, inner, position, name)]);
    }
  }
  return Object.fromEntries(entries);
}

/**
 * The value of a key that the object itself has. People choose names, and `constructor`
 * must not find what every object inherits.
 */
export function ownValue<T>(
  value: Readonly<Record<string, T>>,
  key: string,
): T | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Whether the value is an object with fields; dates, maps and the like must not pass for
 * an empty section.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

const leaves: readonly string[] = [
  'boolean',
  'integer',
  'number',
  'choice',
  'text',
  'line',
];

const linePattern = '^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\s][^\\p{Cc}\\p{Cs}]*$';
const isLine = new RegExp(linePattern, 'u');

function fits(kind: Kind, value: unknown): boolean {
  switch (kind.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return (
        Number.isSafeInteger(value) &&
        isBetween(value as number, kind.minimum, kind.maximum)
      );
    case 'number':
      return typeof value === 'number' && isBetween(value, kind.minimum, kind.maximum);
    case 'choice':
      return typeof value === 'string' && kind.values.includes(value);
    case 'text':
      if (
        typeof value !== 'string' ||
        !isBetween(value.length, kind.minimum, kind.maximum)
      )
        return false;
      return kind.notBlank !== true || value.trim() !== '';
    case 'line':
      // The cheap test comes first, so that a huge text is never split into characters.
      if (typeof value !== 'string' || value.length > 2 * kind.maximum) return false;
      return [...value].length <= kind.maximum && isLine.test(value);
    default:
      return false;
  }
}

/** False for NaN. */
function isBetween(value: number, minimum: number, maximum: number): boolean {
  return value >= minimum && value <= maximum;
}

function describeKind(kind: Kind): string {
  if (kind.expected !== undefined) return kind.expected;
  switch (kind.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number': {
      const noun = kind.type === 'integer' ? 'a whole number' : 'a number';
      return kind.maximum === unbounded
        ? `${noun} of at least ${kind.minimum}`
        : `${noun} from ${kind.minimum} to ${kind.maximum}`;
    }
    case 'choice':
      return `one of ${kind.values.join(', ')}`;
    case 'text':
      if (kind.maximum === unbounded)
        return kind.minimum === 0 ? 'a text' : 'a text that is not empty';
      return kind.minimum === 0
        ? `a text of at most ${kind.maximum} characters`
        : `a text of ${kind.minimum} to ${kind.maximum} characters`;
    case 'line':
      return `a visible text on one line of at most ${kind.maximum} characters`;
    case 'list':
      return kind.maximum === unbounded
        ? 'a list'
        : `a list of at most ${kind.maximum} entries`;
    case 'nullable':
      return `${describeKind(kind.of)}, or null`;
    case 'either':
      return kind.of.map(describeKind).join(', or ');
    case 'named':
      return `an object of at most ${kind.maximum} names`;
    default:
      return 'an object';
  }
}

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * The JSON Schema of a kind (draft 2020-12), for editors, models and readers of our
 * events.
 */
export function jsonSchema(kind: Kind): JsonSchema {
  const { summary, definition } = kind;
  if (definition !== undefined) return { $ref: `#/$defs/${definition}` };
  return {
    ...(summary === undefined ? {} : { description: summary }),
    ...shapeSchema(kind),
  };
}

function shapeSchema(kind: Kind): JsonSchema {
  switch (kind.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: kind.type, minimum: kind.minimum, ...upTo('maximum', kind.maximum) };
    case 'choice':
      return { type: 'string', enum: kind.values };
    case 'text':
      return {
        type: 'string',
        ...(kind.minimum === 0 ? {} : { minLength: kind.minimum }),
        ...upTo('maxLength', kind.maximum),
      };
    case 'line':
      return { type: 'string', maxLength: kind.maximum, pattern: linePattern };
    case 'list':
      return {
        type: 'array',
        items: jsonSchema(kind.of),
        ...upTo('maxItems', kind.maximum),
      };
    case 'nullable':
      return { anyOf: [jsonSchema(kind.of), { type: 'null' }] };
    case 'either':
      return { anyOf: kind.of.map(jsonSchema) };
    case 'section':
      return {
        type: 'object',
        properties: propertiesOf(kind.fields),
        additionalProperties: false,
      };
    case 'object':
      return objectSchema(kind.fields, {});
    case 'variant':
      return {
        oneOf: Object.entries(kind.of).map(([word, { fields }]) =>
          objectSchema(fields, { [kind.tag]: { const: word } }),
        ),
      };
    case 'named':
      return {
        type: 'object',
        propertyNames: { ...jsonSchema(nameKind), not: { enum: reservedNames } },
        additionalProperties: jsonSchema(kind.of),
        maxProperties: kind.maximum,
      };
    case 'taken':
      return {};
  }
}

function upTo(keyword: string, maximum: number): JsonSchema {
  return maximum === unbounded ? {} : { [keyword]: maximum };
}

function propertiesOf(fields: Fields): JsonSchema {
  return Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => [name, jsonSchema(kind)]),
  );
}

/**
 * The JSON Schema of an object. `fixed` holds properties that each such object has as
 * given.
 */
export function objectSchema(fields: Fields, fixed: JsonSchema): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  return {
    type: 'object',
    properties: { ...fixed, ...propertiesOf(fields) },
    required: [...Object.keys(fixed), ...required],
    additionalProperties: false,
  };
}

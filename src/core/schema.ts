// The one schema system: kinds of value, their types (`Infer`), one reader, their JSON
// Schema. The reader walks the table, never the value: work is bounded by what we know,
// not by what came in.
import {
  collectProblems,
  didYouMean,
  excerpt,
  joinPath,
  type Problem,
  type Report,
} from './problem.ts';

export type Kind<T = unknown> = Shape & Traits<T>;

export interface Traits<T> {
  /** Never there: it carries the type. */
  readonly holds?: () => T;
  readonly summary?: string;
  /** As a field of an object it may be missing or null. */
  readonly optional?: boolean;
  /** What to say after "must be", where the shape does not. */
  readonly expected?: string;
  /** In a JSON Schema it stands once, under this name. */
  readonly definition?: string;
}

export type Infer<K> = K extends { readonly holds?: () => infer T } ? T : never;
export type Fields = Readonly<Record<string, Kind>>;

type Shape = Readonly<
  | { type: 'boolean' }
  | { type: 'integer' | 'number'; minimum: number; maximum: number }
  | { type: 'choice'; values: readonly string[] }
  /** Length in UTF-16 units. */
  | { type: 'text'; minimum: number; maximum: number; notBlank?: boolean }
  /**
   * Never blank, without controls and halves of surrogate pairs. Length in code points.
   */
  | { type: 'line'; maximum: number }
  | { type: 'list'; of: Kind; maximum: number; unread?: boolean }
  | { type: 'nullable'; of: Kind }
  /**
   * A line or a list, told apart by the look of the value: a text is never a mistaken
   * list. `refuses`: what else is wrong with one of the right shape.
   */
  | { type: 'either'; of: readonly Kind[]; refuses?: (value: unknown) => string | null }
  | ObjectShape
  | SectionShape
  /** Names that people choose, kept in lower case. */
  | { type: 'named'; of: Kind; maximum: number }
  /** Objects told apart by the word in one field. */
  | { type: 'variant'; tag: string; of: Readonly<Record<string, ObjectShape>> }
  | { type: 'taken'; take: (value: unknown) => unknown }
>;

type ObjectShape = Readonly<{
  type: 'object';
  fields: Fields;
  entries: readonly (readonly [string, Kind])[];
}>;

/** What people write: any of the keys; an unknown one is a mistake. */
export type SectionShape = Readonly<{
  type: 'section';
  fields: Fields;
  /** Its fields make sense only together: a stronger source replaces the whole. */
  isOneValue?: boolean;
}>;

type Optional = { readonly optional: true };
type Flat<T> = { [Name in keyof T]: T[Name] };

export type Values<F> = Flat<
  {
    readonly [Name in keyof F as F[Name] extends Optional ? never : Name]: Infer<F[Name]>;
  } & {
    readonly [Name in keyof F as F[Name] extends Optional ? Name : never]?:
      | Infer<F[Name]>
      | undefined;
  }
>;

export type Variant<Tag extends string, Table> = {
  [Name in keyof Table]: Flat<{ readonly [T in Tag]: Name } & Values<Table[Name]>>;
}[keyof Table];

export type Part<F> = { readonly [Name in keyof F]?: Infer<F[Name]> };

export const unbounded = Number.MAX_SAFE_INTEGER;
export const flag: Kind<boolean> = { type: 'boolean' };
export const integer = numeric('integer');
export const number = numeric('number');
export const text = (maximum = unbounded, minimum = 0): Kind<string> => ({
  type: 'text',
  minimum,
  maximum,
});
export const line = (maximum: number): Kind<string> => ({ type: 'line', maximum });
/** Hosts' ids are UUIDs, paths or hashes; a longer one is not an id. */
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

export function choice<const Words extends readonly string[]>(
  ...values: Words
): Kind<Words[number]> {
  return { type: 'choice', values };
}

export function list<T>(of: Kind<T>, maximum = unbounded): Kind<readonly T[]> {
  return { type: 'list', of, maximum };
}

/** The caller reads them one by one: a bad one must not cost the others. */
export function unreadList(of: Kind): Kind<readonly unknown[]> {
  return { type: 'list', of, maximum: unbounded, unread: true };
}

/** As a field of an object: what is missing is null. */
export function nullable<T>(of: Kind<T>): Kind<T | null> {
  return { type: 'nullable', of };
}

export function optional<K extends Kind>(kind: K): K & Optional {
  return { ...kind, optional: true };
}

export function described<K extends Kind>(
  kind: K,
  summary: string,
): K & { readonly summary: string } {
  return { ...kind, summary };
}

export function either<const Kinds extends readonly Kind[]>(
  ...of: Kinds
): Kind<Infer<Kinds[number]>> {
  return { type: 'either', of };
}

/**
 * Interfaces, so that the declarations of the package name them instead of writing them
 * out.
 */
export interface ObjectKind<F extends Fields> extends ObjectShape, Traits<Values<F>> {
  readonly fields: F;
}
export interface SectionKind<F extends Fields> extends SectionShape, Traits<Part<F>> {}

export function object<const F extends Fields>(fields: F): ObjectKind<F> {
  return { type: 'object', fields, entries: Object.entries(fields) };
}

export function section<const F extends Fields>(fields: F): SectionKind<F> {
  return { type: 'section', fields };
}

export function named<T>(
  of: Kind<T>,
  maximum: number,
): Kind<{ readonly [name: string]: T }> {
  return { type: 'named', of, maximum };
}

export function variant<
  const Tag extends string,
  const Table extends Readonly<Record<string, Fields>>,
>(tag: Tag, table: Table): Kind<Variant<Tag, Table>> {
  const of = Object.fromEntries(
    Object.entries(table).map(([word, fields]) => [word, object(fields)]),
  );
  return { type: 'variant', tag, of };
}

export function taken<T>(take: (value: unknown) => T): Kind<T> {
  return { type: 'taken', take };
}

export type Read<T> =
  | Readonly<{ ok: true; value: T }>
  | Readonly<{ ok: false; problems: readonly Problem[] }>;

/** What the kind does not know is left out. */
export function read<T>(kind: Kind<T>, value: unknown, mostProblems?: number): Read<T> {
  const { report, problems } = collectProblems(mostProblems);
  const found = readInto(kind, value, '', report);
  return problems().length === 0
    ? { ok: true, value: found }
    : { ok: false, problems: problems() };
}

/** Once something was reported the result means nothing. */
export function readInto<T>(
  kind: Kind<T>,
  value: unknown,
  path: string,
  report: Report,
): T {
  return readKind(kind, value, { path, keys: [], report }) as T;
}

/** The path is put into words only when there is a problem. */
type Place = Readonly<{
  path: string;
  keys: (string | number)[];
  report: Report;
}>;

function readKind(kind: Kind, value: unknown, place: Place): unknown {
  switch (kind.type) {
    case 'nullable':
      if (value === null) return null;
      if (leaves.includes(kind.of.type) && !fits(kind.of, value)) break;
      return readKind(kind.of, value, place);
    case 'taken':
      return kind.take(value);
    case 'either': {
      const isMeant = ({ type }: Kind): boolean =>
        type === 'list' ? Array.isArray(value) : typeof value === 'string';
      const meant = kind.of.find(isMeant);
      if (meant === undefined) break;
      const found = readKind(meant, value, place);
      const wrong = kind.refuses?.(value) ?? null;
      if (wrong !== null) report(place, wrong);
      return found;
    }
    case 'list':
      if (!Array.isArray(value) || value.length > kind.maximum) break;
      if (kind.unread === true) return value;
      return Array.from({ length: value.length }, (_, at) =>
        readAt(kind.of, value[at], place, at),
      );
    case 'object':
      if (!isObject(value)) break;
      return readFields(kind, value, {}, place);
    case 'variant': {
      if (!isObject(value)) break;
      const word = ownValue(value, kind.tag);
      const fields =
        typeof word === 'string' && Object.hasOwn(kind.of, word)
          ? kind.of[word]
          : undefined;
      if (fields !== undefined)
        return readFields(fields, value, { [kind.tag]: word }, place);
      return readAt(
        { type: 'choice', values: Object.keys(kind.of) },
        word,
        place,
        kind.tag,
      );
    }
    case 'section':
      if (!isObject(value)) break;
      return readSection(kind, value, place);
    case 'named':
      if (!isObject(value) || Object.keys(value).length > kind.maximum) break;
      return readNamed(kind.of, value, place);
    default:
      if (fits(kind, value)) return value;
  }
  report(place, () => {
    const sentence = `must be ${expectation(kind)}, got ${excerpt(value)}`;
    const { values = [] } = (kind.type === 'nullable' ? kind.of : kind) as {
      values?: readonly string[];
    };
    return typeof value === 'string' ? didYouMean(sentence, value, values) : sentence;
  });
  return undefined;
}

function readAt(kind: Kind, value: unknown, place: Place, key: string | number): unknown {
  place.keys.push(key);
  const found = readKind(kind, value, place);
  place.keys.pop();
  return found;
}

function report(place: Place, message: string | (() => string), key?: string): void {
  place.report(pathIn(place, key), message);
}

function pathIn(place: Place, key?: string): () => string {
  const keys = key === undefined ? place.keys : [...place.keys, key];
  return () =>
    keys.reduce<string>(
      (at, part) => (typeof part === 'number' ? `${at}[${part}]` : joinPath(at, part)),
      place.path,
    );
}

function readFields(
  { entries }: ObjectShape,
  value: Record<string, unknown>,
  copy: Record<string, unknown>,
  place: Place,
): unknown {
  for (const [name, kind] of entries) {
    const own = ownValue(value, name);
    const isMissing = own === undefined || own === null;
    if (isMissing && kind.optional === true) continue;
    const found =
      isMissing && kind.type === 'nullable' ? null : readAt(kind, own, place, name);
    if (found !== undefined) copy[name] = found;
  }
  return copy;
}

function readSection(
  { fields }: SectionShape,
  value: Record<string, unknown>,
  place: Place,
): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const where =
      place.path === '' && place.keys.length === 0 ? '' : ' that can be given here';
    if (kind === undefined)
      report(
        place,
        () => didYouMean(`is not a setting${where}`, key, Object.keys(fields)),
        key,
      );
    else entries.push([key, readAt(kind, inner, place, key)]);
  }
  return Object.fromEntries(entries);
}

const nameKind = line(100);

/** As keys they would reach an object's prototype. */
const reservedNames: readonly string[] = ['__proto__', 'constructor', 'prototype'];

function readNamed(kind: Kind, value: Record<string, unknown>, place: Place): unknown {
  const spellings = new Map<string, string>();
  const entries: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const key = name.toLowerCase();
    const earlier = spellings.get(key);
    if (reservedNames.includes(key)) report(place, 'cannot be used as a name', name);
    else if (!fits(nameKind, name))
      report(place, `the name must be ${expectation(nameKind)}`, name);
    else if (earlier !== undefined)
      report(place, `is given twice: ${excerpt(earlier)} is the same name`, name);
    else {
      spellings.set(key, name);
      entries.push([key, readAt(kind, inner, place, name)]);
    }
  }
  return Object.fromEntries(entries);
}

/** Names come from people: `constructor` must not find what every object inherits. */
export function ownValue<T>(
  value: Readonly<Record<string, T>>,
  key: string,
): T | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  // Dates, maps and the like must not pass for an empty section.
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
      // First the cheap question: a huge text is never split into characters.
      if (typeof value !== 'string' || value.length > 2 * kind.maximum) return false;
      return [...value].length <= kind.maximum && isLine.test(value);
    default:
      return false;
  }
}

/** NaN is between nothing. */
function isBetween(value: number, minimum: number, maximum: number): boolean {
  return value >= minimum && value <= maximum;
}

function expectation(kind: Kind): string {
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
      return `${expectation(kind.of)}, or null`;
    case 'either':
      return kind.of.map(expectation).join(', or ');
    case 'named':
      return `an object of at most ${kind.maximum} names`;
    default:
      return 'an object';
  }
}

export type JsonSchema = { readonly [keyword: string]: unknown };

/** Draft 2020-12, for editors, models and readers of our events. */
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

/** `fixed`: what stands in every one of them, as it is. */
export function objectSchema(fields: Fields, fixed: JsonSchema): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  return {
    type: 'object',
    properties: { ...fixed, ...propertiesOf(fields) },
    required: [...Object.keys(fixed), ...required],
    additionalProperties: false,
  };
}

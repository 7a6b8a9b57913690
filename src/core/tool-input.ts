// What a model sends as the input of a tool, read against the kinds that its JSON Schema is made from. It converts
// nothing: a wrong value is answered with a sentence that says what to send instead.
import { excerpt } from './problem.ts';
import { type Fields, isObject, type Kind, read, text, type Values } from './schema.ts';

/** A text that must say something: blank is as good as left out. */
export const words: Kind<string> = {
  type: 'text',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  notBlank: true,
};

export type ReadInput<Input> =
  | { readonly ok: true; readonly input: Input }
  | { readonly ok: false; readonly message: string };

/** Notes, not files: a longer text would be paid for at every look at the plan. */
const longestNote = 100_000;

/** Every required field there, every field known, nothing guessed. `longest`: of texts without a bound of their own. */
export function readInput<F extends Fields>(
  fields: F,
  value: unknown,
  longest = longestNote,
): ReadInput<Values<F>> {
  if (!isObject(value))
    return wrong(`The input must be an object with ${fieldNames(fields)}, got ${excerpt(value)}.`);
  const given = givenFields(value);
  for (const name of given.keys()) {
    if (!Object.hasOwn(fields, name))
      return wrong(`There is no field ${excerpt(name)} here; send ${fieldNames(fields)}.`);
  }
  for (const [name, kind] of Object.entries(fields)) {
    const found = given.get(name);
    if (kind.optional !== true && (found === undefined || isBlank(kind, found)))
      return wrong(`"${name}" is missing: ${kind.summary}`);
    const problem = found === undefined ? null : fieldProblem(kind, found, longest);
    if (problem !== null) return wrong(`"${name}" ${problem}.`);
  }
  // Every field was read by the kind that the type is made from.
  return { ok: true, input: Object.fromEntries(given) as Values<F> };
}

function wrong(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/** Models that are made to fill every field send null for what they leave out: null means absent. */
function givenFields(value: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, given]) => given !== null && given !== undefined));
}

function isBlank(kind: Kind, value: unknown): boolean {
  return kind.type === 'text' && kind.notBlank === true && typeof value === 'string' && value.trim() === '';
}

function fieldProblem(kind: Kind, value: unknown, longest: number): string | null {
  if (kind.type === 'text' && typeof value === 'string' && value.length > longest)
    return `is longer than ${longest} characters`;
  const found = read(kind, value, 1);
  return found.ok ? null : (found.problems[0]?.message ?? null);
}

function fieldNames(fields: Fields): string {
  const names = Object.entries(fields).map(([name, { optional }]) =>
    optional === true ? name : `${name} (required)`,
  );
  return names.length === 0 ? 'no fields' : names.join(', ');
}

export interface ReadItems<Item> {
  /** One per entry of the list, in order; of a bad one only the fields that could be read. */
  readonly items: readonly Partial<Item>[];
  /** Index of a bad one → why, as a sentence. */
  readonly bad: ReadonlyMap<number, string>;
  /** Fields that nobody knows; they are ignored. */
  readonly unknown: readonly string[];
}

/** The entries of a list, one by one (T6): a bad one costs itself and never the list. Unknown words are let through. */
export function readItems<F extends Fields>(fields: F, values: readonly unknown[]): ReadItems<Values<F>> {
  const bad = new Map<number, string>();
  const unknown = new Set<string>();
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  const items = Array.from(values, (value, index) => {
    const item: Record<string, unknown> = {};
    if (!isObject(value)) {
      const wanted = required.join(', ');
      bad.set(index, `item ${index + 1} must be an object with ${wanted}, got ${excerpt(value)}.`);
    }
    for (const [name, given] of isObject(value) ? givenFields(value) : []) {
      const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (kind === undefined) {
        unknown.add(name);
        continue;
      }
      const problem = fieldProblem(kind.type === 'choice' ? text() : kind, given, longestNote);
      if (problem === null) item[name] = given;
      else if (!bad.has(index)) bad.set(index, `item ${index + 1}: "${name}" ${problem}.`);
    }
    return item as Partial<Values<F>>;
  });
  return { items, bad, unknown: [...unknown] };
}

// Reads a model's input of a tool. It converts nothing: a wrong value is answered with
// what to send.
import { refuse } from '../core/error.ts';
import { excerpt, withFullStop } from '../core/problem.ts';
import {
  type Fields,
  isObject,
  type Kind,
  read,
  text,
  unbounded,
  type Values,
} from '../core/schema.ts';

/** A text that must not be blank. */
export const words: Kind<string> = {
  type: 'text',
  minimum: 0,
  maximum: unbounded,
  notBlank: true,
};

/** These are notes, not files: each look at the plan pays for them. */
const longestNote = 100_000;

/**
 * Reads the input, or says what to send instead. `longest`: the limit for texts without a
 * limit of their own.
 */
export function readInput<F extends Fields>(
  fields: F,
  value: unknown,
  longest = longestNote,
) {
  if (!isObject(value))
    return refuse(
      `The input must be an object with ${fieldNames(fields)}, got ${excerpt(value)}.`,
    );
  const inputFields = givenFields(value);
  for (const name of inputFields.keys()) {
    if (!Object.hasOwn(fields, name))
      return refuse(
        `There is no field ${excerpt(name)} here; send ${fieldNames(fields)}.`,
      );
  }
  for (const [name, kind] of Object.entries(fields)) {
    const found = inputFields.get(name);
    if (kind.optional !== true && (found === undefined || isBlank(kind, found)))
      return refuse(`"${name}" is missing: ${kind.summary}`);
    const problem = found === undefined ? null : fieldProblem(kind, found, longest);
    if (problem !== null) return refuse(withFullStop(`"${name}" ${problem}`));
  }
  return { ok: true as const, input: Object.fromEntries(inputFields) as Values<F> };
}

/** Models that must fill every field send null for those that they leave out. */
function givenFields(value: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(
    Object.entries(value).filter(([, field]) => field !== null && field !== undefined),
  );
}

function isBlank(kind: Kind, value: unknown): boolean {
  return (
    kind.type === 'text' &&
    kind.notBlank === true &&
    typeof value === 'string' &&
    value.trim() === ''
  );
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

/**
 * Reads a list item by item: a bad item is left out and the others stay (T6). Unknown
 * words are let through.
 */
export function readItems<F extends Fields>(fields: F, values: readonly unknown[]) {
  const bad = new Map<number, string>();
  const unknown = new Set<string>();
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  const items = Array.from(values, (value, index) => {
    const item: Record<string, unknown> = {};
    if (!isObject(value)) {
      const wanted = required.join(', ');
      bad.set(
        index,
        `item ${index + 1} must be an object with ${wanted}, got ${excerpt(value)}.`,
      );
    }
    for (const [name, field] of isObject(value) ? givenFields(value) : []) {
      const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (kind === undefined) {
        unknown.add(name);
        continue;
      }
      const problem = fieldProblem(
        kind.type === 'choice' ? text() : kind,
        field,
        longestNote,
      );
      if (problem === null) item[name] = field;
      else if (!bad.has(index))
        bad.set(index, withFullStop(`item ${index + 1}: "${name}" ${problem}`));
    }
    return item as Partial<Values<F>>;
  });
  return { items, bad, unknown: [...unknown] };
}

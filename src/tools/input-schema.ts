// The part of JSON Schema that the todo tools speak, and the reading of a model's input against it.
// It converts nothing: a wrong type is answered with a sentence that says what to send instead.
import { excerpt } from '../core/config/excerpt.ts';
import { isObject } from '../core/config/read-value.ts';

interface Described {
  readonly description: string;
}
export type FieldSchema =
  | (Described & { readonly type: 'string'; readonly enum?: readonly string[] })
  | (Described & { readonly type: 'integer'; readonly minimum: number })
  | (Described & { readonly type: 'array'; readonly items: ObjectSchema });

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

type ValueOf<Field> = Field extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Field extends { readonly type: 'string' }
    ? string
    : Field extends { readonly type: 'integer' }
      ? number
      : readonly unknown[];

/** The TypeScript type of an input that fits the schema; the entries of a list are read one by one. */
export type InputOf<Schema extends ObjectSchema> = {
  readonly [Name in keyof Schema['properties'] & Schema['required'][number]]: ValueOf<
    Schema['properties'][Name]
  >;
} & {
  readonly [Name in Exclude<keyof Schema['properties'], Schema['required'][number]>]?: ValueOf<
    Schema['properties'][Name]
  >;
};

/** Context and criteria are notes, not files; a longer one would be paid for at every look at the plan. */
const longestText = 100_000;

/** Models that are made to fill every field send null for what they leave out: null means absent. */
export function givenFields(value: Readonly<Record<string, unknown>>): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, given]) => given !== null && given !== undefined));
}

export type ReadInput<Input> =
  | { readonly ok: true; readonly input: Input }
  | { readonly ok: false; readonly message: string };

/** A whole input: every required field there and not blank, every field known, nothing guessed. */
export function readInput<Schema extends ObjectSchema>(
  schema: Schema,
  value: unknown,
): ReadInput<InputOf<Schema>> {
  if (!isObject(value))
    return wrong(`The input must be an object with ${fieldNames(schema)}, got ${excerpt(value)}.`);
  const given = givenFields(value);
  for (const name of given.keys()) {
    if (!Object.hasOwn(schema.properties, name)) {
      return wrong(`There is no field ${excerpt(name)} here; send ${fieldNames(schema)}.`);
    }
  }
  for (const [name, field] of Object.entries(schema.properties)) {
    const found = given.get(name);
    const blank = found === undefined || (typeof found === 'string' && found.trim() === '');
    if (blank && schema.required.includes(name)) return wrong(`"${name}" is missing: ${field.description}`);
    const problem = found === undefined ? null : (fieldProblem(field, found) ?? wordProblem(field, found));
    if (problem !== null) return wrong(`"${name}" ${problem}.`);
  }
  // Every field was checked against the schema that the type is made from.
  return { ok: true, input: Object.fromEntries(given) as InputOf<Schema> };
}

function wrong(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/** What is wrong with the type or size of a value; which words are known is a question of its own. */
export function fieldProblem(field: FieldSchema, value: unknown): string | null {
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') return `must be a text, got ${excerpt(value)}`;
      return value.length <= longestText ? null : `is longer than ${longestText} characters`;
    case 'integer': {
      const fits = Number.isSafeInteger(value) && (value as number) >= field.minimum;
      return fits ? null : `must be a whole number of at least ${field.minimum}, got ${excerpt(value)}`;
    }
    case 'array':
      return Array.isArray(value) ? null : `must be a list, got ${excerpt(value)}`;
  }
}

function wordProblem(field: FieldSchema, value: unknown): string | null {
  if (field.type !== 'string' || field.enum === undefined) return null;
  return field.enum.includes(value as string)
    ? null
    : `must be one of ${field.enum.join(', ')}, got ${excerpt(value)}`;
}

function fieldNames(schema: ObjectSchema): string {
  const names = Object.keys(schema.properties);
  if (names.length === 0) return 'no fields';
  return names.map((name) => (schema.required.includes(name) ? `${name} (required)` : name)).join(', ');
}

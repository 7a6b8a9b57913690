// The part of JSON Schema that tool inputs need, and the check of a model's input against it.
// It converts nothing: a wrong type is answered with a sentence that says what to send instead.

interface Described {
  readonly description: string;
}
export type FieldSchema =
  | (Described & { readonly type: 'string'; readonly minLength?: number; readonly maxLength?: number })
  | (Described & { readonly type: 'integer'; readonly minimum: number; readonly maximum: number })
  | (Described & { readonly type: 'boolean' });

export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

interface ValueOfType {
  string: string;
  integer: number;
  boolean: boolean;
}
type ValueOf<Field extends FieldSchema> = ValueOfType[Field['type']];
type Fields<Schema extends ObjectSchema> = Schema['properties'];

/** The TypeScript type of an input that fits the schema. */
export type InputOf<Schema extends ObjectSchema> = {
  [Name in keyof Fields<Schema> & Schema['required'][number]]: ValueOf<Fields<Schema>[Name]>;
} & {
  [Name in Exclude<keyof Fields<Schema>, Schema['required'][number]>]?: ValueOf<Fields<Schema>[Name]>;
};

export type Parsed<Input> = { ok: true; value: Input } | { ok: false; error: string };

/** Models that are made to fill every field send null for what they leave out: null means absent. */
export function parseInput<Schema extends ObjectSchema>(
  schema: Schema,
  input: unknown,
): Parsed<InputOf<Schema>> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { ok: false, error: `The input must be an object with ${listFields(schema)}.` };
  }
  const given = new Map(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
  const value: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    if (!given.has(name)) {
      if (!schema.required.includes(name)) continue;
      return {
        ok: false,
        error: `"${name}" is missing: ${field.description} Known fields: ${listFields(schema)}.`,
      };
    }
    const problem = findProblem(field, given.get(name));
    if (problem !== null) return { ok: false, error: `"${name}" ${problem}.` };
    value[name] = given.get(name);
    given.delete(name);
  }
  const [unknown] = given.keys();
  if (unknown !== undefined) {
    return {
      ok: false,
      error: `Unknown field ${JSON.stringify(unknown.slice(0, 60))}. Known fields: ${listFields(schema)}.`,
    };
  }
  // The loop above checked every field against the schema that the type is made from.
  return { ok: true, value: value as InputOf<Schema> };
}

function findProblem(field: FieldSchema, value: unknown): string | null {
  if (field.type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false';
  if (field.type === 'integer') {
    const fits =
      Number.isInteger(value) && (value as number) >= field.minimum && (value as number) <= field.maximum;
    return fits ? null : `must be a whole number from ${field.minimum} to ${field.maximum}`;
  }
  if (typeof value !== 'string') return 'must be a string';
  if (value.length < (field.minLength ?? 0)) return 'must not be empty';
  if (value.length > (field.maxLength ?? Number.POSITIVE_INFINITY)) {
    return `must not be longer than ${field.maxLength} characters`;
  }
  return null;
}

function listFields(schema: ObjectSchema): string {
  const names = Object.keys(schema.properties);
  if (names.length === 0) return 'no fields';
  return names.map((name) => (schema.required.includes(name) ? `${name} (required)` : name)).join(', ');
}

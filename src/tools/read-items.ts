// Reads the items of a list one by one (T6): a bad item costs itself and never the list. What the plan must refuse
// is still handed to it, so that the row a bad item stands for is known and stays untouched.
import { excerpt } from '../core/config/excerpt.ts';
import { isObject } from '../core/config/read-value.ts';
import { fieldProblem, givenFields, type InputOf, type ObjectSchema } from './input-schema.ts';

export interface ReadItems<Fields> {
  /** One per item, in order; of a bad item only the fields that could be read. */
  readonly items: readonly Partial<Fields>[];
  /** Index of a bad item → why, as a sentence. */
  readonly bad: ReadonlyMap<number, string>;
  readonly notices: readonly string[];
}

/** A status that no plan knows: the plan refuses the item with it and keeps what it matched as it is. */
export const refusedStatus = '';

/** Unknown fields that one notice names. */
const mostNamed = 5;

export function readItems<Schema extends ObjectSchema>(
  schema: Schema,
  values: readonly unknown[],
  /** Fields of our own output that models echo. */
  echoed: readonly string[] = [],
): ReadItems<InputOf<Schema>> {
  const bad = new Map<number, string>();
  const unknown = new Set<string>();
  const items = Array.from(values, (value, index) => {
    if (!isObject(value)) {
      bad.set(
        index,
        `item ${index + 1} must be an object with ${schema.required.join(', ')}, got ${excerpt(value)}.`,
      );
      return {};
    }
    const fields: Record<string, unknown> = {};
    for (const [name, given] of givenFields(value)) {
      const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (field === undefined) {
        if (!echoed.includes(name)) unknown.add(name);
        continue;
      }
      const problem = fieldProblem(field, given);
      if (problem === null) fields[name] = given;
      else if (!bad.has(index)) bad.set(index, `item ${index + 1}: "${name}" ${problem}.`);
    }
    return fields as Partial<InputOf<Schema>>;
  });
  return { items, bad, notices: unknown.size === 0 ? [] : [ignoredFields([...unknown])] };
}

function ignoredFields(names: readonly string[]): string {
  const named = names.slice(0, mostNamed).map((name) => excerpt(name));
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `These fields of items are not known and were ignored: ${named.join(', ')}${more}.`;
}

/** Ids and names that are blank are left out: some models fill every field with something. */
export function unlessBlank(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

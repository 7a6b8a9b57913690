// The kinds of value an event is made of, each with the one way to read it from something unknown.
// A reader copies what it knows and nothing else, so that foreign keys and prototypes never come along.
import { excerpt } from '../config/excerpt.ts';
import { joinPath } from '../config/problem.ts';
import { isObject } from '../config/read-value.ts';

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly path: string; readonly problem: string };

export interface ValueKind<T> {
  readonly read: (value: unknown, path: string) => Read<T>;
  /** Never there: it makes the type exact, so that a choice that misses one of its words does not compile. */
  readonly exact?: (value: T) => void;
}

/** One kind per field: a field without one, or with the wrong one, does not compile. */
export type Shape<T> = { readonly [Field in keyof T]-?: ValueKind<T[Field]> };

/** Hosts' ids are UUIDs, paths or hashes; a longer one is not an id. */
const longestIdentifier = 200;
/** In UTF-16 units, roughly a megabyte: a message, an error, the tail of a check. */
const longestText = 1_048_576;
/** Five times the largest plan that is allowed by default, so that the plan's own limit speaks first. */
const longestList = 100_000;
/** The last moment that a Date can hold; later ones cannot be shown. */
const lastMoment = 8_640_000_000_000_000;

function read<T>(value: T): Read<T> {
  return { ok: true, value };
}

function refuse(path: string, expected: string, value: unknown): Read<never> {
  return { ok: false, path, problem: `must be ${expected}, got ${excerpt(value)}` };
}

export const identifier: ValueKind<string> = {
  read: (value, path) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= longestIdentifier
      ? read(value)
      : refuse(path, `a text of 1 to ${longestIdentifier} characters`, value),
};

export const text: ValueKind<string> = {
  read: (value, path) =>
    typeof value === 'string' && value.length <= longestText
      ? read(value)
      : refuse(path, `a text of at most ${longestText} characters`, value),
};

/**
 * The title of one item of a list. A bad title costs its item, not the list (T6), so that everything is read:
 * what is no text becomes the empty title, and an endless one is cut where it is still too long.
 */
export const listedTitle: ValueKind<string> = {
  read: (value) => read(typeof value === 'string' ? value.slice(0, longestText) : ''),
};

/** A status or priority of one item: an unknown word, or what is no word, costs its item as well (T6). */
export const listedWord: ValueKind<string | undefined> = {
  read: (value) => {
    if (value === undefined || value === null) return read(undefined);
    return read(typeof value === 'string' ? value.slice(0, longestIdentifier) : excerpt(value));
  },
};

export const flag: ValueKind<boolean> = {
  read: (value, path) => (typeof value === 'boolean' ? read(value) : refuse(path, 'true or false', value)),
};

export function choice<const Words extends readonly string[]>(...words: Words): ValueKind<Words[number]> {
  return {
    read: (value, path) =>
      typeof value === 'string' && words.includes(value)
        ? read(value)
        : refuse(path, `one of ${words.join(', ')}`, value),
  };
}

export function wholeNumber(minimum: number): ValueKind<number> {
  return {
    read: (value, path) =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum
        ? read(value)
        : refuse(path, `a whole number of at least ${minimum}`, value),
  };
}

export const amount: ValueKind<number> = {
  read: (value, path) =>
    typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
      ? read(value)
      : refuse(path, 'a number of at least 0', value),
};

export const moment: ValueKind<number> = {
  read: (value, path) =>
    typeof value === 'number' && value > 0 && value <= lastMoment
      ? read(value)
      : refuse(path, 'a time in milliseconds since 1970', value),
};

/** What is missing is null: a host that does not know says nothing. */
export function nullable<T>(kind: ValueKind<T>): ValueKind<T | null> {
  return {
    read: (value, path) => (value === null || value === undefined ? read(null) : kind.read(value, path)),
  };
}

export function optional<T>(kind: ValueKind<T>): ValueKind<T | undefined> {
  return {
    read: (value, path) => (value === null || value === undefined ? read(undefined) : kind.read(value, path)),
  };
}

export function list<T>(kind: ValueKind<T>): ValueKind<readonly T[]> {
  return {
    read: (value, path) => {
      if (!Array.isArray(value) || value.length > longestList) {
        return refuse(path, `a list of at most ${longestList} entries`, value);
      }
      const entries: T[] = [];
      for (let index = 0; index < value.length; index++) {
        const entry = kind.read(value[index], `${path}[${index}]`);
        if (!entry.ok) return entry;
        entries.push(entry.value);
      }
      return read(entries);
    },
  };
}

export function object<T>(shape: Shape<T>): ValueKind<T> {
  const fields = Object.entries(shape) as [string, ValueKind<unknown>][];
  return {
    read: (value, path) => {
      if (!isObject(value)) return refuse(path, 'an object', value);
      const copy: Record<string, unknown> = {};
      for (const [name, kind] of fields) {
        const own = Object.hasOwn(value, name) ? value[name] : undefined;
        const field = kind.read(own, joinPath(path, name));
        if (!field.ok) return field;
        if (field.value !== undefined) copy[name] = field.value;
      }
      // The loop read every field of T by the kind that the type of `shape` asks for.
      return read(copy as T);
    },
  };
}

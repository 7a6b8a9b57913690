// The kinds of value that a setting can hold, as plain descriptions.
// Validator, JSON Schema, merging, environment and flags all read these; nothing here looks at a value.

interface BooleanKind {
  readonly type: 'boolean';
}

interface IntegerKind {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
}

interface NumberKind {
  readonly type: 'number';
  readonly minimum: number;
  readonly maximum: number;
}

interface ChoiceKind {
  readonly type: 'choice';
  readonly values: readonly string[];
}

/** One line of text: never blank, no control characters, no half of a surrogate pair. */
interface TextKind {
  readonly type: 'text';
  /** In code points, as JSON Schema counts. */
  readonly maximumLength: number;
}

interface ListKind {
  readonly type: 'list';
  readonly of: Kind;
  readonly maximumItems: number;
}

interface NullableKind {
  readonly type: 'nullable';
  readonly of: Kind;
}

/** One of several kinds that a value tells apart by its look: a text or a list. */
export interface EitherKind {
  readonly type: 'either';
  readonly of: readonly Kind[];
}

/** An object with known keys, every one optional in a file. */
export interface SectionKind {
  readonly type: 'section';
  readonly fields: Readonly<Record<string, Field>>;
  /** Its fields make sense only together: what a stronger source says replaces the whole of it. */
  readonly isOneValue?: true;
}

/** An object whose keys are names that people choose, compared without letter case and kept in lower case. */
export interface NamedKind {
  readonly type: 'named';
  readonly of: Kind;
  readonly maximumEntries: number;
}

export interface Field {
  readonly kind: Kind;
  /** One sentence for people: in the schema, in `--help`, in the docs. */
  readonly summary: string;
}

export type Kind =
  | BooleanKind
  | IntegerKind
  | NumberKind
  | ChoiceKind
  | TextKind
  | ListKind
  | NullableKind
  | EitherKind
  | SectionKind
  | NamedKind;

/** The TypeScript type of a value of kind `K`. */
export type ValueOf<K> = K extends { readonly type: 'boolean' }
  ? boolean
  : K extends { readonly type: 'integer' | 'number' }
    ? number
    : K extends { readonly type: 'choice'; readonly values: readonly (infer Value)[] }
      ? Value
      : K extends { readonly type: 'text' }
        ? string
        : K extends { readonly type: 'list'; readonly of: infer Item }
          ? readonly InnerValue<Item>[]
          : K extends { readonly type: 'nullable'; readonly of: infer Inner }
            ? InnerValue<Inner> | null
            : K extends { readonly type: 'either'; readonly of: readonly (infer Inner)[] }
              ? InnerValue<Inner>
              : K extends { readonly type: 'section'; readonly fields: infer Fields }
                ? { readonly [Name in keyof Fields]?: InnerValue<KindOf<Fields[Name]>> }
                : K extends { readonly type: 'named'; readonly of: infer Entry }
                  ? { readonly [name: string]: InnerValue<Entry> }
                  : never;

/** Any kind at all is no known type; without this line the compiler would look for one for ever. */
type InnerValue<K> = Kind extends K ? unknown : ValueOf<K>;

export type KindOf<F> = F extends { readonly kind: infer K } ? K : never;

export const boolean = { type: 'boolean' } as const;

export function integer(minimum: number, maximum: number) {
  return { type: 'integer', minimum, maximum } as const;
}

export function number(minimum: number, maximum: number) {
  return { type: 'number', minimum, maximum } as const;
}

export function choice<const Values extends readonly string[]>(...values: Values) {
  return { type: 'choice', values } as const;
}

export function text(maximumLength: number) {
  return { type: 'text', maximumLength } as const;
}

export function list<const Item extends Kind>(of: Item, maximumItems: number) {
  return { type: 'list', of, maximumItems } as const;
}

export function nullable<const Inner extends Kind>(of: Inner) {
  return { type: 'nullable', of } as const;
}

export function either<const Kinds extends readonly Kind[]>(...of: Kinds) {
  return { type: 'either', of } as const;
}

export function section<const Fields extends Readonly<Record<string, Field>>>(fields: Fields) {
  return { type: 'section', fields } as const;
}

export function oneValueSection<const Fields extends Readonly<Record<string, Field>>>(fields: Fields) {
  return { type: 'section', fields, isOneValue: true } as const;
}

export function named<const Entry extends Kind>(of: Entry, maximumEntries: number) {
  return { type: 'named', of, maximumEntries } as const;
}

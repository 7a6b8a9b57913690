// One entry of the table of settings, and the ways to write one: for one agent or shared, one value or a section.
// It describes; reading and merging values is the business of others.

import { type Field, type Kind, type KindOf, section, type ValueOf } from './kinds.ts';

export interface Setting {
  readonly kind: Kind;
  readonly default: unknown;
  readonly perAgent: boolean;
  readonly summary: string;
}

export function perAgent<const K extends Kind>(kind: K, byDefault: ValueOf<K>, summary: string) {
  return { kind, default: byDefault, perAgent: true, summary } as const;
}

export function shared<const K extends Kind>(kind: K, byDefault: ValueOf<K>, summary: string) {
  return { kind, default: byDefault, perAgent: false, summary } as const;
}

interface FieldWithDefault extends Field {
  readonly default: unknown;
}

export function field<const K extends Kind>(kind: K, byDefault: ValueOf<K>, summary: string) {
  return { kind, default: byDefault, summary } as const;
}

/** Several settings under one name. A file may give any of them; after merging every one has a value. */
export function perAgentSection<const Fields extends Readonly<Record<string, FieldWithDefault>>>(
  fields: Fields,
  summary: string,
) {
  const defaults = Object.entries(fields).map(([name, { default: byDefault }]) => [name, byDefault]);
  return {
    kind: section(fields),
    default: Object.fromEntries(defaults) as {
      readonly [Name in keyof Fields]: ValueOf<KindOf<Fields[Name]>>;
    },
    perAgent: true,
    summary,
  } as const;
}

/** The same for settings that hold for every agent alike. */
export function sharedSection<const Fields extends Readonly<Record<string, FieldWithDefault>>>(
  fields: Fields,
  summary: string,
) {
  return { ...perAgentSection(fields, summary), perAgent: false } as const;
}

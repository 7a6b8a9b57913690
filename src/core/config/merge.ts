// Merges what flags, environment, project file and user file say over the defaults (C1), and keeps who said it.
// Lists replace each other whole; sections and named entries merge key by key, unless a section is one value.

import type { Kind } from './kinds.ts';
import { joinPath } from './problem.ts';
import { configKind, defaultSettings, type PartialSettings, type Settings } from './settings.ts';

/** From weak to strong. */
export const origins = ['default', 'user', 'project', 'environment', 'flag'] as const;
export type Origin = (typeof origins)[number];

/** By path: `maxTodos`, `agents.build.mode`. An object without entries has an origin of its own. */
export type Origins = Readonly<Record<string, Origin>>;

export type Layers = { readonly [O in Exclude<Origin, 'default'>]?: PartialSettings };

export interface MergedSettings {
  readonly settings: Settings;
  readonly origins: Origins;
}

interface Said {
  readonly origin: Origin;
  readonly value: unknown;
}

export function mergeSettings(layers: Layers): MergedSettings {
  const found: [string, Origin][] = [];
  const said = origins.map((origin) => ({
    origin,
    value: origin === 'default' ? defaultSettings : (layers[origin] ?? {}),
  }));
  const settings = mergeValues(configKind, '', said, found) as Settings;
  return { settings, origins: Object.fromEntries(found) };
}

/** `said` is in order of strength and never empty. */
function mergeValues(kind: Kind, path: string, said: readonly Said[], found: [string, Origin][]): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of innerKinds(kind, said)) {
    const saidHere = said.flatMap((whole) => saidAbout(key, whole));
    if (saidHere.length > 0) entries.push([key, mergeValues(inner, joinPath(path, key), saidHere, found)]);
  }
  if (entries.length > 0) return Object.fromEntries(entries);
  const strongest = said.at(-1);
  if (strongest !== undefined) found.push([path, strongest.origin]);
  return strongest?.value;
}

function saidAbout(key: string, whole: Said): Said[] {
  const value = Object.getOwnPropertyDescriptor(whole.value, key)?.value;
  return value === undefined ? [] : [{ origin: whole.origin, value }];
}

/** The keys that a value of this kind can have here; none for a plain value, which is replaced whole. */
function innerKinds(kind: Kind, said: readonly Said[]): (readonly [string, Kind])[] {
  if (kind.type === 'section' && kind.isOneValue !== true)
    return Object.entries(kind.fields).map(([key, field]) => [key, field.kind]);
  if (kind.type !== 'named') return [];
  const names = new Set(said.flatMap(({ value }) => Object.keys(value as object)));
  return [...names].map((name) => [name, kind.of]);
}

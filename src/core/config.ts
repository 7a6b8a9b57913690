// A configuration as people write it: read from text, validated as a whole, and merged over weaker ones (C1).
// All problems are told at once; a configuration with a single problem applies in no part.
import { collectProblems, excerpt, joinPath, type Problem } from './problem.ts';
import { isObject, type Kind, readInto } from './schema.ts';
import { configKind, defaultSettings, type PartialSettings, type Settings } from './settings.ts';

export type ConfigResult =
  | { readonly ok: true; readonly config: PartialSettings }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function validateConfig(value: unknown): ConfigResult {
  if (!isObject(value)) {
    const message = `the configuration must be an object with settings, got ${excerpt(value)}`;
    return { ok: false, problems: [{ path: '', message }] };
  }
  const { report, problems } = collectProblems();
  // Editors want `$schema` in the file; it is theirs, not a setting.
  const { $schema: schema, ...settings } = value;
  if (schema !== undefined && typeof schema !== 'string') {
    report('$schema', `must be the address of the JSON Schema, got ${excerpt(schema)}`);
  }
  const config = readInto(configKind, settings, '', report);
  return problems().length === 0 ? { ok: true, config } : { ok: false, problems: problems() };
}

/**
 * A project's file without what it may not say: a repository must not grant its agent anything, and an agent could
 * write the file. It is left out before the files are merged, so that it hides nothing that the human said elsewhere.
 */
export function withoutGrants(config: PartialSettings): {
  readonly config: PartialSettings;
  readonly warnings: readonly Problem[];
} {
  const { permissions, tools, ...rest } = config;
  const { shellAllow, ...otherTools } = tools ?? {};
  const ignored = [
    ...Object.keys(permissions ?? {}).map((name) => `permissions.${name}`),
    ...(shellAllow === undefined ? [] : ['tools.shellAllow']),
  ];
  return {
    config: { ...rest, ...(tools === undefined ? {} : { tools: otherTools }) },
    warnings: ignored.map((path) => ({
      path,
      message: 'is ignored in the project’s untildone.json: say it in your user file or with a flag',
    })),
  };
}

/** From weak to strong. */
export const origins = ['default', 'user', 'project', 'environment', 'flag'] as const;
export type Origin = (typeof origins)[number];

/** By path: `maxTodos`, `agents.build.mode`. An object without entries has an origin of its own. */
export type Origins = Readonly<Record<string, Origin>>;

export type Layers = { readonly [O in Exclude<Origin, 'default'>]?: PartialSettings };

interface Said {
  readonly origin: Origin;
  readonly value: unknown;
}

/** Lists replace each other whole; sections and named entries merge key by key, unless a section is one value. */
export function mergeSettings(layers: Layers): { readonly settings: Settings; readonly origins: Origins } {
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
  if (kind.type === 'section' && kind.isOneValue !== true) return Object.entries(kind.fields);
  if (kind.type !== 'named') return [];
  const names = new Set(said.flatMap(({ value }) => Object.keys(value as object)));
  return [...names].map((name) => [name, kind.of]);
}

// Validates configurations and merges them (C1). With a single problem one applies in no part.
import { collectProblems, excerpt, joinPath, type Problem } from './problem.ts';
import { isObject, type Kind, readInto } from './schema.ts';
import { configKind, defaultSettings, type PartialSettings, type Settings } from './settings.ts';

export type ConfigResult =
  | Readonly<{ ok: true; config: PartialSettings }>
  | Readonly<{ ok: false; problems: readonly Problem[] }>;

export function validateConfig(value: unknown): ConfigResult {
  if (!isObject(value)) {
    const message = `the configuration must be an object with settings, got ${excerpt(value)}`;
    return { ok: false, problems: [{ path: '', message }] };
  }
  const { report, problems } = collectProblems();
  // For editors; it is no setting.
  const { $schema: schema, ...settings } = value;
  if (schema !== undefined && typeof schema !== 'string')
    report('$schema', `must be the address of the JSON Schema, got ${excerpt(schema)}`);
  const config = readInto(configKind, settings, '', report);
  return problems().length === 0 ? { ok: true, config } : { ok: false, problems: problems() };
}

/** A repository must not grant anything: an agent could write the file. Left out here, it hides no other source. */
export function withoutGrants(config: PartialSettings) {
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

export const origins = ['default', 'user', 'project', 'environment', 'flag'] as const;
export type Origin = (typeof origins)[number];

/** By path: `agents.build.mode`. An object without entries has an origin of its own. */
export type Origins = Readonly<Record<string, Origin>>;
export type Layers = { readonly [O in Exclude<Origin, 'default'>]?: PartialSettings };
type Said = Readonly<{ origin: Origin; value: unknown }>;

/** Lists replace each other; sections and named entries merge key by key, unless a section is one value. */
export function mergeSettings(layers: Layers): { settings: Settings; origins: Origins } {
  const found: [string, Origin][] = [];
  const given = { default: defaultSettings, ...layers };
  const said = origins.map((origin) => ({ origin, value: given[origin] ?? {} }));
  const settings = mergeValues(configKind, '', said, found) as Settings;
  return { settings, origins: Object.fromEntries(found) };
}

/** `said`: from weak to strong, never empty. */
function mergeValues(kind: Kind, path: string, said: readonly Said[], found: [string, Origin][]): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of innerKinds(kind, said)) {
    const saidHere = said.flatMap(({ origin, value: whole }) => {
      const value = Object.getOwnPropertyDescriptor(whole, key)?.value;
      return value === undefined ? [] : [{ origin, value }];
    });
    if (saidHere.length > 0) entries.push([key, mergeValues(inner, joinPath(path, key), saidHere, found)]);
  }
  if (entries.length > 0) return Object.fromEntries(entries);
  const strongest = said.at(-1);
  if (strongest !== undefined) found.push([path, strongest.origin]);
  return strongest?.value;
}

/** The keys that such a value can have here; none for a plain value. */
function innerKinds(kind: Kind, said: readonly Said[]): (readonly [string, Kind])[] {
  if (kind.type === 'section' && kind.isOneValue !== true) return Object.entries(kind.fields);
  if (kind.type !== 'named') return [];
  const names = new Set(said.flatMap(({ value }) => Object.keys(value as object)));
  return [...names].map((name) => [name, kind.of]);
}

// Reads settings from files, the environment and flags, and merges them (C1). maxTodos is
// UNTILDONE_MAX_TODOS and --max-todos; context.limit is UNTILDONE_CONTEXT_LIMIT and
// --context-limit. A source with a single problem applies in no part.
import { ownVariables } from './own-variables.ts';
import {
  closestName,
  collectProblems,
  excerpt,
  joinPath,
  type Problem,
  quoteText,
  type Report,
} from './problem.ts';
import { isObject, type JsonSchema, jsonSchema, type Kind, readInto } from './schema.ts';
import {
  configKind,
  defaultSettings,
  type PartialSettings,
  type Setting,
  type Settings,
  settingNames,
  settingTable,
} from './settings.ts';

/** A configuration, or every problem that was found in it. */
export type ConfigResult =
  | Readonly<{ ok: true; config: PartialSettings }>
  | Readonly<{ ok: false; problems: readonly Problem[] }>;

/** Reads a configuration file; with a single problem it applies in no part. */
export function validateConfig(value: unknown): ConfigResult {
  if (!isObject(value)) {
    const message = `the configuration must be an object with settings, got ${excerpt(value)}`;
    return { ok: false, problems: [{ path: '', message }] };
  }
  const { report, problems } = collectProblems();
  // Editors read the address of the schema; it is no setting.
  const { $schema: schema, ...settings } = value;
  if (schema !== undefined && typeof schema !== 'string')
    report('$schema', `must be the address of the JSON Schema, got ${excerpt(schema)}`);
  const config = readInto(configKind, settings, '', report);
  return resultOf(config, problems());
}

function resultOf(config: PartialSettings, problems: readonly Problem[]): ConfigResult {
  return problems.length === 0 ? { ok: true, config } : { ok: false, problems };
}

/** The JSON Schema of a configuration file. */
export function configSchema(): JsonSchema {
  const properties = Object.entries<Setting>(settingTable).map(([name, setting]) => [
    name,
    { ...jsonSchema(setting), default: setting.default },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'untildone configuration',
    description: 'Settings of untildone for a project (untildone.json) or for a user.',
    type: 'object',
    properties: {
      $schema: { description: 'Address of this schema, for editors.', type: 'string' },
      ...Object.fromEntries(properties),
    },
    additionalProperties: false,
  };
}

/**
 * Variables that are known to hold keys. No command of a project gets one, even if a
 * human accepted the command in a hurry.
 */
const keyVariable =
  /_API_KEY$|^(?:(?:GH|GITHUB|GITLAB|NPM|NODE_AUTH|HF|ANTHROPIC_AUTH|CLAUDE_CODE_OAUTH|AWS_SESSION)_TOKEN|AWS_SECRET_ACCESS_KEY|GOOGLE_APPLICATION_CREDENTIALS)$/i;

/**
 * Removes what a repository must not grant, because an agent could write the file. What
 * is removed hides no other source; a warning names it.
 */
export function withoutGrants({
  permissions,
  notify,
  tools,
  agents,
  checks,
  ...rest
}: PartialSettings) {
  // Only the human says what a notice runs or calls: otherwise a project would learn when
  // the human is away.
  const ignored = Object.entries({ permissions, notify }).flatMap(([section, given]) =>
    Object.keys(given ?? {}).map((name) => `${section}.${name}`),
  );
  const toolsWithout = (path: string, given: PartialSettings['tools']) => {
    const { shellAllow, ...others } = given ?? {};
    if (shellAllow !== undefined) ignored.push(joinPath(path, 'shellAllow'));
    return given === undefined ? {} : { tools: others };
  };
  const keys: string[] = [];
  const isHarmless = (path: string) => (name: string) => {
    if (keyVariable.test(name)) keys.push(`${path}.environment: ${name}`);
    return !keyVariable.test(name);
  };
  const config: PartialSettings = {
    ...rest,
    ...toolsWithout('tools', tools),
    ...(agents && {
      agents: mapValues(agents, ({ tools: own, ...agent }, name) => ({
        ...agent,
        ...toolsWithout(`${joinPath('agents', name)}.tools`, own),
      })),
    }),
    ...(checks && {
      checks: mapValues(checks, ({ environment, ...check }, name) => ({
        ...check,
        ...(environment && {
          environment: environment.filter(isHarmless(joinPath('checks', name))),
        }),
      })),
    }),
  };
  const elsewhere =
    'is ignored in the project’s untildone.json: set it in your user file or with a flag';
  const key =
    'is ignored: a project’s file cannot hand a key to a command; put the check into your user file';
  return {
    config,
    warnings: [
      ...ignored.map((path) => ({ path, message: elsewhere })),
      ...keys.map((path) => ({ path, message: key })),
    ],
  };
}

function mapValues<T, R>(
  record: Readonly<Record<string, T>>,
  change: (value: T, name: string) => R,
) {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, change(value, name)]),
  );
}

type SettingTarget = Readonly<{ setting: string; field: string | null; kind: Kind }>;
const targets = new Map<string, SettingTarget>();
for (const setting of settingNames) {
  const kind: Kind = settingTable[setting];
  targets.set(setting, { setting, field: null, kind });
  for (const [field, inner] of kind.type === 'section' ? Object.entries(kind.fields) : [])
    targets.set(`${setting}.${field}`, { setting, field, kind: inner });
}

/** The paths of all settings: `mode`, …, `context`, `context.maxMessages`, … */
export const settingPaths: readonly string[] = [...targets.keys()];

const prefix = 'UNTILDONE_';

/** The name of a setting in the environment. */
export function environmentName(path: string): string {
  return prefix + splitWords(path).join('_').toUpperCase();
}

/** The flag of a setting. */
export function flagName(path: string): string {
  return `--${splitWords(path).join('-').toLowerCase()}`;
}

function splitWords(path: string): readonly string[] {
  return path.split(/[.-]|(?=[A-Z])/);
}

const targetByVariable = mapTargets(environmentName);
const targetByFlag = mapTargets(flagName);

function mapTargets(
  spelled: (path: string) => string,
): ReadonlyMap<string, SettingTarget> {
  return new Map([...targets].map(([path, target]) => [spelled(path), target]));
}

/** `spelling`: the name as it was given, for problems. */
function readTarget(
  { kind }: SettingTarget,
  text: string,
  spelling: string,
  report: Report,
): unknown {
  return readInto(kind, valueFromText(kind, text), spelling, report);
}

/** A text that cannot be read stays a text, and the reader says what was expected. */
function valueFromText(kind: Kind, text: string): unknown {
  const plain = text.trim();
  const word = plain.toLowerCase();
  switch (kind.type) {
    case 'boolean':
      if (['true', '1', 'yes', 'on'].includes(word)) return true;
      return ['false', '0', 'no', 'off'].includes(word) ? false : text;
    case 'integer':
    case 'number':
      return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)
        ? Number(plain)
        : text;
    case 'nullable':
      // For some settings `none` is a value of its own: `--reasoning-effort none`.
      if (kind.of.type === 'choice' && kind.of.values.includes(plain)) return plain;
      return word === 'null' || word === 'none' ? null : valueFromText(kind.of, text);
    case 'list':
      // Brackets allow entries with commas, and the empty list.
      if (plain.startsWith('[')) return valueFromJson(plain);
      return plain.split(',').map((part) => valueFromText(kind.of, part));
    case 'either':
      return plain.startsWith('[') ? valueFromJson(plain) : plain;
    case 'section':
    case 'named':
      return valueFromJson(plain);
    default:
      return plain;
  }
}

function valueFromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Safe: the reader refuses a text where a list or an object is expected.
    return text;
  }
}

const otherVariables: readonly string[] = Object.values(ownVariables);

/**
 * Reads the settings in the environment. An unknown variable only causes a warning,
 * because other programs may own it. An empty variable is not set; an empty list is `[]`.
 */
export function parseEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): ConfigResult & { warnings: readonly Problem[] } {
  const problems = collectProblems();
  const warnings = collectProblems();
  const config: RawConfig = {};
  const entries: [SettingTarget, unknown][] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(prefix) || text === undefined || text.trim() === '')
      continue;
    const target = targetByVariable.get(variable);
    if (target !== undefined) {
      entries.push([target, readTarget(target, text, variable, problems.report)]);
    } else if (!otherVariables.includes(variable)) {
      const shown = /^\w{1,100}$/.test(variable) ? variable : quoteText(variable, 100);
      warnings.report(shown, () => unknownVariable(variable));
    }
  }
  // The environment has no order, so a field counts more than its section as a whole.
  const weight = ({ field }: SettingTarget) => (field === null ? 0 : 1);
  entries.sort(([one], [other]) => weight(one) - weight(other));
  for (const [target, value] of entries) setValue(config, target, value);
  return { ...resultOf(config, problems.problems()), warnings: warnings.problems() };
}

type RawConfig = Record<string, unknown>;

function setValue(
  config: RawConfig,
  { setting, field }: SettingTarget,
  value: unknown,
): void {
  config[setting] =
    field === null ? value : { ...(config[setting] as object), [field]: value };
}

function unknownVariable(variable: string): string {
  const known = [...targetByVariable.keys(), ...otherVariables].map((name) =>
    name.slice(prefix.length),
  );
  const closest = closestName(variable.slice(prefix.length), known);
  const warning = 'is not a setting and is ignored';
  return closest === null ? warning : `${warning}; did you mean ${prefix}${closest}?`;
}

/** The settings that flags give, and the arguments that are no settings. */
export type FlagsResult = ConfigResult & { readonly rest: readonly string[] };

/**
 * Reads flags: `--max-todos=20`, `--max-todos 20`, `--no-enabled`. The last one wins, so
 * that an alias can be overruled; lists and sections add up. The command gets the rest.
 */
export function parseFlags(argv: readonly string[]): FlagsResult {
  const { report, problems } = collectProblems();
  const config: RawConfig = {};
  const rest: string[] = [];
  const remaining = [...argv];
  while (remaining.length > 0 && remaining[0] !== '--') {
    const argument = remaining.shift() ?? '';
    const flag = recogniseFlag(argument);
    if (flag === null) {
      rest.push(argument);
      continue;
    }
    const { name, target } = flag;
    const text =
      flag.text ??
      (remaining[0]?.startsWith('--') === false ? remaining.shift() : undefined);
    if (text === undefined || text.trim() === '')
      report(name, `needs a value: ${name}=VALUE`);
    else {
      const value = readTarget(target, text, name, report);
      setValue(config, target, addUp(target, config[target.setting], value));
    }
  }
  rest.push(...remaining);
  return { ...resultOf(config, problems()), rest };
}

type ListedFlag = Readonly<{ name: string; value?: string; summary: string }>;

/**
 * The flags that `--help` lists for commands where such settings act, in short. A setting
 * that only a file can express well is left out.
 */
export function flagsFor(
  place: Setting['actsIn'][number] | 'everywhere',
): readonly ListedFlag[] {
  return [...targets].flatMap(([path, { kind }]) => {
    const setting = kind as Setting;
    const isLarge =
      kind.type === 'either' ||
      /section|named/.test(kind.type === 'list' ? kind.of.type : kind.type);
    if (isLarge || (place !== 'everywhere' && !setting.actsIn.includes(place))) return [];
    const name = `${setting.default === true ? 'no-' : ''}${flagName(path).slice(2)}`;
    const value = valueWord(kind);
    return [{ name, ...(value !== null && { value }), summary: shortSummary(setting) }];
  });
}

function valueWord(kind: Kind): string | null {
  if (kind.type === 'nullable') return valueWord(kind.of);
  if (kind.type === 'boolean') return null;
  if (kind.type === 'choice') return kind.values.join('|');
  if (kind.type === 'integer' || kind.type === 'number') return 'N';
  return kind.type === 'list' ? 'LIST' : 'TEXT';
}

/** The first statement of the summary, and the default if that is a word or a number. */
function shortSummary({ summary, default: byDefault, type }: Setting): string {
  const first =
    type === 'choice' ? summary.replace(/\.$/, '') : summary.split(/[;:.]/)[0];
  const switched = byDefault === true ? 'on' : 'off';
  const shown = typeof byDefault === 'boolean' ? switched : byDefault;
  return ['number', 'string'].includes(typeof shown)
    ? `${first} (default: ${shown}).`
    : `${first}.`;
}

function addUp(
  { kind, field }: SettingTarget,
  setting: unknown,
  value: unknown,
): unknown {
  const earlier = field === null ? setting : (setting as RawConfig | undefined)?.[field];
  if (Array.isArray(earlier) && Array.isArray(value)) return [...earlier, ...value];
  return kind.type === 'section'
    ? { ...(earlier as object), ...(value as object) }
    : value;
}

function recogniseFlag(argument: string) {
  const equals = argument.indexOf('=');
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const text = equals === -1 ? null : argument.slice(equals + 1);
  const target = targetByFlag.get(name);
  // A boolean flag without a value means yes: it must not swallow the next argument.
  if (target !== undefined)
    return {
      name,
      target,
      text: text ?? (target.kind.type === 'boolean' ? 'true' : null),
    };
  const negated = targetByFlag.get(name.replace(/^--no-/, '--'));
  if (negated?.kind.type !== 'boolean' || text !== null) return null;
  return { name, target: negated, text: 'false' };
}

/** The sources of a setting, from weak to strong. */
export const origins = ['default', 'user', 'project', 'environment', 'flag'] as const;
/** A source of a setting. */
export type Origin = (typeof origins)[number];

/**
 * The origin of each value, by path such as `agents.build.mode`. An object without
 * entries has an origin of its own.
 */
export type Origins = Readonly<Record<string, Origin>>;
/** The settings of each source. */
export type Layers = { readonly [O in Exclude<Origin, 'default'>]?: PartialSettings };
type LayerValue = Readonly<{ origin: Origin; value: unknown }>;

/**
 * Merges all sources. Lists replace each other; sections and named entries merge key by
 * key, unless a section is one value.
 */
export function mergeSettings(layers: Layers): { settings: Settings; origins: Origins } {
  const found: [string, Origin][] = [];
  const sources = { default: defaultSettings, ...layers };
  const values = origins.map((origin) => ({ origin, value: sources[origin] ?? {} }));
  const settings = mergeValues(configKind, '', values, found) as Settings;
  return { settings, origins: Object.fromEntries(found) };
}

/** `values`: from weak to strong, never empty. */
function mergeValues(
  kind: Kind,
  path: string,
  values: readonly LayerValue[],
  found: [string, Origin][],
): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, inner] of innerKinds(kind, values)) {
    const innerValues = values.flatMap(({ origin, value: whole }) => {
      const value = Object.getOwnPropertyDescriptor(whole, key)?.value;
      return value === undefined ? [] : [{ origin, value }];
    });
    if (innerValues.length > 0)
      entries.push([key, mergeValues(inner, joinPath(path, key), innerValues, found)]);
  }
  if (entries.length > 0) return Object.fromEntries(entries);
  const strongest = values.at(-1);
  if (strongest !== undefined) found.push([path, strongest.origin]);
  return strongest?.value;
}

/** The keys that a value of this kind can have here; none for a plain value. */
function innerKinds(
  kind: Kind,
  values: readonly LayerValue[],
): (readonly [string, Kind])[] {
  if (kind.type === 'section' && kind.isOneValue !== true)
    return Object.entries(kind.fields);
  if (kind.type !== 'named') return [];
  const names = new Set(values.flatMap(({ value }) => Object.keys(value as object)));
  return [...names].map((name) => [name, kind.of]);
}

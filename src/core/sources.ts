// Settings from the environment and from flags (C1): how each setting is called there, and its value from a text.
// maxContinuations, UNTILDONE_MAX_CONTINUATIONS, --max-continuations; in a section: context.maxMessages,
// UNTILDONE_CONTEXT_MAX_MESSAGES, --context-max-messages. Nothing here reads the process.
import type { ConfigResult } from './config.ts';
import { closestName, collectProblems, type Problem, quoted } from './problem.ts';
import { type Kind, readInto } from './schema.ts';
import { type PartialSettings, settingNames, settingTable } from './settings.ts';

/** Where a named value stands: a setting, or one field of a section. */
interface SettingPlace {
  readonly setting: string;
  /** null: the whole setting. */
  readonly field: string | null;
  readonly kind: Kind;
}

const places: ReadonlyMap<string, SettingPlace> = new Map(
  settingNames.flatMap((setting): [string, SettingPlace][] => {
    const kind: Kind = settingTable[setting];
    const fields = kind.type === 'section' ? Object.entries(kind.fields) : [];
    return [
      [setting, { setting, field: null, kind }],
      ...fields.map(([field, inner]): [string, SettingPlace] => [
        `${setting}.${field}`,
        { setting, field, kind: inner },
      ]),
    ];
  }),
);

/** `mode`, …, `context`, `context.maxMessages`, …: everything that has a name of its own. */
export const settingPaths: readonly string[] = [...places.keys()];

const prefix = 'UNTILDONE_';

/** `path` is `maxTodos` or `context.maxMessages`. */
export function environmentName(path: string): string {
  return prefix + words(path).join('_').toUpperCase();
}

export function flagName(path: string): string {
  return `--${words(path).join('-').toLowerCase()}`;
}

function words(path: string): readonly string[] {
  return path.split(/\.|(?=[A-Z])/);
}

const placeByVariable = new Map([...places].map(([path, place]) => [environmentName(path), place]));
const placeByFlag = new Map([...places].map(([path, place]) => [flagName(path), place]));

const yes: readonly string[] = ['true', '1', 'yes', 'on'];
const no: readonly string[] = ['false', '0', 'no', 'off'];

/** The value that a file would hold. What cannot be read stays text, and the reader says what was expected. */
function valueFromText(kind: Kind, text: string): unknown {
  const plain = text.trim();
  const word = plain.toLowerCase();
  switch (kind.type) {
    case 'boolean':
      return yes.includes(word) ? true : no.includes(word) ? false : text;
    case 'integer':
    case 'number':
      return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Number(plain) : text;
    case 'nullable':
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
    // Safe: the text itself goes on to the reader, which refuses it where a list or an object is expected.
    return text;
  }
}

/** Ours as well, and no settings: places, ids and switches of the tests. */
export const otherVariables: readonly string[] = [
  'UNTILDONE_HOME',
  'UNTILDONE_SESSION',
  'UNTILDONE_PROCESS',
  'UNTILDONE_DEBUG',
  'UNTILDONE_PROPERTY_RUNS',
  'UNTILDONE_MUTATION',
  'UNTILDONE_MUTATION_MARKER',
];

/** An unknown variable is a warning, not a problem: other versions and other programs may own it. */
export type EnvironmentResult = ConfigResult & { readonly warnings: readonly Problem[] };

/** An empty variable counts as not set; an empty list is written `[]`. */
export function parseEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentResult {
  const wrong = collectProblems();
  const odd = collectProblems();
  const found: { readonly place: SettingPlace; readonly value: unknown }[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(prefix) || text === undefined || text.trim() === '') continue;
    const place = placeByVariable.get(variable);
    if (place !== undefined) {
      const value = readInto(place.kind, valueFromText(place.kind, text), variable, wrong.report);
      found.push({ place, value });
    } else if (!otherVariables.includes(variable)) {
      const shown = /^\w{1,100}$/.test(variable) ? variable : quoted(variable, 100);
      odd.report(shown, () => unknownVariable(variable));
    }
  }
  const problems = wrong.problems();
  const warnings = odd.problems();
  if (problems.length > 0) return { ok: false, problems, warnings };
  // An environment has no order: a field of a section always counts more than the section as a whole.
  const config: Record<string, unknown> = {};
  for (const { place, value } of found) if (place.field === null) config[place.setting] = value;
  for (const { place, value } of found) {
    if (place.field === null) continue;
    config[place.setting] = { ...(config[place.setting] as object | undefined), [place.field]: value };
  }
  return { ok: true, config: config as PartialSettings, warnings };
}

function unknownVariable(variable: string): string {
  const known = [...placeByVariable.keys(), ...otherVariables].map((name) => name.slice(prefix.length));
  const closest = closestName(variable.slice(prefix.length), known);
  const told = 'is not a setting and is ignored';
  return closest === null ? told : `${told}; did you mean ${prefix}${closest}?`;
}

export type FlagsResult = ConfigResult & { readonly rest: readonly string[] };

/**
 * `--max-continuations=20`, `--max-continuations 20`, `--no-enabled`. Given twice, the last one wins, so that an alias
 * can be overruled; lists and sections add up. What is no setting passes through untouched and in order: judging it is
 * the command's business. After `--` nothing is ours.
 */
export function parseFlags(argv: readonly string[]): FlagsResult {
  const { report, problems } = collectProblems();
  const found = new Map<string, unknown>();
  const rest: string[] = [];
  let index = 0;
  while (index < argv.length) {
    const argument = argv[index] ?? '';
    if (argument === '--') break;
    index += 1;
    const flag = recogniseFlag(argument);
    if (flag === null) {
      rest.push(argument);
      continue;
    }
    let { text } = flag;
    const following = argv[index];
    if (text === null && following !== undefined && !following.startsWith('--')) {
      text = following;
      index += 1;
    }
    if (text === null || text.trim() === '') {
      report(flag.name, `needs a value: ${flag.name}=VALUE`);
      continue;
    }
    const { setting, field, kind } = flag.place;
    const value = readInto(kind, valueFromText(kind, text), flag.name, report);
    if (field === null) found.set(setting, added(kind, found.get(setting), value));
    else {
      const section = (found.get(setting) ?? {}) as Record<string, unknown>;
      found.set(setting, { ...section, [field]: added(kind, section[field], value) });
    }
  }
  rest.push(...argv.slice(index));
  if (problems().length > 0) return { ok: false, problems: problems(), rest };
  return { ok: true, config: Object.fromEntries(found) as PartialSettings, rest };
}

function added(kind: Kind, earlier: unknown, value: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(value)) return [...earlier, ...value];
  return kind.type === 'section'
    ? { ...(earlier as object | undefined), ...(value as object | undefined) }
    : value;
}

interface Flag {
  readonly name: string;
  readonly place: SettingPlace;
  /** null: the value is the next argument. */
  readonly text: string | null;
}

function recogniseFlag(argument: string): Flag | null {
  const equals = argument.indexOf('=');
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const text = equals === -1 ? null : argument.slice(equals + 1);
  const place = placeByFlag.get(name);
  // A bare boolean is a yes: it must not swallow the argument after it.
  if (place !== undefined) {
    return { name, place, text: text ?? (place.kind.type === 'boolean' ? 'true' : null) };
  }
  const negated = placeByFlag.get(name.replace(/^--no-/, '--'));
  if (negated === undefined || text !== null) return null;
  return negated.kind.type === 'boolean' ? { name, place: negated, text: 'false' } : null;
}

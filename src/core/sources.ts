// Settings from the environment and from flags (C1): maxTodos is UNTILDONE_MAX_TODOS and --max-todos, context.limit is
// UNTILDONE_CONTEXT_LIMIT and --context-limit.
import type { ConfigResult } from './config.ts';
import { closestName, collectProblems, type Problem, quoted } from './problem.ts';
import { type Kind, readInto } from './schema.ts';
import { type PartialSettings, settingNames, settingTable } from './settings.ts';

type Place = Readonly<{ setting: string; field: string | null; kind: Kind }>;
const places = new Map<string, Place>();
for (const setting of settingNames) {
  const kind: Kind = settingTable[setting];
  places.set(setting, { setting, field: null, kind });
  for (const [field, inner] of kind.type === 'section' ? Object.entries(kind.fields) : [])
    places.set(`${setting}.${field}`, { setting, field, kind: inner });
}

/** `mode`, …, `context`, `context.maxMessages`, … */
export const settingPaths: readonly string[] = [...places.keys()];

const prefix = 'UNTILDONE_';

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

/** What cannot be read stays text, and the reader says what was expected. */
function valueFromText(kind: Kind, text: string): unknown {
  const plain = text.trim();
  const word = plain.toLowerCase();
  switch (kind.type) {
    case 'boolean':
      if (['true', '1', 'yes', 'on'].includes(word)) return true;
      return ['false', '0', 'no', 'off'].includes(word) ? false : text;
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
    // Safe: the reader refuses a text where a list or an object is expected.
    return text;
  }
}

/** Ours too, and no settings: places, ids and switches of the tests. */
export const otherVariables: readonly string[] = [
  'UNTILDONE_HOME',
  'UNTILDONE_SESSION',
  'UNTILDONE_PROCESS',
  'UNTILDONE_DEBUG',
  'UNTILDONE_PROPERTY_RUNS',
  'UNTILDONE_MUTATION',
  'UNTILDONE_MUTATION_MARKER',
];

/** An unknown variable only warns: other programs may own it. An empty one is not set; an empty list is `[]`. */
export function parseEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): ConfigResult & { warnings: readonly Problem[] } {
  const wrong = collectProblems();
  const odd = collectProblems();
  const sections: Settled = {};
  const fields: [Place, unknown][] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(prefix) || text === undefined || text.trim() === '') continue;
    const place = placeByVariable.get(variable);
    if (place !== undefined) {
      const value = readInto(place.kind, valueFromText(place.kind, text), variable, wrong.report);
      if (place.field === null) settle(sections, place, value);
      else fields.push([place, value]);
    } else if (!otherVariables.includes(variable)) {
      const shown = /^\w{1,100}$/.test(variable) ? variable : quoted(variable, 100);
      odd.report(shown, () => unknownVariable(variable));
    }
  }
  const problems = wrong.problems();
  const warnings = odd.problems();
  if (problems.length > 0) return { ok: false, problems, warnings };
  // An environment has no order: a field counts more than its section as a whole.
  for (const [place, value] of fields) settle(sections, place, value);
  return { ok: true, config: sections as PartialSettings, warnings };
}

type Settled = Record<string, unknown>;

function settle(config: Settled, { setting, field }: Place, value: unknown): void {
  config[setting] = field === null ? value : { ...(config[setting] as object), [field]: value };
}

function unknownVariable(variable: string): string {
  const known = [...placeByVariable.keys(), ...otherVariables].map((name) => name.slice(prefix.length));
  const closest = closestName(variable.slice(prefix.length), known);
  const told = 'is not a setting and is ignored';
  return closest === null ? told : `${told}; did you mean ${prefix}${closest}?`;
}

export type FlagsResult = ConfigResult & { readonly rest: readonly string[] };

/**
 * `--max-todos=20`, `--max-todos 20`, `--no-enabled`. The last wins, so that an alias can be overruled; lists and
 * sections add up. The command gets the rest.
 */
export function parseFlags(argv: readonly string[]): FlagsResult {
  const { report, problems } = collectProblems();
  const config: Settled = {};
  const rest: string[] = [];
  const left = [...argv];
  while (left.length > 0 && left[0] !== '--') {
    const argument = left.shift() ?? '';
    const flag = recogniseFlag(argument);
    if (flag === null) {
      rest.push(argument);
      continue;
    }
    const { name, place } = flag;
    const text = flag.text ?? (left[0]?.startsWith('--') === false ? left.shift() : undefined);
    if (text === undefined || text.trim() === '') report(name, `needs a value: ${name}=VALUE`);
    else {
      const value = readInto(place.kind, valueFromText(place.kind, text), name, report);
      settle(config, place, added(place, config[place.setting], value));
    }
  }
  rest.push(...left);
  if (problems().length > 0) return { ok: false, problems: problems(), rest };
  return { ok: true, config: config as PartialSettings, rest };
}

function added({ kind, field }: Place, setting: unknown, value: unknown): unknown {
  const earlier = field === null ? setting : (setting as Settled | undefined)?.[field];
  if (Array.isArray(earlier) && Array.isArray(value)) return [...earlier, ...value];
  return kind.type === 'section' ? { ...(earlier as object), ...(value as object) } : value;
}

function recogniseFlag(argument: string) {
  const equals = argument.indexOf('=');
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const text = equals === -1 ? null : argument.slice(equals + 1);
  const place = placeByFlag.get(name);
  // A bare boolean is a yes: it must not swallow the next argument.
  if (place !== undefined)
    return { name, place, text: text ?? (place.kind.type === 'boolean' ? 'true' : null) };
  const negated = placeByFlag.get(name.replace(/^--no-/, '--'));
  if (negated?.kind.type !== 'boolean' || text !== null) return null;
  return { name, place: negated, text: 'false' };
}

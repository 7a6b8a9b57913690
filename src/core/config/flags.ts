// Settings from command-line flags (C1): `--max-continuations=20`, `--max-continuations 20`, `--no-enabled`.
// Arguments that are no settings pass through untouched and in order; judging them is the command's business.

import { collectProblems, type Problem } from './problem.ts';
import { readValue } from './read-value.ts';
import { placeByFlag, type SettingPlace } from './setting-names.ts';
import type { PartialSettings } from './settings.ts';
import { valueFromText } from './text-value.ts';

export type FlagsResult =
  | { readonly ok: true; readonly config: PartialSettings; readonly rest: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly rest: readonly string[] };

/** Given twice, the last one wins, so that an alias can be overruled; lists and sections add up. After `--` nothing is ours. */
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
    let text = flag.text;
    if (text === null && !isFlag(argv[index])) {
      text = argv[index] ?? null;
      index += 1;
    }
    if (text === null || text.trim() === '') {
      report(flag.name, `needs a value: ${flag.name}=VALUE`);
      continue;
    }
    const { setting, field, kind } = flag.place;
    const value = readValue(kind, valueFromText(kind, text), flag.name, report);
    if (field === null) found.set(setting, added(kind.type, found.get(setting), value));
    else {
      const section = (found.get(setting) ?? {}) as Record<string, unknown>;
      found.set(setting, { ...section, [field]: added(kind.type, section[field], value) });
    }
  }
  rest.push(...argv.slice(index));
  if (problems().length > 0) return { ok: false, problems: problems(), rest };
  return { ok: true, config: Object.fromEntries(found) as PartialSettings, rest };
}

function added(type: SettingPlace['kind']['type'], earlier: unknown, value: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(value)) return [...earlier, ...value];
  return type === 'section'
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

function isFlag(argument: string | undefined): boolean {
  return argument === undefined || argument.startsWith('--');
}

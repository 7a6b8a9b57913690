// Settings from UNTILDONE_* variables (C1), from a plain record: nothing here reads the process.
// An unknown variable is a warning, not a problem: other versions and other programs may own it.

import { closestName } from './closest-name.ts';
import { quoted } from './excerpt.ts';
import { collectProblems, type Problem } from './problem.ts';
import { readValue } from './read-value.ts';
import { environmentPrefix, placeByEnvironmentName, type SettingPlace } from './setting-names.ts';
import type { PartialSettings } from './settings.ts';
import { valueFromText } from './text-value.ts';

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

export type EnvironmentResult =
  | { readonly ok: true; readonly config: PartialSettings; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] };

/** An empty variable counts as not set; an empty list is written `[]`. */
export function parseEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentResult {
  const wrong = collectProblems();
  const odd = collectProblems();
  const found: { readonly place: SettingPlace; readonly value: unknown }[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(environmentPrefix) || text === undefined || text.trim() === '') continue;
    const place = placeByEnvironmentName.get(variable);
    if (place !== undefined) {
      const value = readValue(place.kind, valueFromText(place.kind, text), variable, wrong.report);
      found.push({ place, value });
    } else if (!otherVariables.includes(variable)) {
      odd.report(variableName(variable), () => unknownVariable(variable));
    }
  }
  const problems = wrong.problems();
  const warnings = odd.problems();
  if (problems.length > 0) return { ok: false, problems, warnings };
  return { ok: true, config: configOf(found), warnings };
}

/** An environment has no order: a field of a section always counts more than the section as a whole. */
function configOf(
  found: readonly { readonly place: SettingPlace; readonly value: unknown }[],
): PartialSettings {
  const config: Record<string, unknown> = {};
  for (const { place, value } of found) if (place.field === null) config[place.setting] = value;
  for (const { place, value } of found) {
    if (place.field !== null) {
      config[place.setting] = { ...(config[place.setting] as object | undefined), [place.field]: value };
    }
  }
  return config as PartialSettings;
}

function variableName(variable: string): string {
  return /^\w{1,100}$/.test(variable) ? variable : quoted(variable, 100);
}

function unknownVariable(variable: string): string {
  const closest = closestName(variable.slice(environmentPrefix.length), bareNames);
  const told = 'is not a setting and is ignored';
  return closest === null ? told : `${told}; did you mean ${environmentPrefix}${closest}?`;
}

const bareNames = [...placeByEnvironmentName.keys(), ...otherVariables].map((name) =>
  name.slice(environmentPrefix.length),
);

// What a model's glob means for paths of the workspace: relative to the root, or to any depth without a slash.

import { displayName } from '../display-name.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { expandBraces, mostAlternatives } from './brace-expansion.ts';
import { compileNames, matchesNames } from './glob-pattern.ts';

export type PathFilter = (names: readonly string[]) => boolean;

export function createPathFilter(pattern: string): { ok: true; accepts: PathFilter } | Refusal {
  const split = splitPattern(pattern);
  if (!split.ok) return split;
  const compiled = split.alternatives.map(compileNames);
  return { ok: true, accepts: (names) => compiled.some((one) => matchesNames(one, names)) };
}

/** A pattern as patterns of names, one for each alternative in braces. */
export function splitPattern(pattern: string): { ok: true; alternatives: readonly string[][] } | Refusal {
  const shown = displayName(pattern);
  if (pattern.startsWith('/'))
    return refuse(`${shown} starts at "/": give a pattern relative to the workspace root.`);
  const expanded = expandBraces(pattern);
  if (expanded === null) {
    return refuse(`${shown} stands for more than ${mostAlternatives} patterns: use fewer braces.`);
  }
  const splits = expanded.map((one) => one.split('/').filter((name) => name !== '' && name !== '.'));
  if (splits.some((names) => names.includes('..')))
    return refuse(`${shown} contains "..", which is refused.`);
  return { ok: true, alternatives: splits.map((names) => (names.length === 1 ? ['**', ...names] : names)) };
}

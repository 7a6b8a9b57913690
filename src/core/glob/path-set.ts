// A set of paths by the patterns that a human wrote for checks: `files` and `protect`. Besides what the same
// pattern means for a search, one that ends in a plain name covers all below a folder of that name.

import { type Refusal, refuse } from '../refusal.ts';
import { compileNames, matchesNames, mayMatchBelow, type NamesPattern } from './glob-pattern.ts';
import { splitPattern } from './path-filter.ts';

export interface PathSet {
  has(names: readonly string[]): boolean;
  /** False: nothing below this folder can be in the set. */
  mayHold(folder: readonly string[]): boolean;
}

export function createPathSet(patterns: readonly string[]): { ok: true; paths: PathSet } | Refusal {
  const compiled: NamesPattern[] = [];
  for (const pattern of patterns) {
    const split = splitPattern(pattern);
    if (!split.ok) return split;
    if (split.alternatives.some((names) => names.length === 0))
      return refuse('an empty pattern fits nothing.');
    for (const names of split.alternatives) {
      compiled.push(compileNames(isPlain(names.at(-1) ?? '') ? [...names, '**'] : names));
    }
  }
  return {
    ok: true,
    paths: {
      has: (names) => compiled.some((pattern) => matchesNames(pattern, names)),
      mayHold: (folder) => compiled.some((pattern) => mayMatchBelow(pattern, folder)),
    },
  };
}

function isPlain(name: string): boolean {
  return !/[*?[\\]/u.test(name);
}

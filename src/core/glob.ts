// Matches names and paths with globs: *, ?, [a-z], ** and {a,b}. Builds no regular
// expression, so that the time is bounded by pattern × name length.
import { type Refusal, refuse } from './error.ts';
import { displayName } from './safe-text.ts';

/** Ten pairs of braces already make a thousand patterns. */
const mostAlternatives = 100;

/**
 * The patterns without braces. Null: more than `mostAlternatives`. A brace that nothing
 * closes stands for itself.
 */
export function expandBraces(pattern: string): string[] | null {
  const queue = [pattern];
  const expanded: string[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const opened = openBraces(next);
    if (opened === null) expanded.push(next);
    else queue.push(...opened);
    if (queue.length + expanded.length > mostAlternatives) return null;
  }
  return expanded.reverse();
}

/**
 * The alternatives of the first outermost braces with a comma in them; null: there are
 * none.
 */
function openBraces(pattern: string): string[] | null {
  let depth = 0;
  let cuts: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') {
      depth += 1;
      if (depth === 1) cuts = [at];
    } else if (character === ',' && depth === 1) cuts.push(at);
    else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth > 0 || cuts.length < 2) continue;
      const before = pattern.slice(0, cuts[0]);
      const after = pattern.slice(at + 1);
      return cuts.map(
        (cut, index) => before + pattern.slice(cut + 1, cuts[index + 1] ?? at) + after,
      );
    }
  }
  return null;
}

/** Takes any number of items: * takes characters of a name, ** takes names of a path. */
const wildcard = null;
type Part = ((item: string) => boolean) | typeof wildcard;
type NamesPattern = readonly Part[];

/** Compiles one pattern for each name of a path. */
export function compileNames(patterns: readonly string[]): NamesPattern {
  return patterns.map((pattern) => {
    if (pattern === '**') return wildcard;
    if (isPlain(pattern)) return (name) => name === pattern;
    const parts = readParts(Array.from(pattern));
    return (name) => matchesNames(parts, Array.from(name));
  });
}

function isPlain(name: string): boolean {
  return !/[*?[\\]/u.test(name);
}

/**
 * Whether the pattern fits all the names. On a mismatch only the last wildcard takes one
 * more, because it can take all that follows.
 */
export function matchesNames(pattern: NamesPattern, names: readonly string[]): boolean {
  let at = 0;
  let part = 0;
  let lastWildcard = -1;
  let taken = 0;
  while (at < names.length) {
    const current = pattern[part];
    if (current === wildcard) {
      lastWildcard = part;
      taken = at;
      part += 1;
    } else if (current?.(names[at] as string)) {
      part += 1;
      at += 1;
    } else if (lastWildcard !== -1) {
      taken += 1;
      at = taken;
      part = lastWildcard + 1;
    } else return false;
  }
  return pattern.slice(part).every((rest) => rest === wildcard);
}

/** Whether something below the folder may match. If not, a walk need not look into it. */
function mayMatchBelow(pattern: NamesPattern, folder: readonly string[]): boolean {
  for (const [index, name] of folder.entries()) {
    const part = pattern[index];
    if (part === wildcard) return true;
    if (!part?.(name)) return false;
  }
  return folder.length < pattern.length;
}

function readParts(characters: readonly string[]): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const close = character === '[' ? findClassEnd(characters, at) : -1;
    if (character === '*') parts.push(wildcard);
    else if (character === '?') parts.push(() => true);
    else if (close !== -1) {
      parts.push(readClass(characters.slice(at + 1, close)));
      at = close;
    } else {
      // A backslash at the very end stands for itself.
      if (character === '\\' && at + 1 < characters.length) at += 1;
      const wanted = characters[at];
      parts.push((given) => given === wanted);
    }
  }
  return parts;
}

/**
 * The index of the bracket that closes a class; -1: the bracket stands for itself. In
 * `[]]` the first ] is a member.
 */
function findClassEnd(characters: readonly string[], open: number): number {
  const firstMember = open + (['!', '^'].includes(characters[open + 1] ?? '') ? 2 : 1);
  return characters.indexOf(']', firstMember + 1);
}

function readClass(inside: readonly string[]): Part {
  const isNegated = inside[0] === '!' || inside[0] === '^';
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] as string;
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([low, isRange ? (members[at + 2] as string) : low]);
    if (isRange) at += 2;
  }
  return (given) =>
    ranges.some(([low, high]) => low <= given && given <= high) !== isNegated;
}

/** Whether the path with these names is accepted. */
export type PathFilter = (names: readonly string[]) => boolean;

/**
 * Compiles a model's glob for the workspace: relative to the root, and at any depth if it
 * has no slash. Refuses a pattern that leads outside.
 */
export function createPathFilter(
  pattern: string,
): { ok: true; accepts: PathFilter } | Refusal {
  const split = splitPattern(pattern);
  if (!split.ok) return split;
  const compiled = split.alternatives.map(compileNames);
  return {
    ok: true,
    accepts: (names) => compiled.some((one) => matchesNames(one, names)),
  };
}

function splitPattern(
  pattern: string,
): { ok: true; alternatives: readonly string[][] } | Refusal {
  const shown = displayName(pattern);
  if (pattern.startsWith('/'))
    return refuse(
      `${shown} starts at "/": give a pattern relative to the workspace root.`,
    );
  const expanded = expandBraces(pattern);
  if (expanded === null)
    return refuse(
      `${shown} expands to more than ${mostAlternatives} patterns: use fewer braces.`,
    );
  const splits = expanded.map((one) =>
    one.split('/').filter((name) => name !== '' && name !== '.'),
  );
  if (splits.some((names) => names.includes('..')))
    return refuse(`${shown} contains "..", which is refused.`);
  return {
    ok: true,
    alternatives: splits.map((names) => (names.length === 1 ? ['**', ...names] : names)),
  };
}

/**
 * The paths that a human's patterns cover. A pattern that ends in a plain name also
 * covers all below such a folder.
 */
export interface PathSet {
  has(names: readonly string[]): boolean;
  mayHold(folder: readonly string[]): boolean;
}

/** Compiles a human's patterns; refuses all if one is wrong. */
export function createPathSet(
  patterns: readonly string[],
): { ok: true; paths: PathSet } | Refusal {
  const compiled: NamesPattern[] = [];
  for (const pattern of patterns) {
    const split = splitPattern(pattern);
    if (!split.ok) return split;
    if (split.alternatives.some((names) => names.length === 0))
      return refuse('an empty pattern fits nothing.');
    for (const names of split.alternatives)
      compiled.push(compileNames(isPlain(names.at(-1) ?? '') ? [...names, '**'] : names));
  }
  const has: PathSet['has'] = (names) =>
    compiled.some((pattern) => matchesNames(pattern, names));
  const mayHold: PathSet['mayHold'] = (folder) =>
    compiled.some((pattern) => mayMatchBelow(pattern, folder));
  return { ok: true, paths: { has, mayHold } };
}

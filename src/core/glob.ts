// Globs for names and paths: *, ?, [a-z], ** and {a,b}. Matching takes time that is bounded by pattern length × name
// length: there is no regular expression, so no pattern can be made to run for minutes.
import { type Refusal, refuse } from './error.ts';
import { displayName } from './safe-text.ts';

/** {a,b} makes several patterns of one; bounded, since ten pairs of braces are already a thousand. */
const mostAlternatives = 100;

/** Null when there are more than `mostAlternatives`. A brace that nothing closes stands for itself. */
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

/** What the first outermost pair of braces that holds a comma stands for; null: there is none. */
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
      const [before, after] = [pattern.slice(0, cuts[0]), pattern.slice(at + 1)];
      return cuts.map((cut, index) => before + pattern.slice(cut + 1, cuts[index + 1] ?? at) + after);
    }
  }
  return null;
}

type Token = { kind: 'character'; character: string } | { kind: 'any' } | { kind: 'star' } | ClassToken;
interface ClassToken {
  readonly kind: 'class';
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [low: string, high: string])[];
}
/** One name of a path: a plain name, a pattern, or ** for any number of names. */
type NamePattern =
  | { kind: 'plain'; name: string }
  | { kind: 'pattern'; tokens: readonly Token[] }
  | { kind: 'any-names' };
export type NamesPattern = readonly NamePattern[];

export function compileNames(patterns: readonly string[]): NamesPattern {
  return patterns.map((pattern) => {
    if (pattern === '**') return { kind: 'any-names' };
    const tokens = readTokens(pattern);
    const isPlain = tokens.every((token) => token.kind === 'character');
    if (!isPlain) return { kind: 'pattern', tokens };
    return {
      kind: 'plain',
      name: tokens.map((token) => (token.kind === 'character' ? token.character : '')).join(''),
    };
  });
}

export function matchesNames(pattern: NamesPattern, names: readonly string[]): boolean {
  return matchesSequence(pattern, names, (part) => part.kind === 'any-names', matchesName);
}

/** Whether the pattern could fit something below this folder: if not, a walk need not look into it. */
function mayMatchBelow(pattern: NamesPattern, folder: readonly string[]): boolean {
  for (const [index, name] of folder.entries()) {
    const part = pattern[index];
    if (part === undefined) return false;
    if (part.kind === 'any-names') return true;
    if (!matchesName(part, name)) return false;
  }
  return folder.length < pattern.length;
}

function matchesName(part: NamePattern, name: string): boolean {
  if (part.kind === 'any-names') return true;
  if (part.kind === 'plain') return part.name === name;
  return matchesSequence(part.tokens, Array.from(name), (token) => token.kind === 'star', matchesCharacter);
}

function matchesCharacter(token: Token, character: string): boolean {
  if (token.kind === 'character') return token.character === character;
  if (token.kind !== 'class') return true;
  return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.isNegated;
}

/**
 * Wildcard matching for characters in a name and for names in a path alike. On a mismatch only the last
 * wildcard takes one more item: an earlier one never needs to, since the later can take all that follows.
 */
function matchesSequence<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  isWildcard: (part: Part) => boolean,
  matches: (part: Part, item: Item) => boolean,
): boolean {
  let at = 0;
  let part = 0;
  let wildcard = -1;
  let taken = 0;
  while (at < items.length) {
    const current = parts[part];
    if (current !== undefined && isWildcard(current)) {
      wildcard = part;
      taken = at;
      part += 1;
    } else if (current !== undefined && matches(current, items[at] as Item)) {
      part += 1;
      at += 1;
    } else if (wildcard !== -1) {
      taken += 1;
      at = taken;
      part = wildcard + 1;
    } else {
      return false;
    }
  }
  return parts.slice(part).every(isWildcard);
}

function readTokens(pattern: string): Token[] {
  const characters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') {
      tokens.push({ kind: 'any' });
    } else if (character === '\\' && at + 1 < characters.length) {
      at += 1;
      tokens.push({ kind: 'character', character: characters[at] as string });
    } else {
      const close = character === '[' ? findClassEnd(characters, at) : -1;
      tokens.push(
        close === -1 ? { kind: 'character', character } : readClass(characters.slice(at + 1, close)),
      );
      if (close !== -1) at = close;
    }
  }
  return tokens;
}

/** A bracket that nothing closes stands for itself; one that closes at once is a member. */
function findClassEnd(characters: readonly string[], open: number): number {
  const firstMember = open + (['!', '^'].includes(characters[open + 1] ?? '') ? 2 : 1);
  return characters.indexOf(']', firstMember + 1);
}

function readClass(inside: readonly string[]): ClassToken {
  const isNegated = inside[0] === '!' || inside[0] === '^';
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] as string;
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    ranges.push([low, isRange ? (members[at + 2] as string) : low]);
    if (isRange) at += 2;
  }
  return { kind: 'class', isNegated, ranges };
}

export type PathFilter = (names: readonly string[]) => boolean;

/** What a model's glob means for paths of the workspace: relative to the root, or to any depth without a slash. */
export function createPathFilter(pattern: string): { ok: true; accepts: PathFilter } | Refusal {
  const split = splitPattern(pattern);
  if (!split.ok) return split;
  const compiled = split.alternatives.map(compileNames);
  return { ok: true, accepts: (names) => compiled.some((one) => matchesNames(one, names)) };
}

/** A pattern as patterns of names, one for each alternative in braces. */
function splitPattern(pattern: string): { ok: true; alternatives: readonly string[][] } | Refusal {
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

/**
 * Paths by the patterns that a human wrote for checks: `files` and `protect`. Besides what the same pattern means for a
 * search, one that ends in a plain name covers all below a folder of that name.
 */
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

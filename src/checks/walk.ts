// Every file below a folder of the workspace, in the order of the alphabet, without what .gitignore names.
// It follows no symbolic link, so it can neither leave the workspace nor run in circles.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileNames, matchesNames, type NamesPattern } from '../core/glob.ts';
import { type Place, readFileAtMost, realNames, withDirectory } from './files.ts';

export interface WalkedFile {
  readonly names: readonly string[];
  readonly isLink: boolean;
}

export type Walk = ReturnType<typeof walk>;

export interface WalkWays {
  /** The text of the .gitignore in a folder of the workspace; not given: what is there now. */
  readonly ignoreText?: typeof readIgnoreText | undefined;
  /** Whether a folder is looked into at all; not given: every one is. */
  readonly enters?: ((names: readonly string[]) => boolean) | undefined;
}

export function walk(start: Place, maxEntries: number, signal: AbortSignal, ways: WalkWays = {}) {
  const { ignoreText = readIgnoreText, enters = () => true } = ways;
  /** What the walk left out, known once it is over. */
  const left = { unreadableFolders: 0, isCut: false };
  let budget = maxEntries;

  async function rulesIn(names: readonly string[]): Promise<readonly IgnoreRule[]> {
    return readIgnoreRules(await ignoreText(start.root, names), names.length);
  }

  async function* visit(
    names: readonly string[],
    inherited: readonly IgnoreRule[],
  ): AsyncGenerator<WalkedFile> {
    const entries = await listFolder(start.root, names);
    if (entries === null) left.unreadableFolders += 1;
    const hasRules = ways.ignoreText !== undefined || entries?.some((entry) => entry.name === '.gitignore');
    const rules = hasRules ? [...inherited, ...(await rulesIn(names))] : inherited;
    for (const entry of entries ?? []) {
      left.isCut ||= budget <= 0 || signal.aborted;
      if (left.isCut) return;
      budget -= 1;
      const path = [...names, entry.name];
      if (isIgnored(rules, path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        if (enters(path)) yield* visit(path, rules);
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        yield { names: path, isLink: entry.isSymbolicLink() };
      }
    }
  }

  async function* begin(): AsyncGenerator<WalkedFile> {
    const names = realNames(start);
    const rules: IgnoreRule[] = [];
    for (const depth of names.keys()) rules.push(...(await rulesIn(names.slice(0, depth))));
    yield* visit(names, rules);
  }
  return { files: begin(), left };
}

async function listFolder(root: string, names: readonly string[]): Promise<Dirent[] | null> {
  try {
    const entries = await withDirectory(join(root, ...names), ({ self }) =>
      readdir(self, { withFileTypes: true }),
    );
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    // A folder that vanished or may not be read has nothing to show; the walk counts it and goes on.
    return null;
  }
}

/** A .gitignore above this size is not one. */
const ignoreFileBytes = 100_000;

/** `root` has no symbolic link in it. Empty where there is no .gitignore. */
export async function readIgnoreText(root: string, names: readonly string[]): Promise<string> {
  try {
    const text = await readFileAtMost(join(root, ...names, '.gitignore'), ignoreFileBytes);
    return text?.toString('utf8') ?? '';
  } catch {
    // None there, or none that may be read: then it ignores nothing, and too much is seen rather than too little.
    return '';
  }
}

interface IgnoreRule {
  readonly pattern: NamesPattern;
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  /** How many names of a path lead to the folder that holds this .gitignore. */
  readonly depth: number;
}

/**
 * .gitignore, roughly: comments, negation, folders only, anchored patterns, nested files; the last match wins. It leaves
 * out .git/info/exclude and the user's global file: a search that shows a little too much is fine.
 */
function readIgnoreRules(text: string, depth: number): readonly IgnoreRule[] {
  return text.split(/\r?\n/u).flatMap((line) => {
    const trimmed = line.trimEnd();
    const written = trimmed.endsWith('\\') && trimmed !== line ? `${trimmed} ` : trimmed;
    if (written === '' || written.startsWith('#')) return [];
    const isNegated = written.startsWith('!');
    const pattern = isNegated ? written.slice(1) : written;
    const onlyFolders = pattern.endsWith('/');
    const names = pattern.split('/').filter((name) => name !== '');
    if (names.length === 0) return [];
    const isAnchored = names.length > 1 || pattern.startsWith('/');
    return [{ pattern: compileNames(isAnchored ? names : ['**', ...names]), isNegated, onlyFolders, depth }];
  });
}

/** Never searched, whatever .gitignore says: they hold what nobody in the project wrote. */
const alwaysIgnored = new Set(['.git', 'node_modules']);

/** `names` lead from the workspace root to the entry; a folder that is ignored is not looked into at all. */
function isIgnored(rules: readonly IgnoreRule[], names: readonly string[], isFolder: boolean): boolean {
  if (alwaysIgnored.has(names.at(-1) ?? '')) return true;
  const last = rules.findLast(
    (rule) => (isFolder || !rule.onlyFolders) && matchesNames(rule.pattern, names.slice(rule.depth)),
  );
  return last !== undefined && !last.isNegated;
}

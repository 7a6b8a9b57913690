// .gitignore, roughly: comments, negation, folders only, anchored patterns, nested files; the last match wins.
// It leaves out .git/info/exclude and the user's global file: a search that shows a little too much is fine.
import { compileNames, matchesNames, type NamesPattern } from '../../core/glob/glob-pattern.ts';

interface IgnoreRule {
  readonly pattern: NamesPattern;
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
  /** How many names of a path lead to the folder that holds this .gitignore. */
  readonly depth: number;
}
export type IgnoreRules = readonly IgnoreRule[];

/** Never searched, whatever .gitignore says: they hold what nobody in the project wrote. */
const alwaysIgnored = new Set(['.git', 'node_modules']);

export function readIgnoreRules(text: string, depth: number): IgnoreRules {
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

/** `names` lead from the workspace root to the entry; a folder that is ignored is not looked into at all. */
export function isIgnored(rules: IgnoreRules, names: readonly string[], isFolder: boolean): boolean {
  if (alwaysIgnored.has(names.at(-1) ?? '')) return true;
  const last = rules.findLast(
    (rule) => (isFolder || !rule.onlyFolders) && matchesNames(rule.pattern, names.slice(rule.depth)),
  );
  return last !== undefined && !last.isNegated;
}

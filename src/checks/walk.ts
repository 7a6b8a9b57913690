// Every file below a folder, sorted, without those that .gitignore names. It follows no
// link, so it neither leaves the folder nor runs in circles.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compileNames, matchesNames, type PathSet } from '../core/glob.ts';
import {
  readAtMost,
  realNames,
  type WorkspacePath,
  withDirectory,
  withRegularFile,
} from './files.ts';

type Names = readonly string[];
export type FolderWalk = Readonly<{ names: Names; isLink: boolean }>;
export type Walk = ReturnType<typeof walkFolder>;
/** Without `ignoreText`, the .gitignore files of now hold. */
export type WalkWays = Readonly<{ ignoreText?: typeof readIgnoreText; paths?: PathSet }>;

/**
 * Walks down from `start` and yields files. `left` counts the folders that could not be
 * read, and says whether the walk was cut short by `maxEntries` or the signal.
 */
export function walkFolder(
  start: WorkspacePath,
  maxEntries: number,
  signal: AbortSignal,
  ways: WalkWays = {},
) {
  const { ignoreText = readIgnoreText, paths } = ways;
  const left = { unreadableFolders: 0, isCut: false };
  let entriesLeft = maxEntries;

  const rulesIn = async (names: Names) =>
    readIgnoreRules(await ignoreText(start.root, names), names.length);

  async function* visit(
    names: Names,
    inherited: IgnoreRules,
  ): AsyncGenerator<FolderWalk> {
    const entries = await listFolder(start.root, names);
    if (entries === null) left.unreadableFolders += 1;
    const hasRules =
      ways.ignoreText !== undefined || entries?.some(({ name }) => name === '.gitignore');
    const rules = hasRules ? [...inherited, ...(await rulesIn(names))] : inherited;
    for (const entry of entries ?? []) {
      left.isCut ||= entriesLeft <= 0 || signal.aborted;
      if (left.isCut) return;
      entriesLeft -= 1;
      const path = [...names, entry.name];
      const isLink = entry.isSymbolicLink();
      if (isIgnored(rules, path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        if (paths?.mayHold(path) !== false) yield* visit(path, rules);
      } else if ((entry.isFile() || isLink) && paths?.has(path) !== false)
        yield { names: path, isLink };
    }
  }

  async function* begin() {
    const names = realNames(start);
    const above = await Promise.all(
      names.map((_, depth) => rulesIn(names.slice(0, depth))),
    );
    yield* visit(names, above.flat());
  }
  return { files: begin(), left };
}

async function listFolder(root: string, names: Names) {
  try {
    const list = (self: string) => readdir(self, { withFileTypes: true });
    const entries = await withDirectory(join(root, ...names), ({ self }) => list(self));
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    // Safe: the folder is gone or unreadable; the walk counts it and goes on.
    return null;
  }
}

const ignoreFileBytes = 100_000;

/** The text of the folder's .gitignore; '' if it has none that can be read. */
export async function readIgnoreText(root: string, names: Names) {
  try {
    const path = join(root, ...names, '.gitignore');
    const opened = await withRegularFile(path, (handle) =>
      readAtMost(handle, ignoreFileBytes),
    );
    return (opened.kind === 'file' && opened.result?.toString('utf8')) || '';
  } catch {
    // Safe: rules that cannot be read are left out. Seeing too much is better than seeing
    // too little.
    return '';
  }
}

type IgnoreRules = ReturnType<typeof readIgnoreRules>;

/**
 * Reads ignore rules roughly: .git/info/exclude and the user's own file are not read, so
 * a little too much is shown.
 */
function readIgnoreRules(text: string, depth: number) {
  return text.split(/\r?\n/u).flatMap((line) => {
    const trimmed = line.trimEnd();
    const written = trimmed.endsWith('\\') && trimmed !== line ? `${trimmed} ` : trimmed;
    if (written.startsWith('#')) return [];
    const isNegated = written.startsWith('!');
    const pattern = isNegated ? written.slice(1) : written;
    const names = pattern.split('/').filter((name) => name !== '');
    if (names.length === 0) return [];
    const isAnchored = names.length > 1 || pattern.startsWith('/');
    const compiled = compileNames(isAnchored ? names : ['**', ...names]);
    return [{ pattern: compiled, isNegated, onlyFolders: pattern.endsWith('/'), depth }];
  });
}

const alwaysIgnored = new Set(['.git', 'node_modules']);

/** `names` lead from the root; the last rule that fits decides. */
function isIgnored(rules: IgnoreRules, names: Names, isFolder: boolean) {
  if (alwaysIgnored.has(names.at(-1) ?? '')) return true;
  const last = rules.findLast(
    (rule) =>
      (isFolder || !rule.onlyFolders) &&
      matchesNames(rule.pattern, names.slice(rule.depth)),
  );
  return last !== undefined && !last.isNegated;
}

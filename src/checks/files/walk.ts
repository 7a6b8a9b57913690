// Every file below a folder of the workspace, in the order of the alphabet, without what is ignored.
// It follows no symbolic link, so it can neither leave the workspace nor run in circles.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, realNames } from './confined-path.ts';
import { type IgnoreRules, isIgnored, readIgnoreRules } from './ignore-rules.ts';
import { withDirectory } from './pinned-directory.ts';
import { readAtMost, withRegularFile } from './regular-file.ts';

export interface WalkedFile {
  /** From the workspace root to the file. */
  readonly names: readonly string[];
  readonly isLink: boolean;
}
export interface Walk {
  readonly files: AsyncIterable<WalkedFile>;
  /** What the walk left out, known once it is over. */
  readonly left: { unreadableFolders: number; isCut: boolean };
}

/** The text of the .gitignore in a folder of the workspace; empty where there is none. */
export type IgnoreText = (names: readonly string[]) => Promise<string>;

export interface WalkWays {
  /** Which rules hold; not given: those in the workspace now. */
  readonly ignoreText?: IgnoreText;
  /** Whether a folder is looked into at all; not given: every one is. */
  readonly enters?: (names: readonly string[]) => boolean;
}

/** A .gitignore above this size is not one. */
const ignoreFileBytes = 100_000;

/** `start` is an existing folder. */
export function walk(start: Place, maxEntries: number, signal: AbortSignal, ways: WalkWays = {}): Walk {
  const { ignoreText = readIgnoreText(start.root), enters = () => true } = ways;
  const left = { unreadableFolders: 0, isCut: false };
  let budget = maxEntries;

  async function rulesIn(names: readonly string[]): Promise<IgnoreRules> {
    return readIgnoreRules(await ignoreText(names), names.length);
  }

  async function* visit(names: readonly string[], inherited: IgnoreRules): AsyncGenerator<WalkedFile> {
    const entries = await listFolder(start.root, names);
    if (entries === null) left.unreadableFolders += 1;
    const hasRules = ways.ignoreText !== undefined || entries?.some((entry) => entry.name === '.gitignore');
    const rules = hasRules ? [...inherited, ...(await rulesIn(names))] : inherited;
    for (const entry of entries ?? []) {
      if (budget <= 0 || signal.aborted) {
        left.isCut = true;
        return;
      }
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
    let rules: IgnoreRules = [];
    for (let depth = 0; depth < names.length; depth += 1) {
      rules = [...rules, ...(await rulesIn(names.slice(0, depth)))];
    }
    yield* visit(names, rules);
  }
  return { files: begin(), left };
}

async function listFolder(root: string, names: readonly string[]): Promise<Dirent[] | null> {
  try {
    const entries = await withDirectory(join(root, ...names), (folder) =>
      readdir(folder.self, { withFileTypes: true }),
    );
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    // A folder that vanished or may not be read has nothing to show; the walk counts it and goes on.
    return null;
  }
}

/** `root` has no symbolic link in it. */
export function readIgnoreText(root: string): IgnoreText {
  return async (names) => {
    try {
      const opened = await withRegularFile(join(root, ...names, '.gitignore'), (handle) =>
        readAtMost(handle, ignoreFileBytes),
      );
      return opened.kind === 'file' ? (opened.result?.toString('utf8') ?? '') : '';
    } catch {
      // None there, or none that may be read: then it ignores nothing, and too much is seen rather than too little.
      return '';
    }
  };
}

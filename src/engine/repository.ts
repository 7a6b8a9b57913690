// Finds a repository by hand: git itself would also find plain files that pose as a bare one, and obey what they name.
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readBytes } from './system.ts';

export type Repository = Readonly<{ root: string; own: string; shared: string | null }>;

/**
 * `own`: the folder that git uses for this tree. `shared`: the one that all worktrees of the repository share; null where a
 * file only claims it: a worktree counts where the repository itself names it, since anyone can write a file that points
 * to a repository.
 */
export function findRepository(directory: string): Repository | null {
  const dot = join(directory, '.git');
  const stats = statsOf(dot);
  if (stats !== null) return { root: directory, ...gitFolders(directory, dot, stats.isDirectory()) };
  const parent = dirname(directory);
  return parent === directory ? null : findRepository(parent);
}

function gitFolders(root: string, dot: string, isFolder: boolean): Omit<Repository, 'root'> {
  if (isFolder) {
    const own = fs.realpathSync(dot);
    return { own, shared: own };
  }
  const own = resolve(root, /^gitdir: (.+)$/m.exec(smallText(dot))?.[1] ?? '.git');
  try {
    const shared = fs.realpathSync(resolve(own, smallText(join(own, 'commondir')).trim()));
    const isInside = dirname(fs.realpathSync(own)) === join(shared, 'worktrees');
    const isNamed = fs.realpathSync(smallText(join(own, 'gitdir')).trim()) === fs.realpathSync(dot);
    return { own, shared: isInside && isNamed ? shared : null };
  } catch {
    // Safe: a submodule, or a file that points nowhere; nothing is shared.
    return { own, shared: null };
  }
}

function statsOf(path: string) {
  try {
    return fs.statSync(path);
  } catch {
    // Safe: missing, or a link to itself; there is no repository here.
    return null;
  }
}

function smallText(path: string): string {
  const file = readBytes(path, 65_536);
  return file.ok ? Buffer.from(file.bytes).toString() : '';
}

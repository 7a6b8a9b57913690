// Reads what git says about a work tree into what is settled, because git has the id of its content, and what must be
// looked at: changed, untracked, unmerged, and what somebody told git not to look at.

// Three questions and not one, since git asks the file system with one thread only in all but the second: beside each
// other they take the time of `git status`. None writes anything.

/** Tracked files with mode, id and a tag. */
export const trackedArguments = ['ls-files', '-z', '-v', '--stage', '--cached'];

/** Tracked files that are not, or perhaps not, as git has them. */
export const changedArguments = [
  ...['diff-files', '-z', '--raw', '--relative', '--no-renames', '--no-ext-diff', '--ignore-submodules=all'],
];

export const untrackedArguments = [
  ...['ls-files', '-z', '--others', '--exclude-standard', '--exclude=node_modules'],
];

export interface GitFiles {
  /** Path → `mode id`, in order, of what is as git has it. */
  readonly settled: Map<string, string>;
  /** Path → the mode that git has, or null where it has none. What of it exists replaces what is settled. */
  readonly unsettled: Map<string, string | null>;
  /** Of the unsettled: what need not be there, because it was never checked out. */
  readonly skipped: Set<string>;
  /** Paths of submodules, and of repositories inside this one, which git lists as one entry. */
  readonly repositories: Set<string>;
}

const gitlinkMode = '160000';

/** All texts of git are one character a byte, as the paths here. */
export function readTracked(listed: string): GitFiles {
  const files: GitFiles = {
    settled: new Map(),
    unsettled: new Map(),
    skipped: new Set(),
    repositories: new Set(),
  };
  for (let start = 0, end = 0; start < listed.length; start = end + 1) {
    end = listed.indexOf('\0', start);
    if (end === -1) break;
    // `H 100644 0123…cdef 0<tab>path`
    const tab = listed.indexOf('\t', start);
    const path = listed.slice(tab + 1, end);
    files.settled.set(path, listed.slice(start + 2, tab - 2));
    if (listed[start] !== 'H' || listed.startsWith(gitlinkMode, start + 2))
      readOdd(listed[start] ?? '', path, listed.slice(start + 2, start + 8), files);
  }
  return files;
}

/** A lower-case tag: git was told to assume that it is unchanged. `S`: that it is not there. `M`: not merged. */
function readOdd(tag: string, path: string, mode: string, files: GitFiles): void {
  if (mode === gitlinkMode) files.repositories.add(path);
  else {
    files.unsettled.set(path, mode);
    if (tag === 'S' || tag === 's') files.skipped.add(path);
  }
}

/** `:100644 100644 0123…cdef 0000…0000 M<nul>path<nul>` */
export function addChanged(changed: string, { unsettled, repositories }: GitFiles): void {
  const parts = changed.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const path = parts[at + 1] ?? '';
    if (!repositories.has(path)) unsettled.set(path, parts[at]?.slice(1, 7) ?? null);
  }
}

/** A path that ends in a slash is a repository of its own. */
export function addUntracked(untracked: string, { unsettled, repositories }: GitFiles): void {
  for (const path of untracked.split('\0')) {
    if (path.endsWith('/')) repositories.add(path.slice(0, -1));
    else if (path !== '') unsettled.set(path, null);
  }
}

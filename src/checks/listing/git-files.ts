// Reads what `git ls-files` says into what is settled, because git has the id of its content, and what must be looked
// at: changed, untracked, unmerged, and what somebody told git not to look at.

/** Tracked, with their tags; changed and deleted ones a second time; untracked ones. Nothing is written. */
export const listArguments = [
  ...['ls-files', '-z', '-v', '--stage', '--cached', '--modified', '--deleted', '--others'],
  ...['--exclude-standard', '--exclude=node_modules'],
];

export interface GitFiles {
  /** Path → `mode id`, of what is as git has it. */
  readonly settled: Map<string, string>;
  /** Path → the mode that git has, or null where it has none. */
  readonly unsettled: Map<string, string | null>;
  /** Paths of submodules, and of repositories inside this one, which git lists as one entry. */
  readonly repositories: Set<string>;
}

const gitlinkMode = '160000';

/** `output` is one character a byte, as the paths in the answer. */
export function readGitFiles(output: string): GitFiles {
  const settled = new Map<string, string>();
  const unsettled = new Map<string, string | null>();
  const repositories = new Set<string>();
  const deleted = new Set<string>();
  for (let start = 0, end = 0; start < output.length; start = end + 1) {
    end = output.indexOf('\0', start);
    if (end === -1) break;
    const tag = output[start];
    if (tag === '?') {
      const path = output.slice(start + 2, end);
      if (path.endsWith('/')) repositories.add(path.slice(0, -1));
      else unsettled.set(path, null);
      continue;
    }
    // `H 100644 0123…cdef 0<tab>path`
    const tab = output.indexOf('\t', start);
    const path = output.slice(tab + 1, end);
    const modeAndId = output.slice(start + 2, tab - 2);
    if (tag === 'H' && !modeAndId.startsWith(gitlinkMode)) {
      settled.set(path, modeAndId);
      continue;
    }
    const mode = modeAndId.slice(0, 6);
    if (tag === 'R') deleted.add(path);
    else if (mode === gitlinkMode) {
      repositories.add(path);
      settled.set(path, modeAndId);
    } else {
      unsettled.set(path, mode);
      // Not checked out: its absence is no change. What stands there all the same is looked at.
      if (tag === 'S' || tag === 's') settled.set(path, modeAndId);
      else settled.delete(path);
    }
  }
  for (const path of deleted) {
    settled.delete(path);
    unsettled.delete(path);
    repositories.delete(path);
  }
  return { settled, unsettled, repositories };
}

// Reads what git says about a work tree into what is settled, because git has the id of its content, and what must be
// looked at: changed, untracked, unmerged, and what somebody told git not to look at.

// Of a large repository three questions and not one, since git asks the file system with one thread only in all but the
// second: beside each other they take the time of `git status`. Of a small one a single question: there the processes
// are what takes time. None writes anything.

/** Tracked files with mode, id and a tag. */
export const trackedArguments = ['ls-files', '-z', '-v', '--stage', '--cached'];

/** Tracked files that are not, or perhaps not, as git has them. */
export const changedArguments = [
  ...['diff-files', '-z', '--raw', '--relative', '--no-renames', '--no-ext-diff', '--ignore-submodules=all'],
];

export const untrackedArguments = [
  ...['ls-files', '-z', '--others', '--exclude-standard', '--exclude=node_modules'],
];

/** The three at once; what is changed is told by comparing contents where the times alone do not tell. */
export const wholeArguments = [
  ...['ls-files', '-z', '-v', '--stage', '--cached', '--modified'],
  ...['--others', '--exclude-standard', '--exclude=node_modules'],
];

/** What git says to each of the three questions. */
export interface GitAnswers {
  readonly tracked: string;
  readonly changed: string;
  readonly untracked: string;
}

/** Takes the answer to the whole apart, into what git would have said to each question. */
export function separateAnswers(whole: string): GitAnswers {
  const tracked: string[] = [];
  const changed: string[] = [];
  const untracked: string[] = [];
  for (const record of whole.split('\0')) {
    if (record === '') continue;
    if (record.startsWith('?')) untracked.push(`${record.slice(2)}\0`);
    else if (/^c/iu.test(record))
      changed.push(`:${record.slice(2, 8)}\0${record.slice(record.indexOf('\t') + 1)}\0`);
    else tracked.push(`${record}\0`);
  }
  return { tracked: tracked.join(''), changed: changed.join(''), untracked: untracked.join('') };
}

export interface GitFiles {
  /** Path → the mode that git has, or null where it has none. */
  readonly unsettled: Map<string, string | null>;
  /** Of the unsettled: what was never checked out, so that its absence is no change → `mode id`. */
  readonly skipped: Map<string, string>;
  /** Paths of submodules, and of repositories inside this one, which git lists as one entry. */
  readonly repositories: Set<string>;
}

/** A record that is not simply a tracked file; what follows a NUL always begins one. */
const oddRecord = /(?:^|\0)(?:[^H\0]|H 160000)/gu;
const gitlinkMode = '160000';

/**
 * What must be looked at, of texts that have one character a byte, as the paths here. `tracked` is read no further
 * than needed: it is a listing as it stands.
 */
export function readGitFiles({ tracked, changed, untracked }: GitAnswers): GitFiles {
  const files: GitFiles = { unsettled: new Map(), skipped: new Map(), repositories: new Set() };
  for (const { 0: found, index } of tracked.matchAll(oddRecord)) {
    const start = found.startsWith('\0') ? index + 1 : index;
    const end = tracked.indexOf('\0', start);
    if (end !== -1) readOdd(tracked.slice(start, end), files);
  }
  readChanged(changed, files);
  readUntracked(untracked, files);
  return files;
}

/** `s 100644 0123…cdef 0<tab>path`. Lower case: assumed to be unchanged. `S`: not checked out. `M`: not merged. */
function readOdd(record: string, { unsettled, skipped, repositories }: GitFiles): void {
  const tab = record.indexOf('\t');
  const path = record.slice(tab + 1);
  const mode = record.slice(2, 8);
  if (mode === gitlinkMode) repositories.add(path);
  else {
    unsettled.set(path, mode);
    if (/^s/iu.test(record)) skipped.set(path, record.slice(2, tab - 2));
  }
}

/** `:100644 100644 0123…cdef 0000…0000 M<nul>path<nul>` */
function readChanged(changed: string, { unsettled, repositories }: GitFiles): void {
  const parts = changed.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const path = parts[at + 1] ?? '';
    if (!repositories.has(path)) unsettled.set(path, parts[at]?.slice(1, 7) ?? null);
  }
}

/** A path that ends in a slash is a repository of its own. */
function readUntracked(untracked: string, { unsettled, repositories }: GitFiles): void {
  for (const path of untracked.split('\0')) {
    if (path.endsWith('/')) repositories.add(path.slice(0, -1));
    else if (path !== '') unsettled.set(path, null);
  }
}

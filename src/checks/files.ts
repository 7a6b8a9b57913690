// Paths that a model or a human gave, as real places inside the workspace: resolved without leaving it, opened without
// following a link that appeared since, and explained in words when the file system says no.
import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type Refusal, refuse } from '../core/error.ts';
import { displayName } from '../core/safe-text.ts';
import { errorCode } from '../engine/system.ts';

export interface Place {
  readonly root: string;
  /** The deepest part of the path that exists, without symbolic links; inside the root. */
  readonly existing: string;
  /** The names below `existing` that do not exist yet. Empty when the path exists. */
  readonly missing: readonly string[];
  /** How people and models see it: relative to the root, quoted if it is not plain. */
  readonly shown: string;
}

const hint = 'Give a path relative to the workspace root, such as "src/index.ts".';

type Resolved = { ok: true; place: Place } | Refusal;

/** Opens and changes nothing. The tree can change between this answer and its use: `withDirectory` closes that gap. */
export async function resolveInside(root: string, given: string): Promise<Resolved> {
  if (given.includes('\0')) return refuse(`A path must not contain NUL characters. ${hint}`);
  let realRoot: string;
  try {
    realRoot = await realpath(root);
  } catch (error) {
    // An agent can remove its own workspace: that is a sentence to it, not a crash of ours.
    return refuse(explainFileError(error, 'The workspace root'));
  }
  const base = isAbsolute(given) ? [root, realRoot].find((candidate) => isInside(candidate, given)) : '';
  if (base === undefined) return refuse(`${displayName(given)} is outside the workspace. ${hint}`);
  const names = given
    .slice(base.length)
    .split(sep)
    .filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return refuse(`${displayName(given)} contains "..", which is refused. ${hint}`);
  return findDeepest(realRoot, names, displayName(names.join(sep) || '.'));
}

async function findDeepest(root: string, names: readonly string[], shown: string): Promise<Resolved> {
  for (let count = names.length; count >= 0; count -= 1) {
    const candidate = join(root, ...names.slice(0, count));
    try {
      const existing = await realpath(candidate);
      if (!isInside(root, existing))
        return refuse(`${shown} leads out of the workspace through a symbolic link, which is refused.`);
      return { ok: true, place: { root, existing, missing: names.slice(count), shown } };
    } catch (error) {
      // Not there is an answer, not a failure: the parent is looked at next. All else is told to the model.
      if (!isMissing(error)) return refuse(explainFileError(error, shown));
    }
    // Something that has no real path and yet is there is a link that leads nowhere, unless it was made just now by a call
    // beside this one: then it is looked at again.
    const stats = await lstat(candidate).catch(() => null);
    if (stats?.isSymbolicLink())
      return refuse(`${shown} is a symbolic link to something that does not exist.`);
    if (stats !== null) count += 1;
  }
  return refuse('The workspace root does not exist any more.');
}

/** Whatever cannot be looked at counts as absent: using it will then fail with the real reason. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The place as the model would write it, after links: what the rules about protected files look at. */
export function realNames(place: Place): string[] {
  const existing = relative(place.root, place.existing);
  return [...existing.split(sep), ...place.missing].filter((name) => name !== '');
}

/** A folder that is held open, so that what is done "in it" is done in exactly that folder. */
export interface PinnedDirectory {
  /** A path for one name in the folder; `name` has no separator. Use it with calls that do not follow links. */
  at(name: string): string;
  readonly self: string;
}

const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd');

/**
 * Throws an ELOOP error if a program swapped a part of `real` for a link meanwhile. `reachedBy` is another way to the same
 * folder: a name in a pinned parent. On Linux every name is reached through /proc/self/fd, which is the folder itself and
 * not a path; elsewhere the folder is compared before use, which leaves a gap of microseconds. A racing process of the
 * same user can in any case change the files themselves, and put a hard link to another file into the workspace: writing
 * breaks such a link instead of writing through it, reading reads it.
 */
export async function withDirectory<Result>(
  real: string,
  use: (directory: PinnedDirectory) => Promise<Result>,
  reachedBy: string = real,
): Promise<Result> {
  const handle = await open(reachedBy, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (!(await isStillAt(handle, real)))
      throw Object.assign(new Error(`${real} changed while it was being opened`), { code: 'ELOOP' });
    const self = byDescriptor ? `/proc/self/fd/${handle.fd}/.` : real;
    return await use({ self, at: (name) => `${self}/${name}` });
  } finally {
    await handle.close();
  }
}

async function isStillAt(handle: FileHandle, real: string): Promise<boolean> {
  if (byDescriptor) return (await readlink(`/proc/self/fd/${handle.fd}`)) === real;
  const [opened, named] = await Promise.all([handle.stat(), stat(real)]);
  return (await realpath(real)) === real && opened.ino === named.ino && opened.dev === named.dev;
}

/** Never opens a FIFO, a socket or a device: those would hang or act. `real` was resolved. Throws what the system says. */
export async function withRegularFile<Result>(
  real: string,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
) {
  return withDirectory(dirname(real), async (directory) => {
    const path = directory.at(basename(real));
    const before = await lstat(path);
    if (!before.isFile()) return { kind: 'other' as const, stats: before };
    // Non-blocking: should a FIFO take the file's place right now, this returns instead of hanging.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'other' as const, stats };
      return { kind: 'file' as const, result: await use(handle, stats) };
    } finally {
      await handle.close();
    }
  });
}

/** The whole file, or null if it holds more than `maxBytes`, which a file can do that grows while read. */
export async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total <= maxBytes) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  return null;
}

/** Null: not a regular file, or a larger one. Throws what the system says. */
export async function readFileAtMost(real: string, maxBytes: number): Promise<Buffer | null> {
  const opened = await withRegularFile(real, (handle) => readAtMost(handle, maxBytes));
  return opened.kind === 'file' ? opened.result : null;
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not possible: a part of it is a file, not a folder',
  EISDIR: 'is a folder, not a file',
  EEXIST: 'exists already',
  EACCES: 'may not be accessed: permission denied',
  EPERM: 'may not be changed: operation not permitted',
  ELOOP: 'runs through symbolic links that form a loop or changed meanwhile',
  ENAMETOOLONG: 'is too long for the file system',
  ENOSPC: 'could not be written: the disk is full',
  EROFS: 'could not be written: the file system is read-only',
  EMFILE: 'could not be opened: too many open files; try again',
};

export function explainFileError(error: unknown, shown: string): string {
  const code = errorCode(error);
  return `${shown} ${sentences[code] ?? `could not be used (${code})`}.`;
}

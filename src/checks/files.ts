// Paths that a model or a human gave: resolved inside the workspace, and opened without
// following a link that is new. A path that leads out is refused.
import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { refuse } from '../core/error.ts';
import { displayName } from '../core/safe-text.ts';
import { errorCode } from '../engine/system.ts';

/** A path inside the workspace. */
export type WorkspacePath = Readonly<{
  root: string;
  /** The deepest part of the path that exists, without symbolic links. */
  existing: string;
  missing: readonly string[];
  /** The path relative to the root, quoted if it is not plain. */
  shown: string;
}>;

const hint = 'Give a path relative to the workspace root, such as "src/index.ts".';

/**
 * Resolves a path inside `root`, or says why not. The tree can change before the result
 * is used; `withDirectory` closes that gap.
 */
export async function resolveInside(root: string, given: string) {
  if (given.includes('\0'))
    return refuse(`A path must not contain NUL characters. ${hint}`);
  // Safe: the caller gets the reason.
  const real = await realpath(root).catch((error) =>
    refuse(explainFileError(error, 'The workspace root')),
  );
  if (typeof real !== 'string') return real;
  const base = isAbsolute(given)
    ? [root, real].find((candidate) => isInside(candidate, given))
    : '';
  if (base === undefined)
    return refuse(`${displayName(given)} is outside the workspace. ${hint}`);
  const names = given.slice(base.length).split(sep);
  const plain = names.filter((name) => name !== '' && name !== '.');
  if (names.includes('..'))
    return refuse(`${displayName(given)} contains "..", which is refused. ${hint}`);
  return findDeepest(real, plain, displayName(plain.join(sep) || '.'));
}

async function findDeepest(root: string, names: readonly string[], shown: string) {
  for (let count = names.length; count >= 0; count -= 1) {
    const candidate = join(root, ...names.slice(0, count));
    try {
      const existing = await realpath(candidate);
      if (!isInside(root, existing))
        return refuse(
          `${shown} leads out of the workspace through a symbolic link, which is refused.`,
        );
      return {
        ok: true as const,
        place: { root, existing, missing: names.slice(count), shown },
      };
    } catch (error) {
      // If the candidate is missing, its parent is next. Any other error is the answer.
      if (!isMissing(error)) return refuse(explainFileError(error, shown));
    }
    // Either it is a link that leads nowhere, or it was made just now; then we look
    // again.
    const stats = await lstat(candidate).catch(() => null);
    if (stats?.isSymbolicLink())
      return refuse(`${shown} is a symbolic link to something that does not exist.`);
    if (stats !== null) count += 1;
  }
  return refuse('The workspace root does not exist any more.');
}

/** Tells whether `path` is `root` or lies below it; both must be real paths. */
export const isInside = (root: string, path: string) =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
/** The names from the root down to the path. */
export const realNames = ({ root, existing, missing }: WorkspacePath) =>
  [...relative(root, existing).split(sep), ...missing].filter((name) => name !== '');

/** A directory that is held open: what is done in it happens in exactly that folder. */
export type PinnedDirectory = Readonly<{ self: string; at: (name: string) => string }>;

const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd');

/**
 * Opens a directory, calls `use` and closes it. Throws ELOOP if a part of `real` has
 * become a link. On other systems than Linux a gap of microseconds stays. A new hard link
 * goes unnoticed.
 */
export async function withDirectory<Result>(
  real: string,
  use: (directory: PinnedDirectory) => Promise<Result>,
  /** Its name in a pinned parent. */
  reachedBy = real,
) {
  const handle = await open(
    reachedBy,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );
  try {
    if (!(await isStillAt(handle, real)))
      throw Object.assign(new Error(`${real} changed while it was being opened`), {
        code: 'ELOOP',
      });
    const self = byDescriptor ? `/proc/self/fd/${handle.fd}/.` : real;
    return await use({ self, at: (name) => `${self}/${name}` });
  } finally {
    await handle.close();
  }
}

async function isStillAt(handle: FileHandle, real: string) {
  if (byDescriptor) return (await readlink(`/proc/self/fd/${handle.fd}`)) === real;
  const [opened, named] = await Promise.all([handle.stat(), stat(real)]);
  return (
    (await realpath(real)) === real &&
    opened.ino === named.ino &&
    opened.dev === named.dev
  );
}

/**
 * Opens a regular file, calls `use` and closes it. Never opens a FIFO, a socket or a
 * device, which would hang or act. `real` must have no links.
 */
export async function withRegularFile<Result>(
  real: string,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
) {
  return withDirectory(dirname(real), async (directory) => {
    const path = directory.at(basename(real));
    const before = await lstat(path);
    if (!before.isFile()) return { kind: 'other' as const, stats: before };
    // A FIFO may have taken the file's place just now.
    const handle = await open(
      path,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'other' as const, stats };
      return { kind: 'file' as const, result: await use(handle, stats) };
    } finally {
      await handle.close();
    }
  });
}

/** Null: the file holds more than `maxBytes`. */
export async function readAtMost(handle: FileHandle, maxBytes: number) {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= maxBytes; ) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(65_536),
      0,
      65_536,
      null,
    );
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
  }
  return null;
}

/** Tells whether the error means that the path does not exist. */
export const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes(errorCode(error));

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

/** The error as a sentence about the path, for models and people. */
export function explainFileError(error: unknown, shown: string) {
  const code = errorCode(error);
  return `${shown} ${sentences[code] ?? `could not be used (${code})`}.`;
}

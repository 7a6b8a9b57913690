// Holds a folder open, so that what is done "in it" is done in exactly that folder even if a program swaps
// a part of its path for a symbolic link meanwhile. It refuses a folder that is not where it was resolved.
//
// On Linux every name is reached through /proc/self/fd, which is the folder itself and not a path. Elsewhere
// the folder is compared before use, which leaves a gap of microseconds. What a racing process of the
// same user can do in any case: change or move the files themselves, and put a hard link to a file of the
// same file system into the workspace; writing breaks such a link instead of writing through it, reading
// reads it.
import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';

export interface PinnedDirectory {
  /** A path for one name in the folder; `name` has no separator. Use it with calls that do not follow links. */
  at(name: string): string;
  /** A path for the folder itself. */
  readonly self: string;
}

const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd');

/**
 * Runs `use` with the folder held open. `real` has no symbolic link in it; if it has one by now this throws
 * an ELOOP error. `reachedBy` is another way to the same folder: a name in a parent that is pinned itself.
 */
export async function withDirectory<Result>(
  real: string,
  use: (directory: PinnedDirectory) => Promise<Result>,
  reachedBy: string = real,
): Promise<Result> {
  const handle = await open(reachedBy, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (!(await isStillAt(handle, real))) throw changedMeanwhile(real);
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

function changedMeanwhile(real: string): Error {
  return Object.assign(new Error(`${real} changed while it was being opened`), { code: 'ELOOP' });
}

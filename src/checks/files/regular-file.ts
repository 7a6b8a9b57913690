// Opens a regular file that was resolved before. Never follows a link that appeared since, and never opens a
// FIFO, a socket or a device: those would hang or act. What it met instead is for the caller to put into words.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { withDirectory } from './pinned-directory.ts';

export type Opened<Result> =
  | { readonly kind: 'file'; readonly result: Result }
  | { readonly kind: 'other'; readonly stats: Stats };

/** `real` has no symbolic link in it. Throws the errors of the file system. */
export async function withRegularFile<Result>(
  real: string,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
): Promise<Opened<Result>> {
  return withDirectory(dirname(real), async (directory) => {
    const path = directory.at(basename(real));
    const before = await lstat(path);
    if (!before.isFile()) return { kind: 'other', stats: before };
    // Non-blocking: should a FIFO take the file's place right now, this returns instead of hanging.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'other', stats };
      return { kind: 'file', result: await use(handle, stats) };
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

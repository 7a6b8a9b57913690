// The id of the content of one file, as git would give it to a file that it converts nothing in.
// Remembered by what the file system says of the file, so that asking again costs one look at it.
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { withRegularFile } from '../files/regular-file.ts';

export type IdAlgorithm = 'sha1' | 'sha256';

/** Above this a file is told apart by its stat alone: reading a disk image at every stop would take minutes. */
const hugeBytes = 256n * 1024n * 1024n;

/** A file that changed so recently can change again within one tick of the clock of the file system. */
const settledMs = 2000;

const mostRemembered = 200_000;
const remembered = new Map<string, { readonly stamp: string; readonly id: string }>();

/** What changes with every change of a file: nobody can set ctime back without setting the clock. */
function stampOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

export function modeOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return '120000';
  return (stats.mode & 0o100n) === 0n ? '100644' : '100755';
}

export function rememberedId(path: string, stats: BigIntStats): string | null {
  const known = remembered.get(path);
  return known !== undefined && known.stamp === stampOf(stats) ? known.id : null;
}

/** `since` is when the reading began. */
export function rememberId(path: string, stats: BigIntStats, id: string, since: number): void {
  if (Number(stats.ctimeMs) + settledMs > since || Number(stats.mtimeMs) + settledMs > since) return;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(path, { stamp: stampOf(stats), id });
}

/** The id without reading the content, where that is possible: links, huge files and what is no file. */
export async function idWithoutReading(
  path: string | Buffer,
  stats: BigIntStats,
  algorithm: IdAlgorithm,
): Promise<string | null> {
  if (stats.isSymbolicLink()) return blobId(await readlink(path, { encoding: 'buffer' }), algorithm);
  if (!stats.isFile()) return 'special';
  return stats.size > hugeBytes ? `huge ${stampOf(stats)}` : null;
}

/** `real` leads to the file without symbolic links on the way. null: there is nothing. */
export async function contentValue(real: string, algorithm: IdAlgorithm): Promise<string | null> {
  try {
    const since = Date.now();
    const stats = await lstat(real, { bigint: true });
    const quick = (await idWithoutReading(real, stats, algorithm)) ?? rememberedId(real, stats);
    if (quick !== null) return `${modeOf(stats)} ${quick}`;
    const opened = await withRegularFile(real, async (handle, { size }) => {
      const hash = createHash(algorithm).update(`blob ${size}\0`);
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
      return hash.digest('hex');
    });
    if (opened.kind === 'other') return `${modeOf(stats)} special`;
    rememberId(real, stats, opened.result, since);
    return `${modeOf(stats)} ${opened.result}`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    // What vanished meanwhile is not there; what cannot be read is there with content that nobody knows.
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : `unreadable ${code}`;
  }
}

function blobId(content: Uint8Array, algorithm: IdAlgorithm): string {
  return createHash(algorithm).update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

// Opens a regular file of the workspace for the file tools and puts into words, for the model, why it cannot.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Place } from '../../checks/files.ts';
import { explainFileError, withRegularFile } from '../../checks/files.ts';
import { refuse } from '../../core/refusal.ts';
import { explainMissing } from './missing-path.ts';

type Used<Result> = Result | { ok: false; error: string };

export async function withFile<Result>(
  place: Place,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
): Promise<Used<Result>> {
  if (place.missing.length > 0) return refuse(await explainMissing(place));
  if (place.existing === place.root) return refuse(`${place.shown} is a folder: use list_directory.`);
  try {
    const opened = await withRegularFile(place.existing, use);
    if (opened.kind === 'file') return opened.result;
    return refuse(describeUnreadable(opened.stats, place.shown) ?? `${place.shown} cannot be read.`);
  } catch (error) {
    // Every error of the file system here concerns this one path; the model is told and can go on.
    return refuse(explainFileError(error, place.shown));
  }
}

export function describeUnreadable(stats: Stats, shown: string): string | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return `${shown} is a folder: use list_directory.`;
  const kind = stats.isFIFO()
    ? 'a named pipe'
    : stats.isSocket()
      ? 'a socket'
      : 'a device or a link that just changed';
  return `${shown} is ${kind}, not a regular file: the file tools do not touch it.`;
}

/** The rule of thumb of git and grep: text has no NUL byte near its start. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

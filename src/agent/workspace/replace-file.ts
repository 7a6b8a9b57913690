// Puts new content in a file's place in one step: readers see the old file or the new one, never half of it.
// Refuses what is not a regular file, what is marked read-only, and the inside of .git.
// It survives a crash of ours, not a power cut: nothing is flushed to the disk.
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  errorCode,
  explainFileError,
  type PinnedDirectory,
  type Place,
  realNames,
  withDirectory,
} from '../../checks/files.ts';
import { refuse } from '../../core/refusal.ts';
import { isProcessAlive } from '../../engine/process-holder.ts';
import { describeUnreadable } from './open-file.ts';

export type Replaced = { ok: true; created: boolean } | { ok: false; error: string };

/** Hooks and configuration of git run programs: changing them would be a way around the shell's permission. */
export function findWriteProblem(place: Place): string | null {
  const names = realNames(place);
  if (names.length === 0) return `${place.shown} is the workspace root, not a file.`;
  if (!names.some((name) => name.toLowerCase() === '.git')) return null;
  return `${place.shown} belongs to git itself and is not written by file tools. Use git commands through the shell.`;
}

export async function replaceFile(place: Place, content: string | Uint8Array): Promise<Replaced> {
  const problem = findWriteProblem(place);
  if (problem !== null) return refuse(problem);
  const isNew = place.missing.length > 0;
  const folder = isNew ? place.existing : dirname(place.existing);
  const names = isNew ? place.missing : [basename(place.existing)];
  try {
    return await withDirectory(folder, (directory) =>
      descend(directory, folder, names, place.shown, content),
    );
  } catch (error) {
    // Every error of the file system here concerns this one path; the old file is still complete.
    return refuse(explainFileError(error, place.shown));
  }
}

/** Creates the folders on the way, each one inside the pinned one above it. */
async function descend(
  directory: PinnedDirectory,
  real: string,
  names: readonly string[],
  shown: string,
  content: string | Uint8Array,
): Promise<Replaced> {
  const [name = '', ...below] = names;
  if (below.length === 0) return putInPlace(directory, name, shown, content);
  await mkdir(directory.at(name)).catch((error: unknown) => {
    // Somebody else made it first, which is as good; if it is not a folder, opening it says so.
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  const next = join(real, name);
  return withDirectory(next, (inner) => descend(inner, next, below, shown, content), directory.at(name));
}

async function putInPlace(
  directory: PinnedDirectory,
  name: string,
  shown: string,
  content: string | Uint8Array,
): Promise<Replaced> {
  const path = directory.at(name);
  const before = await lookAt(path);
  const problem = before === null ? null : describeUnwritable(before, shown);
  if (problem !== null) return refuse(problem);
  await removeLeftOvers(directory);
  const temporary = directory.at(`.untildone-${process.pid}-${randomUUID()}.tmp`);
  const handle = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o666,
  );
  try {
    try {
      await handle.writeFile(content);
      if (before !== null) await keepAttributes(handle, before);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary);
    throw error;
  }
  return { ok: true, created: before === null };
}

/** What a killed process left behind beside the files that it was writing; those of living ones stay. */
async function removeLeftOvers(directory: PinnedDirectory): Promise<void> {
  const names = await readdir(directory.at('.')).catch((): string[] => []);
  for (const name of names) {
    const pid = /^\.untildone-([1-9]\d*)-[\da-f-]{36}\.tmp$/u.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    // Safe: somebody else may have been faster, and a left-over that stays harms nobody.
    await unlink(directory.at(name)).catch(() => {});
  }
}

async function lookAt(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    // Only absence is expected; anything else goes to the caller.
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function describeUnwritable(stats: Stats, shown: string): string | null {
  const isReadOnly = stats.isFile() && (stats.mode & 0o222) === 0;
  return isReadOnly ? `${shown} is marked read-only; it was not changed.` : describeUnreadable(stats, shown);
}

async function keepAttributes(handle: FileHandle, before: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== before.uid || now.gid !== before.gid) {
    await handle.chown(before.uid, before.gid).catch((error: unknown) => {
      // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
      if (errorCode(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(before.mode & 0o777);
}

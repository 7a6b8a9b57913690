// Reads a settings file whole and puts another text in its place in one step. A link stays a link, mode and owner
// stay, and a file that somebody changed since it was read is left alone. It knows nothing of what is in the file.
import { createHash, randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../engine/make-folder.ts';

/** A settings file is small; the largest known, with histories of projects in it, has some megabytes. */
const mostBytes = 64 * 1024 * 1024;

export type SettingsFile =
  | {
      readonly ok: true;
      /** Where it really is, behind links. */
      readonly path: string;
      /** Null: there is no such file. */
      readonly text: string | null;
      /** Folders that would have to be made, outermost first. */
      readonly missingFolders: readonly string[];
    }
  /** `sentence` goes on after the name of the file. */
  | { readonly ok: false; readonly sentence: string };

export function readSettingsFile(path: string): SettingsFile {
  try {
    return lstatExists(path) ? readExisting(path) : describeMissing(path);
  } catch (error) {
    // Safe: nothing was read or written, and whoever asked is told why.
    return { ok: false, sentence: `cannot be read (${errorCode(error)})` };
  }
}

function readExisting(path: string): SettingsFile {
  if (!existsSync(path)) return { ok: false, sentence: 'is a link to nothing' };
  const real = realpathSync(path);
  const stats = statSync(real);
  if (!stats.isFile()) return { ok: false, sentence: 'is not a regular file' };
  if (stats.size > mostBytes) return { ok: false, sentence: `is larger than ${mostBytes} bytes` };
  const bytes = readFileSync(real);
  try {
    // Fatal, and with the byte order mark kept: the text must encode to the very bytes it came from.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { ok: true, path: real, text, missingFolders: [] };
  } catch {
    // Safe: half-read text could not be written back.
    return { ok: false, sentence: 'is not text in UTF-8' };
  }
}

function describeMissing(path: string): SettingsFile {
  const missing: string[] = [];
  let folder = dirname(path);
  for (; !lstatExists(folder) && dirname(folder) !== folder; folder = dirname(folder))
    missing.unshift(basename(folder));
  const real = realpathSync(folder);
  if (!statSync(real).isDirectory()) return { ok: false, sentence: 'lies in something that is not a folder' };
  const folders = missing.map((_name, index) => join(real, ...missing.slice(0, index + 1)));
  return { ok: true, path: join(real, ...missing, basename(path)), text: null, missingFolders: folders };
}

/** Why the file could not be replaced, as far as that can be known before; null: nothing speaks against it. */
export function whyNotWritable(path: string): string | null {
  try {
    if (existsSync(path) && (statSync(path).mode & 0o222) === 0) return 'is marked read-only';
    let folder = dirname(path);
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    accessSync(folder, constants.W_OK);
    return null;
  } catch (error) {
    // Safe: this is the question that was asked.
    return `lies in a folder that cannot be written (${errorCode(error)})`;
  }
}

export interface Replacement {
  /** The real path, as `readSettingsFile` gave it. */
  readonly path: string;
  readonly before: string | null;
  /** Null: the file is taken away. */
  readonly after: string | null;
  /** For a new file: only its owner may read it. */
  readonly isPrivate: boolean;
}

/** Null: done. Else a sentence that goes on after the name of the file, and nothing was changed. */
export function replaceSettingsFile({ path, before, after, isPrivate }: Replacement): string | null {
  try {
    if (after === null) {
      if (currentText(path) !== before) return changedMeanwhile;
      rmSync(path, { force: true });
      return null;
    }
    makeFolder(dirname(path), 0o777);
    const temporary = join(dirname(path), `.untildone-${randomUUID()}.tmp`);
    try {
      writeBeside(temporary, after, before === null ? null : statSync(path), isPrivate);
      // Between this look and the rename lies the one moment in which another program's write would be lost.
      if (currentText(path) !== before) return changedMeanwhile;
      renameSync(temporary, path);
      return null;
    } finally {
      rmSync(temporary, { force: true });
    }
  } catch (error) {
    // Safe: the old file is still complete, and whoever asked is told why.
    return `cannot be written (${errorCode(error)})`;
  }
}

const changedMeanwhile = 'was changed by another program in this moment; try again';

function currentText(path: string): string | null {
  const now = readSettingsFile(path);
  return now.ok ? now.text : null;
}

function writeBeside(path: string, text: string, like: Stats | null, isPrivate: boolean): void {
  const descriptor = openSync(path, 'wx', like !== null || isPrivate ? 0o600 : 0o666);
  try {
    writeFileSync(descriptor, text, 'utf8');
    if (like === null) return;
    keepOwner(descriptor, like);
    fchmodSync(descriptor, like.mode & 0o7777);
  } finally {
    closeSync(descriptor);
  }
}

function keepOwner(descriptor: number, like: Stats): void {
  const now = fstatSync(descriptor);
  if (now.uid === like.uid && now.gid === like.gid) return;
  try {
    fchownSync(descriptor, like.uid, like.gid);
  } catch (error) {
    // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
    if (errorCode(error) !== 'EPERM') throw error;
  }
}

/** Outermost first; a folder in which something is left stays. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Safe: somebody put something into it, or took it away first.
      return;
    }
  }
}

export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function lstatExists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

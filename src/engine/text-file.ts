// Text files of people: read as a whole or not at all, and replaced in one step. A
// replacement survives a crash of ours, but not a power cut.
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import fs, { type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, isProcessAlive, readBytes } from './system.ts';

/**
 * Reads the text, or says why not in a sentence that goes on after the file's name.
 * `pinned`: the path was a real one, and must not have become a link since.
 */
export function readTextFile(path: string, mostBytes: number, pinned = false) {
  const isMoved = () => pinned && fs.realpathSync(path) !== path;
  const file = readBytes(path, mostBytes, () => (isMoved() ? becameLink : null));
  const fail = (sentence: string) => ({ ok: false, sentence }) as const;
  if (!file.ok) return fail(file.sentence);
  if (!isUtf8(file.bytes)) return fail('is not text in UTF-8');
  // The byte order mark stays: the text must encode to the very bytes that it came from.
  return { ok: true, text: file.bytes.toString() } as const;
}

/** Said of a file whose path has become a link; goes on after the file's name. */
export const becameLink = 'is now reached through a link; it is left alone';

type Replacement = Readonly<{
  /** The file's owner and mode, which stay. Null: the file is new, or always ours. */
  like: Stats | null;
  /** The mode of a new file, before the process's mask. */
  mode?: number;
  /** Called last: only what is written between this call and the renaming is lost. */
  isWanted?: () => boolean;
}>;

/**
 * Replaces the file; false: `isWanted` said no. Throws the system's error, and the old
 * file is then complete.
 */
export function replaceFile(
  path: string,
  text: string,
  { like, mode = 0o666, isWanted }: Replacement,
) {
  const folder = dirname(path);
  removeLeftOvers(folder);
  const temporary = `${folder}/.untildone-${process.pid}-${randomUUID()}.tmp`;
  try {
    // Exclusive: a link that stands under this name is not followed.
    const descriptor = fs.openSync(temporary, 'wx', like === null ? mode : 0o600);
    try {
      fs.writeFileSync(descriptor, text);
      if (like !== null) keepOwnerAndMode(descriptor, like);
    } finally {
      fs.closeSync(descriptor);
    }
    if (isWanted?.() === false) return false;
    fs.renameSync(temporary, path);
    return true;
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

function keepOwnerAndMode(descriptor: number, { uid, gid, mode }: Stats): void {
  const now = fs.fstatSync(descriptor);
  try {
    if (now.uid !== uid || now.gid !== gid) fs.fchownSync(descriptor, uid, gid);
  } catch (error) {
    // Safe: only root may give files away. For others the file becomes ours, as with
    // editors that rename.
    if (errorCode(error) !== 'EPERM') throw error;
  }
  fs.fchmodSync(descriptor, mode & 0o777);
}

function removeLeftOvers(folder: string): void {
  try {
    for (const name of fs.readdirSync(folder)) {
      const pid = /^\.untildone-([1-9]\d*)-[\da-f-]{36}\.tmp$/.exec(name)?.[1];
      if (pid !== undefined && !isProcessAlive(Number(pid)))
        fs.rmSync(`${folder}/${name}`, { force: true });
    }
  } catch {
    // Safe: a left-over file harms nobody.
  }
}

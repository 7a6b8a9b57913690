// Files with text of people: read whole or not at all, and replaced in one step, so that whoever reads one sees the old
// text or the new one. It survives a crash of ours, not a power cut. Where a file may lie is for its callers to say.
import { randomUUID } from 'node:crypto';
import fs, { type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, isProcessAlive } from './system.ts';

/** Sentences go on after the name of the file. `pinned`: the path is a real one, and must not have become a link. */
export function readTextFile(path: string, mostBytes: number, pinned = false) {
  const fail = (sentence: string) => ({ ok: false, sentence }) as const;
  let descriptor: number | null = null;
  try {
    if (pinned && fs.realpathSync(path) !== path) return fail(becameLink);
    // Without blocking: a named pipe would hold us until someone writes to it.
    descriptor = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) return fail('is not a regular file');
    if (stats.size > mostBytes) return fail(`is larger than ${mostBytes} bytes`);
    // Fatal, and with the byte order mark kept: the text must encode to the very bytes it came from.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { ok: true, text: decoder.decode(fs.readFileSync(descriptor)) } as const;
  } catch (error) {
    // Safe: nothing was read, and whoever asked is told why.
    const code = errorCode(error);
    return fail(code.startsWith('ERR_ENCODING') ? 'is not text in UTF-8' : `cannot be read (${code})`);
  } finally {
    if (descriptor !== null) fs.closeSync(descriptor);
  }
}

export const becameLink = 'is now reached through a link; it is left alone';

interface Replacement {
  /** The file that stands there: its owner and mode stay. Null: the file is new, or always ours. */
  readonly like: Stats | null;
  /** Where `like` is null; from it the process's mask is taken. */
  readonly mode?: number;
  /**
   * Asked when only the rename is left; false: nothing is changed. Between the two lies the one moment in which somebody
   * else's write would be lost; no file system closes it.
   */
  readonly isWanted?: () => boolean;
}

/** False: it was not wanted any more. Throws what the file system says; the old file is complete then. */
export function replaceFile(path: string, text: string, { like, mode = 0o666, isWanted }: Replacement) {
  const folder = dirname(path);
  removeLeftOvers(folder);
  const temporary = `${folder}/.untildone-${process.pid}-${randomUUID()}.tmp`;
  try {
    // Exclusive: a link that somebody laid under this name is not followed.
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
    // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
    if (errorCode(error) !== 'EPERM') throw error;
  }
  fs.fchmodSync(descriptor, mode & 0o777);
}

/** What a killed process left behind beside the files that it was writing; those of living ones stay. */
function removeLeftOvers(folder: string): void {
  try {
    for (const name of fs.readdirSync(folder)) {
      const pid = /^\.untildone-([1-9]\d*)-[\da-f-]{36}\.tmp$/.exec(name)?.[1];
      if (pid !== undefined && !isProcessAlive(Number(pid))) fs.rmSync(`${folder}/${name}`, { force: true });
    }
  } catch {
    // Safe: a left-over that stays harms nobody; it has a name of its own.
  }
}

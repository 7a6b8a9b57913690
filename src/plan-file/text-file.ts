// Reads a plan file, and puts a changed text in its place only if it is still the one that was read. A link is
// followed to what it points to and stays a link; mode and owner stay; readers see the old file or the new one.
import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mostCharacters } from './parse-plan-file.ts';

/** At most four bytes in UTF-8 for each character that a plan may have. */
const mostBytes = 4 * mostCharacters;

export type TextFile =
  | { readonly ok: true; readonly text: string; readonly hash: string }
  | { readonly ok: false; readonly sentence: string };

/** `pinned`: see ReplaceOptions. */
export async function readTextFile(path: string, pinned = false): Promise<TextFile> {
  try {
    if (pinned && (await realpath(path)) !== path) return { ok: false, sentence: becameLink };
    // Without blocking: a named pipe would hold us until someone writes to it.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { ok: false, sentence: 'is not a regular file' };
      if (stats.size > mostBytes) return { ok: false, sentence: `is larger than ${mostBytes} bytes` };
      return decode(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Safe: nothing was read, and whoever asked is told why.
    return { ok: false, sentence: `cannot be read (${errorCode(error)})` };
  }
}

function decode(bytes: Buffer): TextFile {
  try {
    // Fatal, and with the byte order mark kept: the text must encode to the very bytes it came from.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { ok: true, text, hash: hashText(text) };
  } catch {
    // Safe: half-read text could not be written back.
    return { ok: false, sentence: 'is not text in UTF-8' };
  }
}

export function hashText(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

export type Replaced = 'replaced' | 'changed-meanwhile' | { readonly sentence: string };

export interface ReplaceOptions {
  /**
   * Called when the new text is ready and the file was not looked at again yet. Between that last look and the rename
   * lies the one moment in which somebody else's write would be lost; no file system closes it.
   */
  readonly before?: (() => Promise<void>) | undefined;
  /** The path is a real one, and a link in its place would lead out of what the human handed over. */
  readonly pinned?: boolean;
}

const becameLink = 'is now reached through a link; it is left alone';

export async function replaceTextFile(
  path: string,
  expectedHash: string,
  text: string,
  { before = async () => {}, pinned = false }: ReplaceOptions = {},
): Promise<Replaced> {
  let temporary: string | null = null;
  try {
    const target = await realpath(path);
    if (pinned && target !== path) return { sentence: becameLink };
    const stats = await stat(target);
    if ((stats.mode & 0o222) === 0) return { sentence: 'is marked read-only' };
    temporary = join(dirname(target), `.untildone-${randomUUID()}.tmp`);
    await writeBeside(temporary, text, stats);
    await before();
    const now = await readTextFile(target);
    const same = now.ok && now.hash === expectedHash && (await realpath(path)) === target;
    if (!same) return 'changed-meanwhile';
    await rename(temporary, target);
    temporary = null;
    return 'replaced';
  } catch (error) {
    // Safe: the old file is still complete, and whoever asked is told why.
    return { sentence: `cannot be written (${errorCode(error)})` };
  } finally {
    // A rest that cannot be removed harms nobody: it has a name of its own.
    if (temporary !== null) await unlink(temporary).catch(() => {});
  }
}

async function writeBeside(path: string, text: string, like: Stats): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text, 'utf8');
    const now = await handle.stat();
    if (now.uid !== like.uid || now.gid !== like.gid) {
      await handle.chown(like.uid, like.gid).catch((error: unknown) => {
        // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
        if (errorCode(error) !== 'EPERM') throw error;
      });
    }
    await handle.chmod(like.mode & 0o7777);
  } finally {
    await handle.close();
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

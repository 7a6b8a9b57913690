// A plan file on the disk: read, and replaced only if it still holds the text that was read. A link is followed to what
// it points to and stays a link. What is known of the file between two processes is kept beside the state.
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { list, read } from '../core/schema.ts';
import { errorCode, makeFolder, sha256 } from '../engine/system.ts';
import { becameLink, readTextFile, replaceFile } from '../engine/text-file.ts';
import { type KnownFile, knownFile } from './compare-items.ts';
import { mostCharacters } from './plan-file.ts';

/** `pinned`: a link in its place would lead out of what the human handed over. */
export function readPlanText(path: string, pinned = false) {
  // At most four bytes in UTF-8 for each character that a plan may have.
  return readTextFile(path, 4 * mostCharacters, pinned);
}

export interface ReplaceOptions {
  readonly pinned?: boolean;
  /** Called when the new text is ready and the file was not looked at again yet; tests edit the file here. */
  readonly beforeReplace?: (() => void) | undefined;
}

export function replacePlanText(
  path: string,
  before: string,
  after: string,
  { pinned = false, beforeReplace }: ReplaceOptions = {},
): 'replaced' | 'changed-meanwhile' | { readonly sentence: string } {
  try {
    const target = realpathSync(path);
    if (pinned && target !== path) return { sentence: becameLink };
    const like = statSync(target);
    if ((like.mode & 0o222) === 0) return { sentence: 'is marked read-only' };
    const isWanted = (): boolean => {
      beforeReplace?.();
      const now = readPlanText(target);
      return now.ok && now.text === before && realpathSync(path) === target;
    };
    return replaceFile(target, after, { like, isWanted }) ? 'replaced' : 'changed-meanwhile';
  } catch (error) {
    // Safe: the old file is still complete, and whoever asked is told why.
    return { sentence: `cannot be written (${errorCode(error)})` };
  }
}

export type PlanFileMemory = ReturnType<typeof createFileMemory>;

/**
 * Where the last reading is kept, the newest first: what was intended before a write counts if the file is now what was
 * to be written. Losing it is safe: then boxes can only add ticks, on both sides.
 */
export function createFileMemory(directory: string, path: string, sessionId: string) {
  const folder = join(directory, 'plan-files');
  const file = join(folder, `${sha256(`${path}\0${sessionId}`).slice(0, 32)}.json`);
  return {
    async load(): Promise<readonly KnownFile[]> {
      try {
        const known = read(list(knownFile), JSON.parse(readFileSync(file, 'utf8')), 1);
        return known.ok ? known.value : [];
      } catch {
        // Safe: without it, or damaged, boxes can only add ticks.
        return [];
      }
    },
    async save(known: readonly KnownFile[]): Promise<void> {
      try {
        makeFolder(folder, 0o700);
        replaceFile(file, JSON.stringify(known), { like: null, mode: 0o600 });
      } catch {
        // Safe: the next reading finds an older state or none, and matches by title.
      }
    },
  };
}

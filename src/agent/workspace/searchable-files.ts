// The text files below a folder, or the one file, that grep looks into: read a few at a time, since
// waiting for the disk file by file is what makes a search slow. Binary and unreadable files are left out.
import { join } from 'node:path';
import { type Place, readAtMost, realNames } from '../../checks/files.ts';
import { type Walk, type WalkedFile, walk } from '../../checks/walk.ts';
import type { PathFilter } from '../../core/glob/path-filter.ts';
import type { WorkspaceLimits } from './limits.ts';
import { isBinary, withFile } from './open-file.ts';

export interface SearchableFile {
  /** From the workspace root. */
  readonly path: string;
  readonly text: string;
}

/** Times `fileBytes` is what a search holds in memory at most. */
const filesAtOnce = 16;

export function searchableFiles(
  place: Place,
  accepts: PathFilter,
  limits: WorkspaceLimits,
  signal: AbortSignal,
): { batches: AsyncIterable<SearchableFile[]>; left: Walk['left'] & { tooLarge: number } } {
  const left = { unreadableFolders: 0, isCut: false, tooLarge: 0 };

  async function read({ names }: WalkedFile): Promise<SearchableFile[]> {
    const path = names.join('/');
    const opened = await withFile(
      { ...place, existing: join(place.root, path), shown: path },
      async (handle, stats) => {
        const bytes = stats.size > limits.fileBytes ? null : await readAtMost(handle, limits.fileBytes);
        return { ok: true as const, bytes };
      },
    );
    if (!opened.ok) return [];
    if (opened.bytes === null) left.tooLarge += 1;
    return opened.bytes === null || isBinary(opened.bytes)
      ? []
      : [{ path, text: opened.bytes.toString('utf8') }];
  }

  async function* batches(): AsyncGenerator<SearchableFile[]> {
    const walked = await walkFolderOrFile(place, limits.walkedEntries, signal);
    let batch: WalkedFile[] = [];
    for await (const file of walked.files) {
      // A link's target is found under its own name if it is in the workspace.
      if (!file.isLink && accepts(file.names)) batch.push(file);
      if (batch.length < filesAtOnce) continue;
      yield (await Promise.all(batch.map(read))).flat();
      batch = [];
    }
    yield (await Promise.all(batch.map(read))).flat();
    Object.assign(left, walked.left);
  }
  return { batches: batches(), left };
}

async function walkFolderOrFile(place: Place, maxEntries: number, signal: AbortSignal): Promise<Walk> {
  const file = await withFile(place, async () => ({ ok: true as const }));
  if (!file.ok) return walk(place, maxEntries, signal);
  async function* alone(): AsyncGenerator<WalkedFile> {
    yield { names: realNames(place), isLink: false };
  }
  return { files: alone(), left: { unreadableFolders: 0, isCut: false } };
}

// Lists a workspace without git: a walk with the rules of .gitignore, and the content of every file it meets.
// Names that are not UTF-8 cannot be opened this way; such a file counts as one that cannot be read.
import { join } from 'node:path';
import type { PathSet } from '../../core/glob/path-set.ts';
import type { Place } from '../files/confined-path.ts';
import { type IgnoreText, type WalkWays, walk } from '../files/walk.ts';
import { contentValue } from './content-id.ts';
import { inBatches } from './in-batches.ts';
import { keyOfPath, type Listing, writeListing } from './listing.ts';

/** A workspace with more names than this is not one that an agent works on. */
const mostEntries = 1_000_000;

export interface WalkChoice {
  /** Only these; not given: all. */
  readonly paths?: PathSet;
  /** Which rules hold; not given: those in the workspace now. */
  readonly ignoreText?: IgnoreText;
}

/** `root` has no symbolic link in it. null: interrupted, or more names than can be looked at. */
export async function listByWalk(
  root: string,
  signal: AbortSignal,
  { paths, ignoreText }: WalkChoice = {},
): Promise<Listing | null> {
  const place: Place = { root, existing: root, missing: [], shown: '.' };
  const ways: WalkWays = {
    ...(ignoreText === undefined ? {} : { ignoreText }),
    ...(paths === undefined ? {} : { enters: (folder) => paths.mayHold(folder) }),
  };
  const walked = walk(place, mostEntries, signal, ways);
  const found: (readonly string[])[] = [];
  for await (const { names } of walked.files) if (paths?.has(names) !== false) found.push(names);
  const files = new Map<string, string>();
  await inBatches(found, signal, async (names) => {
    const value = await contentValue(join(root, ...names), 'sha256');
    if (value !== null) files.set(keyOfPath(names.join('/')), value);
  });
  if (walked.left.isCut || signal.aborted) return null;
  // What is in a folder that nobody may look into is unknown, and that is a difference too.
  if (walked.left.unreadableFolders > 0) files.set('/unreadable', String(walked.left.unreadableFolders));
  return writeListing(files);
}

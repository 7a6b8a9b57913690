// The fingerprint of a workspace (G7, V2): equal content, equal fingerprint, whether committed, staged or neither.
// It takes no lock, changes nothing and runs nothing that the workspace names. Ignored files do not count.
//
// What it cannot see: what .gitignore hides, empty folders, file times and owners, and anything outside the folder.
// Someone who writes git's index by hand, or sets the time of a file back within the very second in which git looked
// at it, can make a changed file look unchanged until git next reads it.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createPathSet } from '../core/glob/path-set.ts';
import { explainFileError } from './files/file-error.ts';
import { listByGit } from './listing/git-listing.ts';
import { keyOfPath, type Listing, pathOfKey } from './listing/listing.ts';
import { listByWalk } from './listing/walk-listing.ts';

export interface ListingOptions {
  readonly signal?: AbortSignal;
  /** When to give up; a stop attempt waits for the answer. */
  readonly timeoutMs?: number;
  /** Where to find git and its configuration; not given: that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface FingerprintChoice {
  /** Patterns of the files that count; none: all. */
  readonly files?: readonly string[];
  /** Paths, relative to the folder, that do not count, with all below them: plan files, outputs of checks. */
  readonly exclude?: readonly string[];
}

export type ListingResult =
  | { readonly ok: true; readonly listing: Listing; readonly source: 'git' | 'walk' }
  | { readonly ok: false; readonly sentence: string };

export type FingerprintResult =
  | {
      readonly ok: true;
      readonly fingerprint: string;
      /** How many files it stands for. */
      readonly files: number;
      readonly source: 'git' | 'walk';
    }
  | { readonly ok: false; readonly sentence: string };

const defaultTimeoutMs = 30_000;

/** Repositories in repositories: nobody nests them deeper, but a hostile tree could. */
const deepestRepository = 5;

export async function fingerprintWorkspace(
  directory: string,
  options: ListingOptions & FingerprintChoice = {},
): Promise<FingerprintResult> {
  const listed = await listWorkspace(directory, options);
  if (!listed.ok) return listed;
  const taken = fingerprintListing(listed.listing, options);
  return taken.ok ? { ...taken, source: listed.source } : taken;
}

/** One listing serves any number of fingerprints: checks differ only in the files that they depend on. */
export async function listWorkspace(directory: string, options: ListingOptions = {}): Promise<ListingResult> {
  const { environment = process.env, timeoutMs = defaultTimeoutMs } = options;
  const time = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? time : AbortSignal.any([options.signal, time]);
  let root: string;
  try {
    root = await realpath(directory);
  } catch (error) {
    // Safe: there is no workspace to go on with, and the caller is told so.
    return { ok: false, sentence: explainFileError(error, 'The workspace') };
  }

  const list = async (real: string, depth: number): Promise<(ListingResult & { ok: true }) | null> => {
    const listInner = async (inner: string) => {
      if (depth >= deepestRepository) return null;
      // A submodule without its own .git is, to git, the outer repository once more.
      if (!existsSync(join(inner, '.git'))) return listByWalk(inner, signal);
      return (await list(inner, depth + 1))?.listing ?? null;
    };
    const byGit = await listByGit(real, { signal, environment, listInner });
    if (byGit !== null) return { ok: true, listing: byGit, source: 'git' };
    const walked = signal.aborted ? null : await listByWalk(real, signal);
    return walked === null ? null : { ok: true, listing: walked, source: 'walk' };
  };

  const listed = await list(root, 0);
  if (listed !== null) return listed;
  if (time.aborted) {
    const seconds = timeoutMs / 1000;
    return { ok: false, sentence: `The workspace could not be looked through within ${seconds} s.` };
  }
  const reason = signal.aborted ? 'was interrupted' : 'found more files than it can handle';
  return { ok: false, sentence: `The look through the workspace ${reason}.` };
}

export function fingerprintListing(
  listing: Listing,
  { files = [], exclude = [] }: FingerprintChoice = {},
): { ok: true; fingerprint: string; files: number } | { ok: false; sentence: string } {
  const chosen = createPathSet(files);
  if (!chosen.ok) return { ok: false, sentence: chosen.error };
  const left = exclude.map((path) => keyOfPath(path.replace(/^\.\//u, '').replace(/\/+$/u, '')));
  const isChosen = (key: string): boolean =>
    !left.some((path) => key === path || key.startsWith(`${path}/`)) &&
    (files.length === 0 || chosen.paths.has(pathOfKey(key).split('/')));
  const hash = createHash('sha256');
  let count = 0;
  let text = '';
  for (const [key, value] of inOrder(listing)) {
    if (!isChosen(key)) continue;
    count += 1;
    // Neither path nor value holds NUL, so that no two listings have the same text.
    text += `${key}\0${value}\0`;
    if (text.length < hashedAtOnce) continue;
    hash.update(text, 'latin1');
    text = '';
  }
  hash.update(text, 'latin1');
  return { ok: true, fingerprint: hash.digest('hex'), files: count };
}

/** Long enough to make few calls, short enough to stay in the cache of the processor: measured, three times as fast. */
const hashedAtOnce = 32_768;

/** git lists in order already; only what it does not track stands behind, and is merged. Measured: sorting is slower. */
function inOrder(listing: Listing): Iterable<readonly [string, string]> {
  const keys = [...listing.keys()];
  const turn = keys.findIndex((key, index) => index > 0 && key < (keys[index - 1] ?? ''));
  if (turn === -1) return listing;
  const rest = keys.slice(turn).sort();
  const merged: string[] = [];
  let next = 0;
  for (const key of keys.slice(0, turn)) {
    while (next < rest.length && (rest[next] ?? '') < key) merged.push(rest[next++] ?? '');
    merged.push(key);
  }
  return [...merged, ...rest.slice(next)].map((key) => [key, listing.get(key) ?? '']);
}

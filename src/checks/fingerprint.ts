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
import type { Refusal } from '../core/refusal.ts';
import { explainFileError } from './files/file-error.ts';
import { listByGit } from './listing/git-listing.ts';
import { keyOfPath, type Listing, pathOfKey, readListing, writeListing } from './listing/listing.ts';
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
  choice: FingerprintChoice = {},
): { ok: true; fingerprint: string; files: number } | { ok: false; sentence: string } {
  const chosen = chooseFiles(listing, choice);
  if (!chosen.ok) return { ok: false, sentence: chosen.error };
  let files = 0;
  for (let at = chosen.listing.indexOf('\0'); at !== -1; at = chosen.listing.indexOf('\0', at + 1))
    files += 1;
  const hash = createHash('sha256').update(chosen.listing, 'latin1');
  return { ok: true, fingerprint: hash.digest('hex'), files };
}

function chooseFiles(
  listing: Listing,
  { files = [], exclude = [] }: FingerprintChoice,
): { ok: true; listing: Listing } | Refusal {
  const set = createPathSet(files);
  if (!set.ok) return set;
  if (files.length === 0 && exclude.length === 0) return { ok: true, listing };
  const left = exclude.map((path) => keyOfPath(path.replace(/^\.\//u, '').replace(/\/+$/u, '')));
  const chosen = new Map<string, string>();
  for (const [key, value] of readListing(listing)) {
    if (left.some((path) => key === path || key.startsWith(`${path}/`))) continue;
    if (files.length === 0 || set.paths.has(pathOfKey(key).split('/'))) chosen.set(key, value);
  }
  return { ok: true, listing: writeListing(chosen) };
}

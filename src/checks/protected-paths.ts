// Protected paths (V2): what stood under the human's patterns at the human's message, and what differs now.
// The rules about ignored files are those of the baseline too: an agent cannot hide a file by ignoring it.
import { realpath } from 'node:fs/promises';
import { type CheckSpec, protectedPathsId } from '../core/check-spec.ts';
import type { Policy } from '../core/config/policy.ts';
import { createPathSet } from '../core/glob/path-set.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import { explainFileError } from './files.ts';
import { compareListings, type Listing, type ListingChanges, listByWalk } from './fingerprint.ts';
import { type IgnoreText, readIgnoreText } from './walk.ts';

/** Plain values, so that it can be stored as JSON. */
export interface ProtectedBaseline {
  readonly patterns: readonly string[];
  /** Path as the key of a listing → mode and id of the content. */
  readonly files: Readonly<Record<string, string>>;
  /** Folder → what its .gitignore said; folders without one are left out. */
  readonly ignored: Readonly<Record<string, string>>;
}

/** Where a baseline is kept; a text with another key was edited in the store (V4). */
export function baselineKey(text: string): string {
  return `baseline ${sha256(text)}`;
}

export interface ProtectedOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export type BaselineResult =
  | { readonly ok: true; readonly baseline: ProtectedBaseline }
  | { readonly ok: false; readonly sentence: string };

export type ProtectedChanges =
  | (ListingChanges & { readonly ok: true })
  | { readonly ok: false; readonly sentence: string };

const defaultTimeoutMs = 30_000;

export async function takeBaseline(
  directory: string,
  patterns: readonly string[],
  options: ProtectedOptions = {},
): Promise<BaselineResult> {
  const ignored = new Map<string, string>();
  const listed = await listProtected(directory, patterns, options, (root) => {
    const read = readIgnoreText(root);
    return async (names) => {
      const text = await read(names);
      if (text !== '') ignored.set(names.join('/'), text);
      return text;
    };
  });
  if (!listed.ok) return listed;
  const files = Object.fromEntries(listed.listing);
  return { ok: true, baseline: { patterns, files, ignored: Object.fromEntries(ignored) } };
}

/** All three lists are empty as long as nothing protected was touched, and again once it is restored. */
export async function changedSince(
  baseline: ProtectedBaseline,
  directory: string,
  options: ProtectedOptions = {},
): Promise<ProtectedChanges> {
  const ignored = new Map(Object.entries(baseline.ignored));
  const remembered: IgnoreText = async (names) => ignored.get(names.join('/')) ?? '';
  const listed = await listProtected(directory, baseline.patterns, options, () => remembered);
  if (!listed.ok) return listed;
  return { ok: true, ...compareListings(new Map(Object.entries(baseline.files)), listed.listing) };
}

async function listProtected(
  directory: string,
  patterns: readonly string[],
  { signal, timeoutMs = defaultTimeoutMs }: ProtectedOptions,
  ignoreText: (root: string) => IgnoreText,
): Promise<{ ok: true; listing: Listing } | { ok: false; sentence: string }> {
  if (patterns.length === 0) return { ok: true, listing: new Map() };
  const set = createPathSet(patterns);
  if (!set.ok) return { ok: false, sentence: set.error };
  const time = AbortSignal.timeout(timeoutMs);
  const limited = signal === undefined ? time : AbortSignal.any([signal, time]);
  let root: string;
  try {
    root = await realpath(directory);
  } catch (error) {
    // Safe: without a workspace there is nothing to compare, and the caller is told so.
    return { ok: false, sentence: explainFileError(error, 'The workspace') };
  }
  const listing = await listByWalk(root, limited, { paths: set.paths, ignoreText: ignoreText(root) });
  if (listing !== null) return { ok: true, listing };
  const reason = time.aborted
    ? `took more than ${timeoutMs / 1000} s`
    : 'was interrupted or met too many files';
  return { ok: false, sentence: `The look at the protected paths ${reason}.` };
}

const baselineTimeoutMs = 60_000;

export type ProtectedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly sentence: string };

/**
 * Makes protected paths part of a policy: what stands there now is kept in the store, and one more check on the goal
 * compares with it (P27). Called at a genuine human message, before the policy is snapshotted.
 */
export async function protectPolicy(
  store: Store,
  policy: Policy,
  directory: string,
): Promise<ProtectedPolicy> {
  const patterns = policy.protect ?? [];
  if (patterns.length === 0) return { ok: true, policy };
  const taken = await takeBaseline(directory, patterns);
  if (!taken.ok) return { ok: false, sentence: `The protected paths cannot be read: ${taken.sentence}` };
  const text = JSON.stringify(taken.baseline);
  const baseline = baselineKey(text);
  await store.transact(async (transaction) => transaction.savePolicy(baseline, text));
  const spec: CheckSpec = {
    kind: 'protected',
    id: protectedPathsId,
    files: patterns,
    timeoutMs: baselineTimeoutMs,
    baseline,
  };
  return {
    ok: true,
    policy: {
      ...policy,
      goalChecks: [...policy.goalChecks, protectedPathsId],
      checks: { ...policy.checks, [protectedPathsId]: spec },
    },
  };
}

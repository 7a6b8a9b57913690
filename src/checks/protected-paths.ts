// Protected paths (V2): what stood under the human's patterns at the human's message, and what differs now.
// The rules about ignored files are those of the baseline too: an agent cannot hide a file by ignoring it.
import { type CheckSpec, protectedPathsId } from '../core/check-specs.ts';
import { createPathSet } from '../core/glob.ts';
import type { Policy } from '../core/policy.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import {
  compareListings,
  type Listing,
  type ListingOptions,
  listByWalk,
  lookThrough,
} from './fingerprint.ts';
import { readIgnoreText } from './walk.ts';

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

export async function takeBaseline(
  directory: string,
  patterns: readonly string[],
  options: ListingOptions = {},
) {
  const ignored = new Map<string, string>();
  const listed = await listProtected(directory, patterns, options, async (root, names) => {
    const text = await readIgnoreText(root, names);
    if (text !== '') ignored.set(names.join('/'), text);
    return text;
  });
  if (!listed.ok) return listed;
  const files = Object.fromEntries(listed.found);
  const baseline: ProtectedBaseline = { patterns, files, ignored: Object.fromEntries(ignored) };
  return { ok: true as const, baseline };
}

/** All three lists are empty as long as nothing protected was touched, and again once it is restored. */
export async function changedSince(
  { patterns, files, ignored }: ProtectedBaseline,
  directory: string,
  options: ListingOptions = {},
) {
  const remembered = new Map(Object.entries(ignored));
  const listed = await listProtected(
    directory,
    patterns,
    options,
    async (_root, names) => remembered.get(names.join('/')) ?? '',
  );
  if (!listed.ok) return listed;
  return { ok: true as const, ...compareListings(new Map(Object.entries(files)), listed.found) };
}

async function listProtected(
  directory: string,
  patterns: readonly string[],
  options: ListingOptions,
  ignoreText: typeof readIgnoreText,
) {
  if (patterns.length === 0) return { ok: true as const, found: new Map() as Listing };
  const set = createPathSet(patterns);
  if (!set.ok) return { ok: false as const, sentence: set.error };
  return lookThrough('protected paths', directory, options, (root, signal) =>
    listByWalk(root, signal, { paths: set.paths, ignoreText }),
  );
}

const baselineTimeoutMs = 60_000;

/**
 * Makes protected paths part of a policy: what stands there now is kept in the store, and one more check on the goal
 * compares with it (P27). Called at a genuine human message, before the policy is snapshotted.
 */
export async function protectPolicy(store: Store, policy: Policy, directory: string) {
  const patterns = policy.protect ?? [];
  if (patterns.length === 0) return { ok: true as const, policy };
  const taken = await takeBaseline(directory, patterns);
  if (!taken.ok)
    return { ok: false as const, sentence: `The protected paths cannot be read: ${taken.sentence}` };
  const text = JSON.stringify(taken.baseline);
  const baseline = baselineKey(text);
  await store.record({ policies: new Map([[baseline, text]]) });
  const id = protectedPathsId;
  const spec: CheckSpec = { kind: 'protected', id, files: patterns, timeoutMs: baselineTimeoutMs, baseline };
  const checks = { ...policy.checks, [id]: spec };
  return { ok: true as const, policy: { ...policy, goalChecks: [...policy.goalChecks, id], checks } };
}

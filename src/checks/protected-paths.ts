// Protected paths (V2): how they differ from their state at the human's message. The
// ignore rules of that message hold: a new rule hides nothing.
import { type CheckSpec, protectedPathsId } from '../core/check-specs.ts';
import { refuse } from '../core/error.ts';
import { createPathSet } from '../core/glob.ts';
import type { Policy } from '../core/policy.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import {
  compareListings,
  type ListingOptions,
  listByWalk,
  lookThrough,
} from './fingerprint.ts';
import { readIgnoreText } from './walk.ts';

type Texts = Readonly<Record<string, string>>;

/**
 * The state of the protected paths. `ignored`: folder → its .gitignore, if it has one.
 */
export type ProtectedBaseline = Readonly<{
  patterns: readonly string[];
  files: Texts;
  ignored: Texts;
}>;

/**
 * The key of a baseline in the store. If a text does not fit its key, someone edited it
 * (V4).
 */
export const baselineKey = (text: string) => `baseline ${sha256(text)}`;

/**
 * Reads the state of the protected paths. `formerIgnored`: the .gitignore files of an
 * earlier baseline; absent: those of now.
 */
export async function takeBaseline(
  directory: string,
  patterns: readonly string[],
  options: ListingOptions = {},
  formerIgnored?: Texts,
) {
  const set = createPathSet(patterns);
  if (!set.ok) return set;
  const ignored = new Map(Object.entries(formerIgnored ?? {}));
  const ignoreText = async (root: string, names: readonly string[]) => {
    const folder = names.join('/');
    const text = formerIgnored === undefined ? await readIgnoreText(root, names) : '';
    if (text !== '') ignored.set(folder, text);
    return ignored.get(folder) ?? '';
  };
  const listed = await lookThrough(
    'protected paths',
    directory,
    options,
    (root, signal) => listByWalk(root, signal, { paths: set.paths, ignoreText }),
  );
  if (!listed.ok) return listed;
  const files = Object.fromEntries(listed.listing);
  const baseline: ProtectedBaseline = {
    patterns,
    files,
    ignored: Object.fromEntries(ignored),
  };
  return { ok: true as const, baseline };
}

/** The protected paths that changed since the baseline, or why they cannot be read. */
export async function changedSince(
  was: ProtectedBaseline,
  directory: string,
  options?: ListingOptions,
) {
  const now = await takeBaseline(directory, was.patterns, options, was.ignored);
  if (!now.ok) return now;
  const listing = ({ files }: ProtectedBaseline) => new Map(Object.entries(files));
  return { ok: true as const, ...compareListings(listing(was), listing(now.baseline)) };
}

const timeoutMs = 60_000;

/**
 * Adds a goal check that compares the protected paths with their state of now (P27),
 * unless there is one already. Call it before the policy is frozen.
 */
export async function protectPolicy(store: Store, policy: Policy, directory: string) {
  const id = protectedPathsId;
  const files = policy.protect ?? [];
  if (files.length === 0 || policy.goalChecks.includes(id))
    return { ok: true as const, policy };
  const taken = await takeBaseline(directory, files);
  if (!taken.ok) return refuse(`The protected paths cannot be read: ${taken.error}`);
  const text = JSON.stringify(taken.baseline);
  const baseline = baselineKey(text);
  await store.record({ policies: new Map([[baseline, text]]) });
  const spec: CheckSpec = { kind: 'protected', id, files, timeoutMs, baseline };
  const checks = { ...policy.checks, [id]: spec };
  return {
    ok: true as const,
    policy: { ...policy, goalChecks: [...policy.goalChecks, id], checks },
  };
}

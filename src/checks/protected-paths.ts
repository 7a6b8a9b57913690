// Protected paths (V2): what differs from the human's message. Ignore rules are those of
// then: a new one hides nothing.
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

/** `ignored`: folder → its .gitignore, where there is one. */
export type ProtectedBaseline = Readonly<{
  patterns: readonly string[];
  files: Texts;
  ignored: Texts;
}>;

/** A text that does not fit its key was edited in the store (V4). */
export const baselineKey = (text: string) => `baseline ${sha256(text)}`;

/** `was`: the .gitignore files of then; not given: those of now. */
export async function takeBaseline(
  directory: string,
  patterns: readonly string[],
  options: ListingOptions = {},
  was?: Texts,
) {
  const set = createPathSet(patterns);
  if (!set.ok) return set;
  const ignored = new Map(Object.entries(was ?? {}));
  const ignoreText = async (root: string, names: readonly string[]) => {
    const folder = names.join('/');
    const text = was === undefined ? await readIgnoreText(root, names) : '';
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
 * Adds a goal check that compares with now (P27), unless there is one already; call it
 * before the policy is snapshotted.
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

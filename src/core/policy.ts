// The policy: everything a human decides that a decision depends on, as one snapshot (V2).
// It holds values only, so that its text can be hashed and stored.

import type { CheckSpec } from './check-specs.ts';
import { goalCheckIds, readCheckSettings } from './check-specs.ts';
import type { Problem } from './problem.ts';
import type { Settings } from './settings.ts';

export interface Policy {
  readonly settings: Settings;
  /** Ids of the human's checks on the goal; none: nothing but the todos' own checks proves the work. */
  readonly goalChecks: readonly string[];
  /** By id. Absent in a policy that was made without checks. */
  readonly checks?: Readonly<Record<string, CheckSpec>>;
  /** Patterns of paths whose change voids evidence. */
  readonly protect?: readonly string[];
  /** Paths in the workspace that are no work: a change of the plan file makes no evidence stale. */
  readonly exclude?: readonly string[];
  /** Files that say what is checked, and what they held when this was taken; null: they were not there. */
  readonly sources?: readonly PolicySource[];
}

export interface PolicySource {
  /** Absolute. */
  readonly path: string;
  readonly digest: string | null;
  /** The plan file of this session: its boxes are written while the agent works and are no part of the digest. */
  readonly kind?: 'plan';
}

export type CreatedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function createPolicy(settings: Settings): CreatedPolicy {
  const { specs, problems } = readCheckSettings(settings);
  if (problems.length > 0) return { ok: false, problems };
  const policy = { settings, goalChecks: goalCheckIds(settings), checks: specs, protect: settings.protect };
  return { ok: true, policy };
}

/** The same policy gives the same text, in whatever order its keys were written: a hash of it is a key. */
export function canonicalPolicy(policy: Policy): string {
  return JSON.stringify(policy, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

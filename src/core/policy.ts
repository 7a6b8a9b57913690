// All that a human decides, as one snapshot of plain values that can be hashed and stored
// (V2).
import { type CheckSpec, goalCheckIds, readCheckSettings } from './check-specs.ts';
import type { Problem } from './problem.ts';
import { checkIds, uniteChecks } from './same-checks.ts';
import type { Settings } from './settings.ts';

/** What counts for a turn: settings and checks as they were when the human spoke. */
export type Policy = Readonly<{
  settings: Settings;
  goalChecks: readonly string[];
  checks?: Readonly<Record<string, CheckSpec>>;
  protect?: readonly string[];
  /**
   * Paths that are no work, such as the plan file: their change makes no evidence stale.
   */
  exclude?: readonly string[];
  /**
   * What git and the walk were told to overlook then: `texts` by path; null: too long, or
   * it cannot be read.
   */
  ignoreRules?: Readonly<{
    excludesFile: string;
    texts: Readonly<Record<string, string | null>>;
  }>;
  /** Files that say what is checked, as they were then. */
  sources?: readonly Readonly<{
    path: string;
    /** null: it was not there. */
    digest: string | null;
    /** The session's plan file: its boxes are no part of the digest. */
    kind?: 'plan';
  }>[];
}>;

export function createPolicy(settings: Settings) {
  const { specs, problems: wrong } = readCheckSettings(settings);
  const problems = [...wrong, ...webhookProblems(settings)];
  if (problems.length > 0) return { ok: false as const, problems };
  const policy = { settings, goalChecks: [], protect: settings.protect };
  return {
    ok: true as const,
    policy: addChecks(policy, { goalChecks: goalCheckIds(settings), checks: specs }),
  };
}

/**
 * Every check comes into a policy through here: checks that ask for the same become one
 * (V1).
 */
export function addChecks(
  policy: Policy,
  added: Pick<Policy, 'goalChecks' | 'checks'>,
): Policy {
  const checks = uniteChecks({ ...policy.checks, ...added.checks });
  return {
    ...policy,
    goalChecks: checkIds(checks, [...policy.goalChecks, ...added.goalChecks]),
    checks,
  };
}

/** The address itself may be a secret, so that it is not quoted. */
function webhookProblems({ notify: { webhook } }: Settings): Problem[] {
  const isAddress =
    webhook === null || (/^https?:\/\//iu.test(webhook) && URL.canParse(webhook));
  return isAddress
    ? []
    : [{ path: 'notify.webhook', message: 'must be an http or https address' }];
}

/** With sorted keys: its hash is a key. */
export function canonicalPolicy(policy: Policy): string {
  return JSON.stringify(policy, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

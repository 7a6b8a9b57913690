// Everything that a human decides, as one snapshot of plain values that can be hashed and
// stored (V2). Settings with a single problem give none.
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
   * Paths that are no work, such as the plan file: if they change, no evidence is stale.
   */
  exclude?: readonly string[];
  /**
   * The files that told git and our walk at that time what to overlook: `texts` by path;
   * null: too long, or it could not be read.
   */
  ignoreRules?: Readonly<{
    excludesFile: string;
    texts: Readonly<Record<string, string | null>>;
  }>;
  /** The files that say what is checked, as they were at that time. */
  sources?: readonly Readonly<{
    path: string;
    /** Null: the file did not exist. */
    digest: string | null;
    /** The session's plan file: the digest leaves its boxes out. */
    kind?: 'plan';
  }>[];
}>;

/** Makes a policy from settings, or says what is wrong with them. */
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
 * Adds checks to a policy. Every check comes in through here, so that checks that ask for
 * the same become one (V1).
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

/** The address itself may be a secret, so it is not quoted. */
function webhookProblems({ notify: { webhook } }: Settings): Problem[] {
  const isAddress =
    webhook === null || (/^https?:\/\//iu.test(webhook) && URL.canParse(webhook));
  return isAddress
    ? []
    : [{ path: 'notify.webhook', message: 'must be an http or https address' }];
}

/** The policy as a text with sorted keys, because its hash is used as a key. */
export function canonicalPolicy(policy: Policy): string {
  return JSON.stringify(policy, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

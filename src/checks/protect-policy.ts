// Makes protected paths part of a policy: what stands there now is kept in the store, and one more check on the goal
// compares with it (V2, P27). Called at a genuine human message, before the policy is snapshotted.
import { type CheckSpec, protectedPathsId } from '../core/check-spec.ts';
import type { Policy } from '../core/config/policy.ts';
import type { Store } from '../engine/store.ts';
import { baselineKey, takeBaseline } from './protected-paths.ts';

const baselineTimeoutMs = 60_000;

export type ProtectedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly sentence: string };

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

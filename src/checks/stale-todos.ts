// Which todos have passed on another state of the workspace than the present one: their checks are run again before
// a turn is called done (V2).
import type { Session } from '../core/session.ts';
import type { Store } from '../engine/store.ts';
import type { Look } from './checker.ts';

export async function staleTodos(
  store: Store,
  session: Session,
  { policy, fingerprintOf }: Look,
): Promise<readonly { readonly todoId: string; readonly check: string }[]> {
  if (session.counts.passed === 0) return [];
  const todos = await store.read(async (reader) => reader.todosOfPlan(session.planId));
  const isStale = (check: string, fingerprint: string | null): boolean => {
    const spec = policy.checks?.[check];
    return spec === undefined || fingerprint === null || fingerprint !== fingerprintOf(spec);
  };
  return todos
    .filter(({ status, verification }) => status === 'completed' && verification === 'passed')
    .flatMap(({ id, evidence }) =>
      evidence
        .filter(({ check, fingerprint }) => isStale(check, fingerprint))
        .map(({ check }) => ({ todoId: id, check })),
    );
}

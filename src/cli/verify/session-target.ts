// The checks of a session, as its human's last message froze them: what is in untildone.json by now does not count
// (V2). Cancelled todos prove nothing and are left out.
import { editedSources } from '../../checks/checker.ts';
import type { Policy } from '../../core/config/policy.ts';
import type { Session } from '../../core/session.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import { policyKey } from '../../engine/policies.ts';
import type { StoreReader } from '../../engine/store.ts';
import { sha256 } from '../../engine/system.ts';
import type { Io } from '../io.ts';
import { collectChecks, type VerifyTarget } from './verify-target.ts';

/** What a session goes by; empty where nothing was recorded for it. One that was edited in the store is refused. */
export async function readSnapshot(
  reader: StoreReader,
  { policyHash }: Session,
): Promise<Pick<Policy, 'checks' | 'exclude' | 'sources'> & { readonly goalChecks: readonly string[] }> {
  const text = policyHash === null ? null : await reader.policy(policyHash);
  if (text === null) return { goalChecks: [] };
  if (policyKey(text, sha256) !== policyHash)
    throw new UntildoneError(
      'store-corrupt',
      'What the session is checked by is not as it was recorded: it was edited in the store. A new message to the agent records it anew.',
    );
  return JSON.parse(text) as Policy;
}

export async function sessionTarget(reader: StoreReader, session: Session, io: Io): Promise<VerifyTarget> {
  const policy = await readSnapshot(reader, session);
  const todos = await reader.todosOfPlan(session.planId);
  const checks = policy.checks ?? {};
  return {
    ...collectChecks({
      goalChecks: policy.goalChecks,
      todos: todos.filter(({ status }) => status !== 'cancelled'),
      specOf: (id) => (Object.hasOwn(checks, id) ? checks[id] : undefined),
    }),
    source: 'session',
    session,
    file: null,
    directory: session.descriptor.directory ?? io.cwd,
    exclude: policy.exclude ?? [],
    edited: editedSources(policy),
  };
}

// The checks of a session, as its human's last message froze them: what is in untildone.json by now does not count
// (V2). Cancelled todos prove nothing and are left out.
import { editedSources } from '../../checks/checker.ts';
import { listWorkspace } from '../../checks/fingerprint.ts';
import { frozenBy } from '../../checks/git.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Policy } from '../../core/policy.ts';
import { type Session, spokeAt } from '../../core/state.ts';
import { frozenPolicy } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import type { Io } from '../io.ts';
import { collectChecks, type VerifyTarget } from './verify-target.ts';

/** What a session goes by; empty where nothing was recorded for it. One that was edited in the store is refused. */
export async function snapshotOf(
  store: Store,
  session: Session,
): Promise<
  Pick<Policy, 'checks' | 'exclude' | 'ignoreRules' | 'sources'> & { readonly goalChecks: readonly string[] }
> {
  const { policyHash } = session;
  if (policyHash === null || (await store.policy(policyHash)) === null) return { goalChecks: [] };
  const policy = await frozenPolicy(store, session);
  if (policy === null)
    throw new UntildoneError(
      'store-corrupt',
      'What the session is checked by is not as it was recorded: it was edited in the store. A new message to the agent records it anew.',
    );
  return policy;
}

export async function sessionTarget(store: Store, session: Session, io: Io): Promise<VerifyTarget> {
  const policy = await snapshotOf(store, session);
  const todos = await store.todos({ planId: session.planId });
  const checks = policy.checks ?? {};
  const frozen = frozenBy(policy, spokeAt(session));
  const directory = session.descriptor.directory ?? io.cwd;
  const listed = await listWorkspace(directory, { rules: frozen.rules, environment: io.env });
  return {
    ...collectChecks({
      goalChecks: policy.goalChecks,
      todos: todos.filter(({ status }) => status !== 'cancelled'),
      specOf: (id) => (Object.hasOwn(checks, id) ? checks[id] : undefined),
    }),
    source: 'session',
    session,
    file: null,
    directory,
    frozen,
    edited: editedSources(policy),
    hidden: listed.ok ? listed.hidden : [],
  };
}

// A session as it stands now. Hooks of hosts leave what happened in the inbox, and the
// engine takes it in at the next stop; commands look at it before. Nothing is saved, and
// no decision is made by looking.
import { decide } from '../core/decide.ts';
import { parseEvent } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings } from '../core/settings.ts';
import type { Session, State } from '../core/state.ts';
import { frozenPolicy } from './policy.ts';
import type { Store } from './store.ts';

/** `session` itself if nothing waits in its inbox. */
export async function readPresentState<S extends Session>(
  store: Store,
  session: S,
): Promise<S | State> {
  const waiting = await store.events({ sessionId: session.id, waiting: true });
  const stored = waiting.length === 0 ? null : await store.state(session.id);
  if (stored === null) return session;
  const policies = new Map<string | null, Policy>();
  const policyOf = async (policyHash: string | null): Promise<Policy> => {
    const known =
      policies.get(policyHash) ??
      (await frozenPolicy(store, { policyHash })) ??
      ({ settings: defaultSettings, goalChecks: [] } satisfies Policy);
    policies.set(policyHash, known);
    return known;
  };
  let state = stored;
  for (const { event } of waiting) {
    const read = parseEvent(event);
    if (!read.ok) continue;
    const frozen = 'policyHash' in read.event ? read.event.policyHash : null;
    const policy = await policyOf(frozen ?? state.policyHash);
    const next = decide(state, read.event, policy);
    // Whether the agent may stop is said when the engine takes the event in.
    if (next.decision === null) state = next.state;
  }
  return state;
}

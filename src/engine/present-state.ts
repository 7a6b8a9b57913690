// Reads a session as it stands now. Most events of hooks wait in the inbox until the
// next stop; commands look at them before. It saves nothing and decides nothing.
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
  const inbox = () => store.events({ sessionId: session.id, waiting: true });
  const before = await inbox();
  const stored = before.length === 0 ? null : await store.state(session.id);
  if (stored === null) return session;
  // An event that another process took in meanwhile is in the state already.
  const left = new Set((await inbox()).map(({ event }) => event.id));
  const waiting = before.filter(({ event }) => left.has(event.id));
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

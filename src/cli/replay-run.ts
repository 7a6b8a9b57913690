// One run of recorded events through the engine, over a store in memory. Nothing leaves it: no host, and checks are
// not run, since their recorded results are events themselves.

import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import type { Session, SessionTimer } from '../core/state.ts';
import { createRuntime } from '../engine/runtime.ts';
import { sha256 } from '../engine/system.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';

export interface ReplayRun {
  /** Null before the first event. */
  session(): Session | null;
  /** `recorded` is the text of the policy snapshot that the event brought, where it brought one. */
  apply(event: Event, recorded: string | null): Promise<Decision | null>;
  /** Lets the countdown of this run end. */
  fire(timer: SessionTimer): Promise<Decision | null>;
}

/** `other` null: every event under the settings that held when it happened; `first` until the record says more. */
export async function createReplayRun(
  sessionId: string,
  other: Settings | null,
  first: string | null,
): Promise<ReplayRun> {
  let session: Session | null = null;
  let now = 0;
  let fired = 0;
  // The goal's checks are no setting: their recorded results only make sense with them.
  const held = (text: string): Policy => {
    const policy = JSON.parse(text) as Policy;
    return other === null ? policy : { settings: other, goalChecks: policy.goalChecks };
  };
  let policy: Policy = first === null ? { settings: other ?? defaultSettings, goalChecks: [] } : held(first);
  const runtime = createRuntime({
    store: await openSqliteStore({ path: ':memory:' }),
    clock: { now: () => now, wake: () => () => {} },
    identifiers: { next: () => `replay-${++fired}` },
    hash: sha256,
    policy: () => policy,
    checker: { run: async () => {} },
  });

  async function handle(event: Event): Promise<Decision | null> {
    now = event.at;
    const handled = await runtime.handle(event);
    session = handled.state;
    return handled.decision;
  }

  return {
    session: () => session,
    apply(event, recorded) {
      if (recorded !== null) policy = held(recorded);
      // Without a hash the engine takes a new snapshot, which is the policy above.
      return handle(event.type === 'human-spoke' ? { ...event, policyHash: null } : event);
    },
    fire: ({ epoch, dueAt }) =>
      handle({ type: 'timer-fired', id: `replay-timer-${++fired}`, sessionId, at: dueAt, epoch, dueAt }),
  };
}

// Decides the recorded events of a session again, in memory and under the settings that
// held when they happened (V6). Checks are not run: their recorded results are events.
import type { Decision } from '../../src/core/decision.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { frozenPolicy } from '../../src/engine/policy.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import { recordedEvents } from '../../src/engine/session-record.ts';
import type { Store } from '../../src/engine/store.ts';
import { sha256 } from '../../src/engine/system.ts';
import { createMemoryStore } from './memory-store.ts';

/** What was answered, without the words for it: another version may have other words. */
function answerOf({ answer, reason, outcome, textKind, level, observed }: Decision) {
  return { answer, reason, outcome, textKind, level, observed };
}

export async function replaySession(store: Store, sessionId: string) {
  const recorded = await store.decisions(sessionId, Number.MAX_SAFE_INTEGER);
  // Until the human's first message only the first decision says which policy held.
  const policyHash = recorded.at(-1)?.policyHash ?? null;
  let policy = (await frozenPolicy(store, { policyHash })) ?? {
    settings: defaultSettings,
    goalChecks: [],
  };
  let now = 0;
  let made = 0;
  const runtime = createRuntime({
    store: createMemoryStore(),
    clock: { now: () => now, wake: () => () => {} },
    identifiers: { next: () => `replay-${++made}` },
    hash: sha256,
    policy: () => policy,
    checker: { run: async () => {} },
  });
  const again: Decision[] = [];
  let events = 0;
  for await (const event of recordedEvents(store, sessionId)) {
    events += 1;
    now = event.at;
    const spoke = event.type === 'human-spoke' ? event : null;
    policy = (spoke && (await frozenPolicy(store, spoke))) ?? policy;
    // Without a hash the engine takes a new snapshot, which is the policy above.
    const { decision } = await runtime.handle(
      spoke === null ? event : { ...spoke, policyHash: null },
    );
    if (decision !== null) again.push(decision);
  }
  return {
    events,
    recorded: recorded.toReversed().map(({ decision }) => answerOf(decision)),
    again: again.map(answerOf),
  };
}

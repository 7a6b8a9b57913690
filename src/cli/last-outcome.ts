// Finds how the last turn of a session ended, for scripts. It decides nothing.
import type { Outcome } from '../core/decision.ts';
import { endSentence } from '../core/end-sentence.ts';
import type { State } from '../core/state.ts';
import { frozenPolicy } from '../engine/policy.ts';
import { settlementOf } from '../engine/session-record.ts';
import type { Store, StoredDecision } from '../engine/store.ts';
import { describeLaterHold } from './describe-session.ts';

/** Exit code for scripts if there is no outcome yet, or the session's process is gone. */
export const noOutcomeExitCode = 8;

/**
 * Finds the last decision about the turn, and skips those after its end: they only say
 * that the human stopped or paused the session then (V12). Null: there is none.
 */
export async function findTurnDecision(
  store: Store,
  session: State,
): Promise<StoredDecision | null> {
  const [newest = null] = await store.decisions(session.id, 1);
  const { settled } = session;
  if (settled === null || describeLaterHold(session, settled.at) === null) return newest;
  const decisions = await store.decisions(session.id, Number.MAX_SAFE_INTEGER);
  return decisions.find(({ at }) => at <= settled.at) ?? newest;
}

/**
 * A stop that had to wait is recorded as several decisions; the one with the outcome is
 * among the last ones.
 */
const recentDecisions = 20;

/**
 * Finds the last outcome. Null: there is none yet, or the session works on something
 * newer. `sentence`: what people read at the end.
 * @param session as it stands now (see `readPresentState`)
 */
export async function findLastOutcome(
  store: Store,
  session: State,
): Promise<{ outcome: Outcome; sentence: string } | null> {
  const ended = await findLastEnd(store, session);
  if (ended === null) return null;
  const { outcome } = ended;
  const { goalChecks = [] } = (await frozenPolicy(store, session)) ?? {};
  const decisions = await store.decisions(session.id, recentDecisions);
  const why =
    decisions.find(({ decision }) => decision.outcome === outcome)?.decision.sentence ??
    null;
  return { outcome, sentence: endSentence(session, goalChecks, ended, why) };
}

type TurnEnd = Readonly<{ outcome: Outcome; reason: string }>;

async function findLastEnd(store: Store, session: State): Promise<TurnEnd | null> {
  const { settled, parked, descriptor, turn } = session;
  // A stop that is parked will be decided again.
  if (parked !== null) return null;
  if (settled !== null) return settled;
  // `run` and a session of the library judge their goal, so they have an outcome even if
  // no rule gave one.
  if (descriptor.judgesGoal !== true || turn?.ended !== true) return null;
  const [newestDecision = null] = await store.decisions(session.id, 1);
  return settlementOf(session, newestDecision?.decision ?? null);
}

// How the last turn of a session ended, for scripts. It decides nothing.
import type { Outcome } from '../core/decision.ts';
import { endSentence } from '../core/end-sentence.ts';
import type { State } from '../core/state.ts';
import { frozenPolicy } from '../engine/policy.ts';
import { settlementOf } from '../engine/session-record.ts';
import type { Store, StoredDecision } from '../engine/store.ts';
import { describeLaterHold } from './describe-session.ts';

/** For scripts: there is no outcome yet, or the process of the session is gone. */
export const noOutcomeExitCode = 8;

/**
 * The last decision about the turn. If the human stopped or paused the session after the
 * end, later decisions only say that (V12). Null: there is none.
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
 * among these.
 */
const recentDecisions = 20;

/**
 * @param session as it stands now (see `readPresentState`). null: there is no outcome
 * yet, or the session works on something newer. `sentence`: what people read at the end.
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
  const [decided = null] = await store.decisions(session.id, 1);
  return settlementOf(session, decided?.decision ?? null);
}

// How the last turn of a session ended, for scripts: from what was settled and from what waits in the inbox, which a hook
// folds only at the next stop. It decides nothing.
import type { Outcome } from '../core/decision.ts';
import { endSentence } from '../core/end-sentence.ts';
import type { State } from '../core/state.ts';
import { frozenPolicy } from '../engine/policy.ts';
import { eventOf, settlementOf } from '../engine/session-record.ts';
import type { Store } from '../engine/store.ts';

/** A wait that was answered already is a decision of its own: the one with the outcome is among these. */
const recentDecisions = 20;

/** Null: there is no outcome yet, or the session works on something newer. `sentence`: what people read at the end. */
export async function findLastOutcome(
  store: Store,
  session: State,
): Promise<{ outcome: Outcome; sentence: string } | null> {
  const ended = await lastEnd(store, session);
  if (ended === null) return null;
  const { outcome } = ended;
  const { goalChecks = [] } = (await frozenPolicy(store, session)) ?? {};
  const decisions = await store.decisions(session.id, recentDecisions);
  const why = decisions.find(({ decision }) => decision.outcome === outcome)?.decision.sentence ?? null;
  return { outcome, sentence: endSentence(session, goalChecks, ended, why) };
}

type End = Readonly<{ outcome: Outcome; reason: string }>;

async function lastEnd(store: Store, session: State): Promise<End | null> {
  const waiting = (await store.events({ sessionId: session.id, waiting: true })).map(eventOf);
  const hasSpoken = waiting.some(({ type }) => type === 'human-spoke');
  const last = waiting.findLast(({ type }) => type === 'human-spoke' || type === 'human-aborted');
  // A stop that is parked will be decided again.
  if (last?.type === 'human-spoke' || session.parked !== null) return null;
  const settled = hasSpoken ? null : session.settled;
  if (settled !== null) return settled;
  if (last?.type === 'human-aborted') return { outcome: 'aborted', reason: 'aborted' };
  // A run and a program's session answer for their goal: they have an outcome even if no rule gave one.
  if (session.descriptor.judgesGoal !== true || session.turn?.ended !== true) return null;
  const [decided = null] = await store.decisions(session.id, 1);
  return settlementOf(session, decided?.decision ?? null);
}

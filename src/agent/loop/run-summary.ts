// The end of a run in one event: outcome, todos, continuations and why, cost, and how to go on (S8, V8).
import { type Decision, exitCodes, type Outcome } from '../../core/decision.ts';
import { openCount, type Session } from '../../core/session.ts';
import { isOpen } from '../../core/todo.ts';
import type { Store } from '../../engine/store.ts';
import type { RunEnded } from '../agent-event.ts';
import type { RunCounts } from './run-state.ts';
import { planOf, todoViews } from './views.ts';

export interface SummaryFacts {
  readonly store: Store;
  readonly session: Session | null;
  readonly sessionId: string;
  readonly counts: RunCounts;
  readonly startedAt: number;
  readonly endedAt: number;
  /** What the last failed call said; null: none failed. */
  readonly failure: string | null;
  readonly acceptClaims: boolean;
}

export async function summariseRun(facts: SummaryFacts): Promise<RunEnded> {
  const { store, session, sessionId, counts } = facts;
  const [last] = await store.read(async (reader) => reader.decisions(sessionId, 1));
  const { outcome, reason } = settlementOf(session, last?.decision ?? null);
  const decided = last?.decision.sentence ?? 'The run ended without a decision.';
  const sentence = last?.decision.observed ? `Only observed, not carried out: ${decided}` : decided;
  return {
    type: 'run-ended',
    at: facts.endedAt,
    sessionId,
    outcome,
    reason,
    sentence: outcome === 'failed' && facts.failure !== null ? `${sentence} ${facts.failure}` : sentence,
    exitCode: outcome === 'claimed' && facts.acceptClaims ? 0 : exitCodes[outcome],
    todos: session === null ? [] : todoViews(await planOf(store, session)),
    failedChecks: failedChecks(session),
    leftOver: await leftOverTitles(store, session),
    continuations: [...counts.continuations].map(([textKind, count]) => ({ textKind, count })),
    steps: counts.steps,
    toolCalls: counts.toolCalls,
    usage: counts.usage,
    milliseconds: facts.endedAt - facts.startedAt,
    resumeCommand: `untildone run --resume ${sessionId}`,
  };
}

/** A skip settles nothing, and what is only observed neither: then the agent ended by itself, with or without todos. */
function settlementOf(session: Session | null, last: Decision | null): { outcome: Outcome; reason: string } {
  if (session?.settled) return session.settled;
  if (session === null || last === null || (last.answer !== 'let-go' && !last.observed))
    return { outcome: 'failed', reason: 'failed' };
  const ended = openCount(session.counts) === 0 ? 'done' : 'paused';
  return { outcome: last.outcome ?? ended, reason: last.reason };
}

function failedChecks(session: Session | null): RunEnded['failedChecks'] {
  return Object.entries(session?.goal ?? {})
    .filter(([, { state }]) => state === 'failed')
    .map(([check, { tail }]) => ({ check, tail }));
}

/** Turn scope: what an earlier turn left open stays as it is and is named at the end (T3). */
async function leftOverTitles(store: Store, session: Session | null): Promise<string[]> {
  const planId = session?.leftOver?.planId;
  if (planId === undefined) return [];
  const todos = await store.read(async (reader) => reader.todosOfPlan(planId));
  return todos.filter(isOpen).map(({ title }) => title);
}

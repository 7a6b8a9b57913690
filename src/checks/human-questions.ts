// The questions of one session that only a human can answer: which there are in its
// frozen policy, which of them wait, what they cover, and what an answer means to the
// record (V1). It only reads; the engine decides what follows.
import type { HumanCheck } from '../core/check-specs.ts';
import type { Event } from '../core/events.ts';
import { distinctChecks } from '../core/same-checks.ts';
import { type Session, type State, spokeAt } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import { approvalRequest } from '../core/work.ts';
import type { EvidenceRow } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { type FrozenIgnoreRules, freezeIgnoreRules } from './git.ts';
import { snapshotOf } from './verify.ts';

/** A check that only a human can answer, and what it covers. */
export type HumanQuestion = Readonly<{
  check: string;
  /** Null: the question waits, but the human's last message has removed the check. */
  spec: HumanCheck | null;
  waits: boolean;
  forGoal: boolean;
  /** Completed todos that have this check and no proof from it. */
  todos: readonly Todo[];
}>;

const requestPrefix = approvalRequest('');

/** The ids of the checks for which the session waits. */
export function waitingChecks({ waits }: Session): string[] {
  return waits.questions
    .filter((request) => request.startsWith(requestPrefix))
    .map((request) => request.slice(requestPrefix.length));
}

/**
 * Reads the questions. `frozen`: the rules by which the session's files are looked at.
 */
export async function readQuestions(
  store: Store,
  session: State,
): Promise<
  Readonly<{ frozen: Partial<FrozenIgnoreRules>; questions: readonly HumanQuestion[] }>
> {
  const policy = await snapshotOf(store, session);
  const known = distinctChecks(policy.checks).filter((spec) => spec.kind === 'human');
  const waiting = waitingChecks(session);
  const gone = waiting.filter((check) => !known.some(({ id }) => id === check));
  const question = (check: string, spec: HumanCheck | null): HumanQuestion => ({
    check,
    spec,
    waits: waiting.includes(check),
    forGoal: policy.goalChecks.includes(check),
    todos: session.plan.filter((todo) => isUnproved(todo, check)),
  });
  const questions = [
    ...known.map((spec) => question(spec.id, spec)),
    ...gone.map((id) => question(id, null)),
  ];
  return { frozen: freezeIgnoreRules(policy, spokeAt(session)), questions };
}

function isUnproved({ status, checks, evidence }: Todo, check: string): boolean {
  return (
    status === 'completed' &&
    checks.includes(check) &&
    !evidence.some((proof) => proof.check === check)
  );
}

type EventDraft<Type extends Event['type']> = Omit<
  Extract<Event, { type: Type }>,
  'id' | 'sessionId' | 'at'
>;

/** The event that ends the wait for a question. */
export function closeQuestion({ check }: HumanQuestion): EventDraft<'wait-ended'> {
  const wait = {
    kind: 'question',
    requestId: approvalRequest(check),
    rejected: false,
  } as const;
  return { type: 'wait-ended', wait };
}

/**
 * The events of an answer. They go before the end of the question, so that a stop attempt
 * that waited for it is decided by the answer itself.
 */
export function answerResults(
  { work }: State,
  { forGoal, todos }: HumanQuestion,
  { check, result, sentence, tail, fingerprint }: EvidenceRow,
): EventDraft<'check-finished'>[] {
  const subjects = [...(forGoal ? [null] : []), ...todos.map(({ id }) => id)];
  return subjects.map((todoId) => ({
    type: 'check-finished',
    todoId,
    check,
    result,
    fingerprint,
    flaky: false,
    final: false,
    tail: result === 'passed' ? null : `${sentence}\n${tail}`.trim(),
    // While the agent writes, the state of the files that was examined may be gone. It is
    // compared again at the agent's stop.
    writes: work.started === work.writes ? work.writes : null,
  }));
}

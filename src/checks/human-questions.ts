// The questions that only a human can answer, of one session: those of its policy
// snapshot, which of them wait, what they are asked for, and what an answer is to the
// record (V1). It only reads; the engine decides what follows.
import type { HumanCheck } from '../core/check-specs.ts';
import type { Event } from '../core/events.ts';
import { distinctChecks } from '../core/same-checks.ts';
import { type Session, type State, spokeAt } from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import { approvalRequest } from '../core/work.ts';
import type { EvidenceRow } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { type Frozen, frozenBy } from './git.ts';
import { snapshotOf } from './verify.ts';

export type HumanQuestion = Readonly<{
  check: string;
  /** null: the question waits, but the human's last message has taken the check away. */
  spec: HumanCheck | null;
  waits: boolean;
  forGoal: boolean;
  /** Claimed todos that this check has not proved. */
  todos: readonly Todo[];
}>;

const requestPrefix = approvalRequest('');

export function waitingChecks({ waits }: Session): string[] {
  return waits.questions
    .filter((request) => request.startsWith(requestPrefix))
    .map((request) => request.slice(requestPrefix.length));
}

/** `frozen`: what the session's files are looked at by. */
export async function readQuestions(
  store: Store,
  session: State,
): Promise<Readonly<{ frozen: Partial<Frozen>; questions: readonly HumanQuestion[] }>> {
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
  return { frozen: frozenBy(policy, spokeAt(session)), questions };
}

function isUnproved({ status, checks, evidence }: Todo, check: string): boolean {
  return (
    status === 'completed' &&
    checks.includes(check) &&
    !evidence.some((proof) => proof.check === check)
  );
}

type Told<Type extends Event['type']> = Omit<
  Extract<Event, { type: Type }>,
  'id' | 'sessionId' | 'at'
>;

export function closeQuestion({ check }: HumanQuestion): Told<'wait-ended'> {
  const wait = {
    kind: 'question',
    requestId: approvalRequest(check),
    rejected: false,
  } as const;
  return { type: 'wait-ended', wait };
}

/**
 * Before the question ends: a stop attempt that waited for it is then decided by the
 * answer itself.
 */
export function answerResults(
  { work }: State,
  { forGoal, todos }: HumanQuestion,
  { check, result, sentence, tail, fingerprint }: EvidenceRow,
): Told<'check-finished'>[] {
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
    // While the agent writes, the state that was looked at may be gone: then it is
    // compared again at its stop.
    writes: work.started === work.writes ? work.writes : null,
  }));
}

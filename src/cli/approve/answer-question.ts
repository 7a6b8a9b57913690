// Puts a human's answer on the record: as evidence for the state of the files that was looked at, and for those who
// wait as the result of their check. The engine decides what follows (V1).
import { type HumanAnswer, humanEvidence } from '../../checks/checker.ts';
import { lookAtFiles } from '../../checks/fingerprint.ts';
import type { HumanCheck } from '../../core/check-specs.ts';
import type { Event } from '../../core/events.ts';
import type { State } from '../../core/state.ts';
import { approvalRequest } from '../../core/work.ts';
import type { Handled } from '../../engine/engine.ts';
import type { EvidenceRow } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers } from '../../engine/system.ts';
import type { Io } from '../io.ts';
import { openRuntime } from '../open-runtime.ts';
import type { HumanQuestion, SessionQuestions } from './human-questions.ts';

/** State of the files that the check depends on; null: they cannot be looked through. */
export async function presentState(
  { session, frozen }: SessionQuestions,
  spec: HumanCheck,
  io: Io,
): Promise<string | null> {
  return (await lookAtFiles(session.descriptor.directory ?? io.cwd, frozen))(spec);
}

/** What became of the answer; `session` is how it stands afterwards. */
export interface Answered {
  readonly session: State;
  readonly handled: Handled | null;
}

export async function recordAnswer(
  io: Io,
  store: Store,
  { session }: SessionQuestions,
  question: HumanQuestion & { readonly spec: HumanCheck },
  answer: HumanAnswer,
  fingerprint: string,
): Promise<Answered> {
  const asked = { sessionId: session.id, fingerprint };
  const row = humanEvidence(question.spec, asked, answer, io.clock.now());
  await store.record({ evidence: [row] });
  if (!question.waits) return { session, handled: null };
  return send(io, store, session, [...results(session, question, row), answered(question)]);
}

/** For a check that is no longer there: nobody can be held up by its question. */
export function dropQuestion(
  io: Io,
  store: Store,
  session: State,
  question: HumanQuestion,
): Promise<Answered> {
  return send(io, store, session, [answered(question)]);
}

type Said = Event extends infer E ? (E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never) : never;

function answered({ check }: HumanQuestion): Said {
  const requestId = approvalRequest(check);
  return { type: 'wait-ended', wait: { kind: 'question', requestId, rejected: false } };
}

/** Before the question ends: a stop attempt that waited for it is then decided by the answer itself. */
function results({ work }: State, { forGoal, todos }: HumanQuestion, row: EvidenceRow): Said[] {
  const { check, result, sentence, tail, fingerprint } = row;
  const subjects = [...(forGoal ? [null] : []), ...todos.map(({ id }) => id)];
  return subjects.map((todoId) => ({
    type: 'check-finished',
    ...{ todoId, check, result, fingerprint, flaky: false, final: false },
    tail: result === 'passed' ? null : `${sentence}\n${tail}`.trim(),
    // While the agent writes, the state that was looked at may be gone: then it is compared again at its stop.
    writes: work.started === work.writes ? work.writes : null,
  }));
}

async function send(io: Io, store: Store, session: State, all: readonly Said[]): Promise<Answered> {
  const runtime = openRuntime(io, store);
  const identifiers = createIdentifiers(io.clock);
  let handled: Handled | null = null;
  for (const said of all) {
    const event: Event = { ...said, id: identifiers.next(), sessionId: session.id, at: io.clock.now() };
    handled = await runtime.handle(event);
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
  }
  return { session: handled?.state ?? session, handled };
}

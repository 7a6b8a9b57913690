// Checks that a human answers: by a yes at the terminal of a run, or by `untildone approve` from anywhere. An answer
// holds for the state of the files that it was given for, as any evidence does.
import type { HumanCheck } from '../core/check-spec.ts';
import type { Session } from '../core/session.ts';
import type { EvidenceRow } from '../engine/check-queue.ts';
import type { Clock } from '../engine/clock.ts';
import type { Store } from '../engine/store.ts';
import type { Verdict } from './checker.ts';

export interface HumanAnswer {
  readonly approved: boolean;
  /** Why not, in the human's words. */
  readonly reason: string;
}

export interface HumanAnswers {
  readonly store: Store;
  readonly clock: Clock;
  /** Null: nobody is there to answer. */
  readonly ask?: ((question: string) => Promise<HumanAnswer | null>) | undefined;
}

/** How far back answers are looked for among the results of other checks. */
const remembered = 1000;

export async function humanVerdict(
  spec: HumanCheck,
  state: { readonly session: Session; readonly fingerprint: string | null },
  { store, clock, ask }: HumanAnswers,
): Promise<Verdict> {
  const { session, fingerprint } = state;
  const rows = await store.read(async (reader) => reader.evidence(session.id, remembered));
  const known = rows.find(
    (row) => row.human === true && row.check === spec.id && row.fingerprint === fingerprint,
  );
  if (known !== undefined && fingerprint !== null) return known;
  const answer = (await ask?.(spec.question)) ?? null;
  if (answer === null) {
    const sentence = `Waits for a human to approve: ${spec.question}`;
    return {
      ...verdictOf(spec, fingerprint, { approved: false, reason: '' }, clock.now()),
      result: 'waiting',
      sentence,
    };
  }
  const row = humanEvidence(spec, session.id, fingerprint, answer, clock.now());
  await store.transact(async (transaction) => transaction.addEvidence(row));
  return row;
}

/** What is kept of a human's answer. */
export function humanEvidence(
  spec: HumanCheck,
  sessionId: string,
  fingerprint: string | null,
  answer: HumanAnswer,
  at: number,
): EvidenceRow {
  return { ...verdictOf(spec, fingerprint, answer, at), sessionId, todoId: null, human: true };
}

function verdictOf(
  spec: HumanCheck,
  fingerprint: string | null,
  { approved, reason }: HumanAnswer,
  at: number,
) {
  return {
    check: spec.id,
    result: approved ? ('passed' as const) : ('failed' as const),
    sentence: `A human ${approved ? 'approved' : 'said no'}: ${spec.question}`,
    tail: reason,
    flaky: false,
    exitCode: null,
    milliseconds: 0,
    timedOut: false,
    fingerprint,
    at,
  };
}

// Puts checks into the queue of their folder. Whoever asks for what already waits or runs shares that run; a stop
// attempt shares only with stop attempts, because a claim is checked while its agent may still be writing (V2).
// The other way round is fine: todo_verify waits for the run of a stop attempt instead of starting a second one (M8).
import type { CheckSpec } from '../../core/check-spec.ts';
import type { HashFunction } from '../../core/ledger.ts';
import type { CheckAsker, CheckRun } from '../../engine/check-queue.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';

export interface CheckQuestion {
  readonly spec: CheckSpec;
  readonly askers: readonly CheckAsker[];
  /** State of the files that it depends on; null: unknown, and then nobody can share it. */
  readonly fingerprint: string | null;
  /** Paths that do not count for it. */
  readonly exclude: readonly string[];
}

export interface QueuePlace {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly hash: HashFunction;
  readonly directory: string;
}

/** How long a runner may be silent before another one takes over. */
export const runnerLeaseMs = 15_000;

export function queueLease(directory: string): string {
  return `checks ${directory}`;
}

export interface Asked {
  /** Ids of the runs, one for each question. */
  readonly runs: readonly string[];
  /** Nobody works through the queue: a runner is to be started, as this holder of the lease. */
  readonly start: string | null;
}

export function askForChecks(place: QueuePlace, questions: readonly CheckQuestion[]): Promise<Asked> {
  const { store, clock, identifiers, directory } = place;
  return store.transact(async (transaction) => {
    const active = await transaction.activeCheckRuns(directory);
    const runs: string[] = [];
    for (const question of questions) {
      const final = question.askers.some((asker) => asker.final);
      const keys = keysOf(question, place);
      const key = final ? keys.final : keys.claim;
      const shared = active.find((run) => run.key === key || run.key === keys.final);
      const run = shared === undefined ? newRun(question, key, place) : joined(shared, question.askers);
      await transaction.saveCheckRun(run);
      runs.push(run.id);
    }
    const holder = identifiers.next();
    const now = clock.now();
    const free = await transaction.takeLease(queueLease(directory), holder, now, now + runnerLeaseMs);
    return { runs, start: free ? holder : null };
  });
}

/** Asks whether the queue still has someone who works through it; the answer is a new holder if not. */
export function reviveQueue({ store, clock, identifiers, directory }: QueuePlace): Promise<string | null> {
  return store.transact(async (transaction) => {
    const holder = identifiers.next();
    const now = clock.now();
    const free = await transaction.takeLease(queueLease(directory), holder, now, now + runnerLeaseMs);
    return free ? holder : null;
  });
}

/** The session no longer waits: what nobody else waits for is not run, and ended if it runs. */
export function cancelChecks({ store, clock, directory }: QueuePlace, sessionId: string): Promise<void> {
  return store.transact(async (transaction) => {
    for (const run of await transaction.activeCheckRuns(directory)) {
      const askers = run.askers.filter((asker) => asker.sessionId !== sessionId);
      if (askers.length === run.askers.length) continue;
      const ended = askers.length === 0 ? { state: 'cancelled' as const, endedAt: clock.now() } : {};
      await transaction.saveCheckRun({ ...run, ...ended, askers });
    }
  });
}

function keysOf(
  { spec, fingerprint, exclude }: CheckQuestion,
  { hash, directory, identifiers }: QueuePlace,
): { readonly claim: string; readonly final: string } {
  const state = fingerprint ?? identifiers.next();
  const keyOf = (final: boolean) => hash(JSON.stringify([directory, spec, exclude, state, final]));
  return { claim: keyOf(false), final: keyOf(true) };
}

function newRun(
  { spec, askers, exclude }: CheckQuestion,
  key: string,
  { clock, identifiers, directory }: QueuePlace,
): CheckRun {
  return {
    id: identifiers.next(),
    key,
    directory,
    spec,
    exclude,
    state: 'asked',
    askers,
    askedAt: clock.now(),
    startedAt: null,
    endedAt: null,
    verdict: null,
  };
}

/** Who asked at a stop and asks once more in between is still the one who had stopped. */
function joined(run: CheckRun, askers: readonly CheckAsker[]): CheckRun {
  const isSame = (left: CheckAsker, right: CheckAsker): boolean =>
    left.sessionId === right.sessionId && left.todoId === right.todoId;
  const kept = run.askers.filter(
    (known) => !askers.some((asker) => isSame(asker, known) && (asker.final || !known.final)),
  );
  const added = askers.filter((asker) => !kept.some((known) => isSame(asker, known)));
  return { ...run, askers: [...kept, ...added] };
}

// Works through the checks that were asked for in one folder, one after another, and reports to everyone who asked.
// It outlives whoever started it. One process per folder: whoever holds the lease; a dead one's lease runs out, and
// what it had begun is begun again.
import type { CheckResult } from '../../core/check-spec.ts';
import type { CheckAsker, CheckRun, CheckVerdict } from '../../engine/check-queue.ts';
import type { Clock } from '../../engine/clock.ts';
import type { Store, StoreTransaction } from '../../engine/store.ts';
import { runCheck } from '../run-check.ts';
import { queueLease, runnerLeaseMs } from './ask-for-checks.ts';
import { checkFinishedEvent } from './check-event.ts';
import { lookAtFiles } from './check-fingerprint.ts';

export interface QueueRunner {
  readonly store: Store;
  readonly clock: Clock;
  readonly directory: string;
  /** As whom the lease on the queue was taken. */
  readonly holder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Between two looks at the lease and at whether the run is still wanted. */
const watchMs = 500;

/** Returns when the queue is empty or another runner has taken over. */
export async function runQueue(runner: QueueRunner): Promise<void> {
  if (!(await renew(runner))) return;
  for (;;) {
    const run = await takeNext(runner);
    if (run === null) return;
    const verdict = await performRun(runner, run);
    if (verdict === 'lost') return;
    if (verdict !== null) await finish(runner, run.id, verdict);
  }
}

function renew({ store, clock, directory, holder }: QueueRunner): Promise<boolean> {
  return store.transact(async (transaction) => {
    const now = clock.now();
    return transaction.takeLease(queueLease(directory), holder, now, now + runnerLeaseMs);
  });
}

/** In one transaction with the release of the lease: whoever asks later finds nobody and starts a runner. */
function takeNext({ store, clock, directory, holder }: QueueRunner): Promise<CheckRun | null> {
  return store.transact(async (transaction) => {
    const [next] = await transaction.activeCheckRuns(directory);
    if (next === undefined) {
      await transaction.releaseLease(queueLease(directory), holder);
      return null;
    }
    const started: CheckRun = { ...next, state: 'running', startedAt: clock.now() };
    await transaction.saveCheckRun(started);
    return started;
  });
}

/** null: it was cancelled. */
async function performRun(runner: QueueRunner, run: CheckRun): Promise<CheckVerdict | 'lost' | null> {
  const ending = new AbortController();
  let lost = false;
  const watch = setInterval(() => {
    stillWanted(runner, run.id).then(
      (state) => {
        lost ||= state === 'lost';
        if (state !== 'wanted') ending.abort();
      },
      // A store that is busy now is asked again; the lease is long enough for that.
      () => {},
    );
  }, watchMs);
  try {
    const verdict = await prove(runner, run, ending.signal);
    if (lost) return 'lost';
    return ending.signal.aborted ? null : verdict;
  } finally {
    clearInterval(watch);
  }
}

function stillWanted(runner: QueueRunner, id: string): Promise<'wanted' | 'cancelled' | 'lost'> {
  const { store, clock, directory, holder } = runner;
  return store.transact(async (transaction) => {
    const now = clock.now();
    if (!(await transaction.takeLease(queueLease(directory), holder, now, now + runnerLeaseMs)))
      return 'lost';
    return (await transaction.checkRun(id))?.state === 'cancelled' ? 'cancelled' : 'wanted';
  });
}

/** A failed check is run once more: a pass then is flaky (design: "Checks"). */
async function prove(runner: QueueRunner, run: CheckRun, signal: AbortSignal): Promise<CheckVerdict> {
  const { store, clock, directory, environment } = runner;
  const fingerprint = async () => (await lookAtFiles(directory, run.exclude))(run.spec);
  const once = (): Promise<CheckResult> =>
    runCheck(run.spec, {
      directory,
      signal,
      environment,
      now: clock.now,
      // Marked as beneath a session, but not as a process of its agent: those are ended when it is resumed.
      session: `check of ${run.askers[0]?.sessionId ?? 'nobody'}`,
      readBaseline: (key) => store.read(async (reader) => reader.policy(key)),
    });
  const before = await fingerprint();
  const first = await once();
  const result = first.result === 'passed' || signal.aborted ? first : await once();
  const flaky = first.result === 'failed' && result.result === 'passed';
  return { ...result, flaky, before, after: signal.aborted ? null : await fingerprint() };
}

/** The verdict, the evidence and the news for every session are one transaction. */
function finish({ store, clock }: QueueRunner, id: string, verdict: CheckVerdict): Promise<void> {
  return store.transact(async (transaction) => {
    const run = await transaction.checkRun(id);
    if (run === null || run.state === 'cancelled') return;
    const finished: CheckRun = { ...run, state: 'finished', endedAt: clock.now(), verdict };
    await transaction.saveCheckRun(finished);
    for (const asker of run.askers) await tell(transaction, finished, asker, verdict);
  });
}

async function tell(
  transaction: StoreTransaction,
  run: CheckRun,
  asker: CheckAsker,
  verdict: CheckVerdict,
): Promise<void> {
  const event = checkFinishedEvent(run, asker, verdict);
  const { before: _before, after: _after, ...seen } = verdict;
  const { sessionId, todoId } = asker;
  await transaction.addEvidence({ ...seen, sessionId, todoId, fingerprint: event.fingerprint });
  await transaction.addEvent(event);
}

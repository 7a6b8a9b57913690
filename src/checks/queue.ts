// The queue of checks of one folder: who asks for a check shares a run that already waits or runs, and one runner, which
// outlives whoever started it, works through the queue and reports to everyone who asked. A dead runner's lease runs out,
// and what it had begun is begun again.
import { spawn } from 'node:child_process';
import type { CheckResult, CheckSpec } from '../core/check-spec.ts';
import type { CheckFinished } from '../core/events.ts';
import type { HashFunction } from '../core/ledger.ts';
import type { CheckAsker, CheckRun, CheckVerdict } from '../engine/check-queue.ts';
import type { Clock, Identifiers } from '../engine/clock.ts';
import type { Store, StoreTransaction } from '../engine/store.ts';
import { lookAtFiles } from './fingerprint.ts';
import { runCheck } from './run-check.ts';

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
const runnerLeaseMs = 15_000;

interface LeasePlace extends Pick<QueuePlace, 'clock' | 'directory'> {
  readonly holder: string;
}

function takeLease(transaction: StoreTransaction, { clock, directory, holder }: LeasePlace) {
  const now = clock.now();
  return transaction.takeLease(`checks ${directory}`, holder, now, now + runnerLeaseMs);
}

export interface Asked {
  /** Ids of the runs, one for each question. */
  readonly runs: readonly string[];
  /** Nobody works through the queue: a runner is to be started, as this holder of the lease. */
  readonly start: string | null;
}

/**
 * A stop attempt shares only the runs of stop attempts, because a claim is checked while its agent may still be writing
 * (V2). The other way round is fine: todo_verify waits for the run of a stop attempt instead of starting a second (M8).
 */
export function askForChecks(place: QueuePlace, questions: readonly CheckQuestion[]): Promise<Asked> {
  const { store, identifiers, directory, hash } = place;
  return store.transact(async (transaction) => {
    const active = await transaction.activeCheckRuns(directory);
    const runs: string[] = [];
    for (const { spec, askers, fingerprint, exclude } of questions) {
      const state = fingerprint ?? identifiers.next();
      const keyOf = (final: boolean) => hash(JSON.stringify([directory, spec, exclude, state, final]));
      const finalKey = keyOf(true);
      const key = askers.some((asker) => asker.final) ? finalKey : keyOf(false);
      const shared = active.find((run) => run.key === key || run.key === finalKey);
      const fresh = { id: identifiers.next(), key, directory, spec, exclude, before: fingerprint };
      const run: CheckRun =
        shared === undefined
          ? { ...fresh, ...unstarted, askers, askedAt: place.clock.now() }
          : joined(shared, askers);
      await transaction.saveCheckRun(run);
      runs.push(run.id);
    }
    const holder = identifiers.next();
    return { runs, start: (await takeLease(transaction, { ...place, holder })) ? holder : null };
  });
}

const unstarted = { state: 'asked', startedAt: null, endedAt: null, verdict: null } as const;

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

/** Asks whether the queue still has someone who works through it; the answer is a new holder if not. */
export function reviveQueue(place: QueuePlace): Promise<string | null> {
  const holder = place.identifiers.next();
  return place.store.transact(async (transaction) =>
    (await takeLease(transaction, { ...place, holder })) ? holder : null,
  );
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

/**
 * Starts the process that works through a queue so that it survives the end of this one and of everything above it: hosts
 * end a hook with all its descendants, so the runner must be nobody's child. `program`: how it is started; it must know
 * the command `check-runner`.
 */
export function startDetachedRunner(
  program: readonly string[],
  directory: string,
  holder: string,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const [first = process.execPath, ...rest] = [...program, 'check-runner', directory, holder];
  const options = { detached: true, stdio: 'ignore', env: { ...environment }, cwd: '/' } as const;
  // The shell forks the runner and ends: a new session by `detached`, a new parent by the shell's end. The words are
  // arguments, never part of the script.
  const child =
    process.platform === 'win32'
      ? spawn(first, rest, { ...options, cwd: directory, windowsHide: true })
      : spawn('/bin/sh', ['-c', '"$@" </dev/null >/dev/null 2>&1 &', 'sh', first, ...rest], options);
  // Whoever waits for the results sees that nobody took the lease, and starts another.
  child.on('error', () => {});
  child.unref();
}

export interface QueueRunner extends LeasePlace {
  readonly store: Store;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Between two looks at the lease and at whether the run is still wanted. */
const watchMs = 500;

/** Returns when the queue is empty or another runner has taken over. */
export async function runQueue(runner: QueueRunner): Promise<void> {
  if (!(await runner.store.transact(async (transaction) => takeLease(transaction, runner)))) return;
  for (;;) {
    const run = await takeNext(runner);
    if (run === null) return;
    const verdict = await performRun(runner, run);
    if (verdict === 'lost') return;
    if (verdict !== null) await finish(runner, run.id, verdict);
  }
}

/** In one transaction with the release of the lease: whoever asks later finds nobody and starts a runner. */
function takeNext({ store, clock, directory, holder }: QueueRunner): Promise<CheckRun | null> {
  return store.transact(async (transaction) => {
    const [next] = await transaction.activeCheckRuns(directory);
    if (next === undefined) {
      await transaction.releaseLease(`checks ${directory}`, holder);
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
  const look = async (): Promise<void> => {
    const state = await runner.store.transact(async (transaction) => {
      if (!(await takeLease(transaction, runner))) return 'lost';
      return (await transaction.checkRun(run.id))?.state === 'cancelled' ? 'cancelled' : 'wanted';
    });
    lost ||= state === 'lost';
    if (state !== 'wanted') ending.abort();
  };
  // A store that is busy now is asked again; the lease is long enough for that.
  const watch = setInterval(() => void look().catch(() => {}), watchMs);
  try {
    const verdict = await prove(runner, run, ending.signal);
    if (lost) return 'lost';
    return ending.signal.aborted ? null : verdict;
  } finally {
    clearInterval(watch);
  }
}

/** A failed check is run once more: a pass then is flaky (design: "Checks"). */
async function prove(runner: QueueRunner, run: CheckRun, signal: AbortSignal): Promise<CheckVerdict> {
  const { store, clock, directory, environment } = runner;
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
  const first = await once();
  const result = first.result === 'passed' || signal.aborted ? first : await once();
  const flaky = first.result === 'failed' && result.result === 'passed';
  const after = signal.aborted ? null : (await lookAtFiles(directory, run.exclude))(run.spec);
  return { ...result, flaky, before: run.before ?? null, after };
}

/** The result, the evidence and the news for every session are one transaction. */
function finish({ store, clock }: QueueRunner, id: string, verdict: CheckVerdict): Promise<void> {
  return store.transact(async (transaction) => {
    const run = await transaction.checkRun(id);
    if (run === null || run.state === 'cancelled') return;
    const finished: CheckRun = { ...run, state: 'finished', endedAt: clock.now(), verdict };
    await transaction.saveCheckRun(finished);
    const { before: _before, after: _after, ...seen } = verdict;
    for (const asker of run.askers) {
      const event = checkFinishedEvent(finished, asker, verdict);
      const { sessionId, todoId } = asker;
      await transaction.addEvidence({ ...seen, sessionId, todoId, fingerprint: event.fingerprint });
      await transaction.addEvent(event);
    }
  });
}

/**
 * What a session is told of a finished check. The same run and asker always give the same event, so that it does not
 * matter who tells it first: the runner, or the one who waited.
 */
export function checkFinishedEvent(run: CheckRun, asker: CheckAsker, verdict: CheckVerdict): CheckFinished {
  const { sessionId, todoId, final, writes } = asker;
  const { before, after, result, flaky, at } = verdict;
  return {
    id: `${run.id} ${todoId ?? 'goal'} ${sessionId}`,
    sessionId,
    at,
    type: 'check-finished',
    todoId,
    check: run.spec.id,
    result,
    flaky,
    tail: result === 'passed' ? null : `${verdict.sentence}\n${verdict.tail}`.trim(),
    // While the agent has stopped, what differs afterwards was written by the check itself: its outputs do not void it.
    // Otherwise someone else may have written too, and only an unchanged workspace is what the check saw.
    fingerprint: final || before === after ? after : null,
    final,
    writes,
  };
}

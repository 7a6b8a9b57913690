// The queue of checks of one folder: who asks shares a run that already waits or runs, and one runner, which outlives its
// starter, works through it and reports to everyone who asked. What a dead runner had begun is begun again.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { EventOf } from '../core/events.ts';
import type { HashFunction } from '../core/ledger.ts';
import type { CheckAsker, CheckFinding, CheckRun, Clock, Identifiers } from '../engine/host.ts';
import type { Environment } from '../engine/policy.ts';
import type { LeaseRequest, Store } from '../engine/store.ts';
import { lookAtFiles } from './fingerprint.ts';
import { runCheck } from './run-check.ts';

export interface CheckQuestion extends Pick<CheckRun, 'spec' | 'askers' | 'exclude'> {
  /** State of the files that it depends on; null: unknown, and then nobody can share it. */
  readonly fingerprint: string | null;
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

function leaseOf({ clock, directory, holder }: Pick<QueueRunner, 'clock' | 'directory' | 'holder'>) {
  const now = clock.now();
  return { name: `checks ${directory}`, holder, now, until: now + runnerLeaseMs } satisfies LeaseRequest;
}

/**
 * `start`: the holder of the lease as which a runner is to be started; null: there is one. A stop attempt shares only the
 * runs of stop attempts, because a claim is checked while its agent may still be writing (V2). The other way round is
 * fine: todo_verify waits for the run of a stop attempt instead of starting a second (M8).
 */
export function askForChecks(place: QueuePlace, questions: readonly CheckQuestion[]) {
  const { store, identifiers, directory, hash } = place;
  const holder = identifiers.next();
  return store.changeChecks(directory, leaseOf({ ...place, holder }), ({ active, holds }) => {
    const runs = questions.map(({ spec, askers, fingerprint, exclude }): CheckRun => {
      const state = fingerprint ?? identifiers.next();
      const keyOf = (final: boolean) => hash(JSON.stringify([directory, spec, exclude, state, final]));
      const finalKey = keyOf(true);
      const key = askers.some((asker) => asker.final) ? finalKey : keyOf(false);
      const shared = active.find((run) => run.key === key || run.key === finalKey);
      if (shared !== undefined) return joined(shared, askers);
      const asked = { id: identifiers.next(), key, directory, spec, exclude, before: fingerprint, askers };
      const open = { startedAt: null, endedAt: null, finding: null };
      return { ...asked, state: 'asked', askedAt: place.clock.now(), ...open };
    });
    return { runs, result: { runs: runs.map(({ id }) => id), start: holds ? holder : null } };
  });
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

/** A new holder if nobody works through the queue any more. */
export function reviveQueue(place: QueuePlace): Promise<string | null> {
  const holder = place.identifiers.next();
  const lease = leaseOf({ ...place, holder });
  return place.store.changeChecks(place.directory, lease, ({ holds }) => ({ result: holds ? holder : null }));
}

/** The session no longer waits: what nobody else waits for is not run, and ended if it runs. */
export function cancelChecks({ store, clock, directory }: QueuePlace, sessionId: string): Promise<void> {
  return store.changeChecks(directory, null, ({ active }) => {
    const runs = active
      .filter(({ askers }) => askers.some((asker) => asker.sessionId === sessionId))
      .map((run): CheckRun => {
        const askers = run.askers.filter((asker) => asker.sessionId !== sessionId);
        const ended = askers.length === 0 ? { state: 'cancelled' as const, endedAt: clock.now() } : {};
        return { ...run, ...ended, askers };
      });
    return { runs, result: undefined };
  });
}

/** Makes a program that is built on Bun, as some hosts are, run a script instead of itself. */
export const scriptSwitch = 'BUN_BE_BUN';

/**
 * The runner survives the end of this process and of everything above it: hosts end a hook with all its descendants, so it
 * must be nobody's child. False: its file is not here, and the caller has to work through the queue itself.
 */
export function startRunner(
  directory: string,
  holder: string,
  environment: Environment,
  file: string | null = findRunner(),
): boolean {
  if (file === null) return false;
  const isBun = process.versions['bun'] !== undefined;
  const words = isBun ? [file, directory, holder] : ['--no-warnings', file, directory, holder];
  const env = isBun ? { ...environment, [scriptSwitch]: '1' } : { ...environment };
  const options = { detached: true, stdio: 'ignore', env, cwd: '/' } as const;
  // The shell forks the runner and ends: a new session by `detached`, a new parent by the shell's end. The words are
  // arguments, never part of the script.
  const script = '"$@" </dev/null >/dev/null 2>&1 &';
  const child =
    process.platform === 'win32'
      ? spawn(process.execPath, words, { ...options, cwd: directory, windowsHide: true })
      : spawn('/bin/sh', ['-c', script, 'sh', process.execPath, ...words], options);
  // Whoever waits for the results sees that nobody took the lease, and starts another.
  child.on('error', () => {});
  child.unref();
  return true;
}

function findRunner(): string | null {
  const started = pathToFileURL(process.argv[1] ?? '').href;
  // A late file of a program does not know itself: there it is the program that was started.
  const here = import.meta.url ?? started;
  // Beside this code among the programs of hosts, or in the package that it belongs to. Written out: `init` copies the files
  // that a program names in this form.
  const built = [
    './check-runner.js',
    './plugin/programs/check-runner.js',
    '../plugin/programs/check-runner.js',
  ];
  // Of a program that was started from source.
  const sources = ['./check-runner.ts', '../check-runner.ts'];
  const urls = [
    ...built.map((file) => new URL(file, here)),
    ...sources.map((file) => new URL(file, started)),
  ];
  return urls.map((url) => fileURLToPath(url)).find((path) => existsSync(path)) ?? null;
}

export interface QueueRunner extends Pick<QueuePlace, 'store' | 'clock' | 'directory'> {
  readonly holder: string;
  readonly environment: Environment;
}

/** Between two looks at the lease and at whether the run is still wanted. */
const watchMs = 500;

/** Returns when the queue is empty or another runner has taken over. */
export async function runQueue(runner: QueueRunner): Promise<void> {
  const { store, clock, directory } = runner;
  for (;;) {
    // In one transaction with the release of the lease: whoever asks later finds nobody and starts a runner.
    const run = await store.changeChecks(directory, leaseOf(runner), ({ active: [next], holds }) => {
      if (!holds || next === undefined) return { result: null, release: holds };
      const started: CheckRun = { ...next, state: 'running', startedAt: clock.now() };
      return { result: started, runs: [started] };
    });
    if (run === null) return;
    const finding = await performRun(runner, run);
    if (finding !== null) await finish(runner, run.id, finding);
  }
}

/** A failed check is run once more: a pass then is flaky (design: "Checks"). null: it was cancelled, or the lease lost. */
async function performRun(runner: QueueRunner, run: CheckRun): Promise<CheckFinding | null> {
  const { store, clock, directory, environment } = runner;
  const ending = new AbortController();
  const { signal } = ending;
  const look = async (): Promise<void> => {
    const isWanted = await store.changeChecks(directory, leaseOf(runner), ({ active, holds }) => ({
      result: holds && active.some(({ id }) => id === run.id),
    }));
    if (!isWanted) ending.abort();
  };
  // A store that is busy now is asked again; the lease is long enough for that.
  const watch = setInterval(() => void look().catch(() => {}), watchMs);
  // Marked as beneath a session, but not as a process of its agent: those are ended when it is resumed.
  const session = `check of ${run.askers[0]?.sessionId ?? 'nobody'}`;
  const readBaseline = (key: string) => store.policy(key);
  const context = { directory, signal, environment, now: clock.now, session, readBaseline };
  try {
    const first = await runCheck(run.spec, context);
    const last = first.result === 'passed' || signal.aborted ? first : await runCheck(run.spec, context);
    const after = signal.aborted ? null : (await lookAtFiles(directory, run.exclude))(run.spec);
    if (signal.aborted) return null;
    return { ...last, flaky: first.result !== last.result, before: run.before ?? null, after };
  } finally {
    clearInterval(watch);
  }
}

/** The result, the evidence and the news for every session are one transaction. */
function finish({ store, clock, directory }: QueueRunner, id: string, finding: CheckFinding): Promise<void> {
  return store.changeChecks(directory, null, ({ active }) => {
    const run = active.find((one) => one.id === id);
    // Cancelled meanwhile: nobody waits for it.
    if (run === undefined) return { result: undefined };
    const finished: CheckRun = { ...run, state: 'finished', endedAt: clock.now(), finding };
    const events = run.askers.map((asker) => checkFinishedEvent(finished, asker, finding));
    const { before: _before, after: _after, ...seen } = finding;
    const evidence = events.map((event) => {
      const { sessionId, todoId, fingerprint } = event;
      return { ...seen, sessionId, todoId, fingerprint };
    });
    return { result: undefined, runs: [finished], evidence, events };
  });
}

/** The same run and asker always give the same event: it does not matter whether the runner or who waited tells it first. */
export function checkFinishedEvent(
  run: CheckRun,
  asker: CheckAsker,
  finding: CheckFinding,
): EventOf<'check-finished'> {
  const { before, after, result, flaky, at } = finding;
  return {
    ...asker,
    ...{ id: `${run.id} ${asker.todoId ?? 'goal'} ${asker.sessionId}`, at, type: 'check-finished' },
    ...{ check: run.spec.id, result, flaky, tail: tailOf(finding) },
    // While the agent has stopped, what differs afterwards was written by the check itself: its outputs do not void it.
    // Otherwise someone else may have written too, and only an unchanged workspace is what the check saw.
    fingerprint: asker.final || before === after ? after : null,
  };
}

export function tailOf({ result, sentence, tail }: { result: string; sentence: string; tail: string }) {
  return result === 'failed' ? `${sentence}\n${tail}`.trim() : null;
}

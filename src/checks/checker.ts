// Gets the checks run that the engine asks for: by the queue of the folder, whose runner outlives this process, so
// that others share its runs and nothing is lost when a host ends us. It decides nothing: results are events (V1, V2).
import { setTimeout as sleep } from 'node:timers/promises';
import type { HumanCheck } from '../core/check-specs.ts';
import type { Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import type { Session, State } from '../core/state.ts';
import type { CheckAsker, Checker, CheckFinding, CheckRun, EvidenceRow } from '../engine/host.ts';
import { digestFile, readSnapshot } from '../engine/policy.ts';
import { fingerprintsIn, type Listing, type ListingOptions, listingOf } from './fingerprint.ts';
import {
  askForChecks,
  type CheckQuestion,
  cancelChecks,
  checkFinishedEvent,
  type QueuePlace,
  reviveQueue,
  tailOf,
} from './queue.ts';

export interface CheckerOptions extends Omit<QueuePlace, 'directory'> {
  /** Starts someone who works through the queue of the folder, as this holder of its lease. */
  readonly startRunner: (directory: string, holder: string) => void;
  /** Ends the waiting, and with it the runs that nobody else waits for. */
  readonly signal: () => AbortSignal;
  /** Asks a human who is there; null: nobody is, and the question waits for `approve`. */
  readonly askHuman?: ((question: string) => Promise<HumanAnswer | null>) | undefined;
  /** Told of every check that is asked for, before it runs. `todoId` is null for the goal and for several todos. */
  readonly onStarted?: (check: string, todoId: string | null) => void;
  readonly onResult?: (finding: Omit<Finding, 'fingerprint'>, todoId: string | null) => void;
  /** Told when files that say what is checked were changed since the human's message. */
  readonly onEdited?: (paths: readonly string[]) => void;
}

/** What came of a check that needed no run. */
interface Finding extends Omit<CheckFinding, 'result' | 'before' | 'after'> {
  readonly result: CheckFinding['result'] | 'waiting';
  readonly fingerprint: string | null;
}

/** Between two looks at a run: short at first, because most checks that are waited for are. */
const shortestPollMs = 20;
const longestPollMs = 250;

/** Later than this after the look at a stop, its checks look again: somebody may have written meanwhile. */
const freshMs = 2000;

export function createChecker(options: CheckerOptions) {
  const { store, clock, identifiers } = options;
  let stopped: { key: string; listing: Listing | null; at: number } | null = null;
  const keyOf = (sessionId: string, directory: string) => JSON.stringify([sessionId, directory]);

  /**
   * The fingerprint for the stop attempt of a session; null: none could be taken. The listing behind it serves the checks
   * of that stop, so that a checked stop looks through the workspace twice: here, and after its check.
   */
  async function lookAtStop(
    { sessionId, directory, exclude }: { sessionId: string; directory: string; exclude?: readonly string[] },
    limits?: ListingOptions,
  ): Promise<string | null> {
    const listing = await listingOf(directory, limits);
    stopped = { key: keyOf(sessionId, directory), listing, at: clock.now() };
    return fingerprintsIn(listing, exclude)({ files: [] });
  }

  async function lookAt({ id, policyHash, descriptor }: Session, isStop: boolean): Promise<Look> {
    // A text that was edited in the store says nothing of what the human wants: then no check is known, and all fail.
    const policy: Look['policy'] =
      (policyHash && readSnapshot(policyHash, await store.policy(policyHash), options.hash)) || {};
    const directory = descriptor.directory ?? process.cwd();
    const kept = stopped;
    stopped = null;
    const isKept = isStop && kept?.key === keyOf(id, directory) && clock.now() - kept.at <= freshMs;
    const listing = (isKept && kept.listing) || (await listingOf(directory));
    return { policy, directory, fingerprintOf: fingerprintsIn(listing, policy.exclude) };
  }

  async function ask(
    session: State,
    asked: Map<string, CheckAsker[]>,
    { policy, directory, fingerprintOf }: Look,
    report: (event: Event) => Promise<void>,
  ): Promise<void> {
    const reportEach = async (askers: readonly CheckAsker[], finding: Finding): Promise<void> => {
      options.onResult?.(finding, onlyTodo(askers));
      const { check, result, flaky, fingerprint } = finding;
      const seen = {
        type: 'check-finished',
        check,
        result,
        flaky,
        fingerprint,
        tail: tailOf(finding),
      } as const;
      for (const asker of askers)
        await report({ id: identifiers.next(), at: clock.now(), ...asker, ...seen });
    };
    const questions: CheckQuestion[] = [];
    for (const [check, askers] of asked) {
      options.onStarted?.(check, onlyTodo(askers));
      const spec = policy.checks?.[check];
      const fingerprint = spec === undefined ? null : fingerprintOf(spec);
      if (spec === undefined) {
        const sentence = `There is no check with the name "${check}" in the configuration.`;
        await reportEach(askers, { ...unrun(check, clock.now()), fingerprint, result: 'failed', sentence });
      } else if (spec.kind === 'human')
        await reportEach(askers, await humanFinding(spec, { session, fingerprint }, options));
      else questions.push({ spec, askers, fingerprint, exclude: policy.exclude ?? [] });
    }
    if (questions.length === 0) return;
    const place = { ...options, directory };
    const { runs, start } = await askForChecks(place, questions);
    if (start !== null) options.startRunner(directory, start);
    for (const id of runs) {
      const run = await waitForRun(place, session, id);
      if (run === null || run.finding === null) continue;
      const own = run.askers.filter(({ sessionId }) => sessionId === session.id);
      options.onResult?.(run.finding, onlyTodo(own));
      for (const asker of own) await report(checkFinishedEvent(run, asker, run.finding));
    }
  }

  /** null: it was cancelled. */
  async function waitForRun(place: QueuePlace, session: Session, id: string): Promise<CheckRun | null> {
    const signal = options.signal();
    for (let wait = shortestPollMs; ; wait = Math.min(wait * 1.5, longestPollMs)) {
      const [run] = await store.checkRuns({ id });
      if (run === undefined || run.state === 'cancelled') return null;
      if (run.state === 'finished') return run;
      if (signal.aborted) {
        await cancelChecks(place, session.id);
        return null;
      }
      if (wait === longestPollMs) {
        const holder = await reviveQueue(place);
        if (holder !== null) options.startRunner(place.directory, holder);
      }
      // Interrupted or not, the next look at the run says how to go on.
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  const run: Checker['run'] = async (session, { checks, stop }, report) => {
    const look = await lookAt(session, stop !== null);
    const base = () => ({ id: identifiers.next(), sessionId: session.id, at: clock.now() });
    const { started, writes } = session.work;
    const final = stop !== null;
    // A call that was begun and never ended, such as a refused one, does not run on after a stop.
    const asker = { sessionId: session.id, final, writes: final || started === writes ? writes : null };
    const asked = new Map<string, CheckAsker[]>();
    for (const { todoId, check } of final ? [...checks, ...staleTodos(session, look)] : checks) {
      asked.set(check, [...(asked.get(check) ?? []), { ...asker, todoId }]);
      if (!final) await report({ ...base(), type: 'check-started', todoId, check });
    }
    await ask(session, asked, look, report);
    if (!final || options.signal().aborted) return;
    const edited = editedSources(look.policy);
    if (edited.length > 0) options.onEdited?.(edited);
    await report({ ...base(), type: 'final-run-ended', stop, edited });
  };

  return { run, lookAtStop };
}

interface Look {
  readonly policy: Pick<Policy, 'checks' | 'exclude' | 'sources'>;
  readonly directory: string;
  readonly fingerprintOf: ReturnType<typeof fingerprintsIn>;
}

function onlyTodo(askers: readonly CheckAsker[]): string | null {
  return askers.length === 1 ? (askers[0]?.todoId ?? null) : null;
}

/** Checks of todos that passed on another state of the workspace: they are run again before a turn is done (V2). */
function staleTodos({ plan }: State, { policy, fingerprintOf }: Look) {
  const isStale = (check: string, fingerprint: string | null): boolean => {
    const spec = policy.checks?.[check];
    return spec === undefined || fingerprint === null || fingerprint !== fingerprintOf(spec);
  };
  return plan
    .filter(({ status, verification }) => status === 'completed' && verification === 'passed')
    .flatMap(({ id, evidence }) => evidence.map((seen) => ({ ...seen, todoId: id })))
    .filter(({ check, fingerprint }) => isStale(check, fingerprint));
}

/** Files that say what is checked and differ from the human's message: told here; they count from the next one on (V2). */
export function editedSources({ sources = [] }: Pick<Policy, 'sources'>): string[] {
  // The boxes of a plan file are no change: we write them.
  const edited = sources.filter(({ path, digest, kind }) => digest !== digestFile(path, kind));
  return edited.map(({ path }) => path);
}

/** At the terminal of a run, or by `untildone approve` from anywhere. */
export interface HumanAnswer {
  readonly approved: boolean;
  readonly reason: string;
}

/** How far back answers are looked for among the results of other checks. */
const remembered = 1000;

/** An answer holds for the state of the files that it was given for, as any evidence does. */
export async function humanFinding(
  spec: HumanCheck,
  { session, fingerprint }: { readonly session: Session; readonly fingerprint: string | null },
  { store, clock, askHuman }: Pick<CheckerOptions, 'store' | 'clock' | 'askHuman'>,
): Promise<Finding> {
  const rows = await store.evidence(session.id, remembered);
  const answers = rows.filter(({ human, check }) => human === true && check === spec.id);
  const known = answers.find((row) => row.fingerprint === fingerprint);
  if (known !== undefined && fingerprint !== null) return known;
  const answer = (await askHuman?.(spec.question)) ?? null;
  if (answer === null) {
    const sentence = `Waits for a human to approve: ${spec.question}`;
    return { ...unrun(spec.id, clock.now()), fingerprint, result: 'waiting', sentence };
  }
  const row = humanEvidence(spec, session.id, fingerprint, answer, clock.now());
  await store.record({ evidence: [row] });
  return row;
}

export function humanEvidence(
  spec: HumanCheck,
  sessionId: string,
  fingerprint: string | null,
  { approved, reason }: HumanAnswer,
  at: number,
): EvidenceRow {
  const result = approved ? 'passed' : 'failed';
  const sentence = `A human ${approved ? 'approved' : 'said no'}: ${spec.question}`;
  const seen = { ...unrun(spec.id, at), result, sentence, tail: reason, fingerprint } as const;
  return { ...seen, sessionId, todoId: null, human: true };
}

/** A result without a run: nothing was started, nothing took time. */
function unrun(check: string, at: number) {
  return { check, flaky: false, exitCode: null, milliseconds: 0, tail: '', timedOut: false, at };
}

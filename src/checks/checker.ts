// Runs the checks that the engine asks for, through the queue of a folder: askers share
// runs, and one runner, which outlives the process that started it, reports to all of
// them. It decides nothing: results are events (V1, V2).
import { setTimeout as sleep } from 'node:timers/promises';
import type { HumanCheck } from '../core/check-specs.ts';
import type { EventOf } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { type State, spokeAt } from '../core/state.ts';
import type { EngineOptions } from '../engine/engine.ts';
import type {
  CheckAsker,
  Checker,
  CheckFinding,
  CheckRun,
  EvidenceRow,
} from '../engine/host.ts';
import { digestFile, type Environment, frozenPolicy } from '../engine/policy.ts';
import { findProgram, startProgram } from '../engine/start-program.ts';
import { sha256 } from '../engine/system.ts';
import {
  fingerprintsIn,
  type ListedFile,
  type ListingOptions,
  listWorkspace,
  lookAtFiles,
} from './fingerprint.ts';
import { type FrozenIgnoreRules, freezeIgnoreRules } from './git.ts';
import { processVariable, sessionVariable } from './process.ts';
import { couldNotStart, runCheckTwice } from './run-check.ts';

type Services = Pick<EngineOptions, 'store' | 'clock' | 'identifiers'>;

/** What a checker needs, and whom it reports to. */
export interface CheckerOptions extends Services {
  /** Starts a process that works through the queue as this holder of its lease. */
  readonly startRunner: (directory: string, holder: string) => void;
  /** When it aborts, waiting ends, and so do the runs that nobody else waits for. */
  readonly signal: () => AbortSignal;
  /** Null: no human is there, and `untildone approve` answers later. */
  readonly askHuman?: ((question: string) => Promise<HumanAnswer | null>) | undefined;
  /** `todoId` is null for the goal and for several todos. */
  readonly onStarted?: (check: string, todoId: string | null) => void;
  readonly onResult?: (
    finding: Omit<Finding, 'fingerprint'>,
    todoId: string | null,
  ) => void;
  readonly onEdited?: (paths: readonly string[]) => void;
}

type Session = Readonly<{ sessionId: string; directory: string }>;

/**
 * How long a look at the workspace may take. A folder that takes longer has no
 * fingerprint, and tool calls count instead.
 */
export const fingerprintMs = 5000;
const shortestPollMs = 20;
const longestPollMs = 250;
/** A listing is used again for this long; after it, somebody may have written. */
const freshMs = 2000;
/** How many newly ignored files are reported; the outcome names a few of them. */
const mostTold = 100;

/** Creates the checker of one process. */
export function createChecker(options: CheckerOptions) {
  const { store, clock, identifiers, onResult } = options;
  const base = () => ({ id: identifiers.next(), at: clock.now() });
  let keptListing:
    | (Session & { readonly listed: ListedFile; readonly at: number })
    | null = null;

  async function listingFor(
    isStop: boolean,
    { sessionId, directory }: Session,
    { rules }: FrozenIgnoreRules,
  ) {
    const known = keptListing;
    keptListing = null;
    const isSame = known?.sessionId === sessionId && known.directory === directory;
    const isFresh = isStop && isSame && clock.now() - known.at <= freshMs;
    return isFresh && known.listed.ok
      ? known.listed
      : listWorkspace(directory, { rules });
  }

  async function enqueueChecks(directory: string, questions: readonly CheckQuestion[]) {
    const { runs, start } = await askForChecks({ ...options, directory }, questions);
    if (start !== null) options.startRunner(directory, start);
    return runs;
  }

  /** Waits until the run has ended. A run without a finding was cancelled. */
  async function waitForRun({ sessionId, directory }: Session, id: string) {
    const signal = options.signal();
    for (let wait = shortestPollMs; ; wait = Math.min(wait * 1.5, longestPollMs)) {
      const [run] = await store.checkRuns({ id });
      if (run === undefined || run.endedAt !== null) return run;
      if (signal.aborted) {
        await cancelChecks({ ...options, directory }, sessionId);
        return run;
      }
      // A runner may have died, so another one is started.
      if (wait === longestPollMs) await enqueueChecks(directory, []);
      // Safe: the next look at the run tells how to go on.
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  const run: Checker['run'] = async (session, { checks, stop }, report) => {
    const { id: sessionId, work, descriptor } = session;
    const final = stop !== null;
    // A policy that was edited in the store counts for nothing, so all checks fail.
    const policy: Partial<Policy> = (await frozenPolicy(store, session)) ?? {};
    const folder = { sessionId, directory: descriptor.directory ?? process.cwd() };
    const frozen = freezeIgnoreRules(policy, spokeAt(session));
    const listed = await listingFor(final, folder, frozen);
    const fingerprintOf = fingerprintsIn(listed, frozen.exclude);
    // At a stop, a call that never ended, such as a refused one, does not run any more.
    const writes = final || work.started === work.writes ? work.writes : null;
    const askersByCheck = new Map<string, CheckAsker[]>();
    const stale = final ? staleTodos(session, policy, fingerprintOf) : [];
    for (const { todoId, check } of [...checks, ...stale]) {
      askersByCheck.set(check, [
        ...(askersByCheck.get(check) ?? []),
        { sessionId, final, writes, todoId },
      ]);
      if (!final)
        await report({ ...base(), sessionId, type: 'check-started', todoId, check });
    }
    const questions: CheckQuestion[] = [];
    for (const [check, askers] of askersByCheck) {
      options.onStarted?.(check, onlyTodo(askers));
      const spec = policy.checks?.[check];
      const fingerprint = spec === undefined ? null : fingerprintOf(spec);
      if (spec !== undefined && spec.kind !== 'human') {
        questions.push({ spec, askers, fingerprint, ...frozen });
        continue;
      }
      const sentence = `There is no check with the name "${check}" in the configuration.`;
      const finding: Finding = spec
        ? await humanFinding(spec, { sessionId, fingerprint }, options)
        : { ...unrun(check, clock.now()), fingerprint, result: 'failed', sentence };
      onResult?.(finding, onlyTodo(askers));
      for (const asker of askers)
        await report({
          ...finishedEvent(identifiers.next(), asker, finding),
          at: clock.now(),
        });
    }
    for (const id of questions.length === 0
      ? []
      : await enqueueChecks(folder.directory, questions)) {
      const ended = await waitForRun(folder, id);
      if (!ended?.finding) continue;
      const askers = ended.askers.filter((asker) => asker.sessionId === sessionId);
      onResult?.(withStartFailure(ended.finding), onlyTodo(askers));
      for (const event of eventsOf(ended, askers, ended.finding)) await report(event);
    }
    if (!final || options.signal().aborted) return;
    const edited = editedSources(policy);
    if (edited.length > 0) options.onEdited?.(edited);
    const hidden = listed.ok ? listed.hidden.slice(0, mostTold) : [];
    await report({ ...base(), sessionId, type: 'final-run-ended', stop, edited, hidden });
  };

  return {
    run,
    /**
     * Takes the fingerprint; null: there is none. The checks of a stop that is attempted
     * right after it use the same listing.
     */
    async look(
      session: Session,
      { rules, exclude }: Partial<FrozenIgnoreRules> = {},
      limits?: ListingOptions,
    ) {
      const listed = await listWorkspace(session.directory, { ...limits, rules });
      keptListing = { ...session, listed, at: clock.now() };
      return fingerprintsIn(listed, exclude)({ files: [] });
    },
  };
}

const onlyTodo = ([first, ...others]: readonly CheckAsker[]) =>
  others.length === 0 ? (first?.todoId ?? null) : null;

type FingerprintOf = ReturnType<typeof fingerprintsIn>;

/**
 * Completed todos whose checks passed on another state of the files: they run again
 * before a turn is done (V2).
 */
function staleTodos(
  { plan }: State,
  { checks = {} }: Partial<Policy>,
  fingerprintOf: FingerprintOf,
) {
  return plan
    .filter(
      ({ status, verification }) => status === 'completed' && verification === 'passed',
    )
    .flatMap(({ id, evidence }) => evidence.map((proof) => ({ ...proof, todoId: id })))
    .filter(({ check, fingerprint }) => {
      const spec = checks[check];
      return fingerprint === null || fingerprint !== (spec && fingerprintOf(spec));
    });
}

/**
 * The files of the policy that changed since the human's message. Ticked boxes of a plan
 * file are no change: we tick them ourselves.
 */
export function editedSources({ sources = [] }: Pick<Policy, 'sources'>) {
  return sources.flatMap(({ path, digest, kind }) =>
    digest === digestFile(path, kind) ? [] : [path],
  );
}

type FinishedEvent = EventOf<'check-finished'>;
type Finding = Omit<EvidenceRow, 'result' | 'sessionId' | 'todoId'> &
  Pick<FinishedEvent, 'result'>;
type AnswerFor = Pick<EvidenceRow, 'sessionId' | 'fingerprint'>;
/** What a human said to a question; `reason` is in their words, or empty. */
export type HumanAnswer = Readonly<{ approved: boolean; reason: string }>;

const mostRows = 1000;

/**
 * Asks the human, or takes an earlier answer: it holds for the state of the files that it
 * was given for.
 */
export async function humanFinding(
  spec: HumanCheck,
  answerFor: AnswerFor,
  { store, clock, askHuman }: Pick<CheckerOptions, 'store' | 'clock' | 'askHuman'>,
): Promise<Finding> {
  const { sessionId, fingerprint } = answerFor;
  const rows = await store.evidence(sessionId, mostRows);
  const known = rows.find(
    (row) => row.human && row.check === spec.id && row.fingerprint === fingerprint,
  );
  if (known !== undefined && fingerprint !== null) return known;
  const answer = await askHuman?.(spec.question);
  if (!answer) {
    const sentence = `Waits for a human to approve: ${spec.question}`;
    return { ...unrun(spec.id, clock.now()), fingerprint, result: 'waiting', sentence };
  }
  const row = humanEvidence(spec, answerFor, answer, clock.now());
  await store.record({ evidence: [row] });
  return row;
}

/** An answer of a human as a row of evidence. */
export function humanEvidence(
  spec: HumanCheck,
  answerFor: AnswerFor,
  answer: HumanAnswer,
  at: number,
) {
  const { approved, reason: tail } = answer;
  const sentence = `A human ${approved ? 'approved' : 'said no'}: ${spec.question}`;
  const outcome = {
    result: approved ? 'passed' : 'failed',
    sentence,
    tail,
    todoId: null,
    human: true,
  } as const;
  return { ...unrun(spec.id, at), ...answerFor, ...outcome };
}

function unrun(check: string, at: number) {
  return {
    check,
    flaky: false,
    exitCode: null,
    milliseconds: 0,
    tail: '',
    timedOut: false,
    at,
  };
}

/**
 * A check to be run and who wants it. A fingerprint of null is unknown, so nobody can
 * share the run.
 */
export type CheckQuestion = Pick<CheckRun, 'spec' | 'askers' | 'exclude' | 'rules'> &
  Pick<EvidenceRow, 'fingerprint'>;
/** The queue of one folder, and what is needed to change it. */
export type QueuePlace = Services & Pick<Session, 'directory'>;
type QueueRunner = Omit<QueuePlace, 'identifiers'> &
  Readonly<{ holder: string; environment: Environment }>;

/** A runner that is silent for this long is replaced, and its run starts again. */
const runnerLeaseMs = 15_000;

function leaseOf({ clock, directory, holder }: Omit<QueueRunner, 'environment'>) {
  const now = clock.now();
  return { name: `checks ${directory}`, holder, now, until: now + runnerLeaseMs };
}

/**
 * Puts checks into the queue; returns the runs, and the holder of a runner that has to be
 * started (null: one is at work). A stop does not share the run of a claim, whose agent
 * may still write (V2); a claim shares both kinds (M8).
 */
export function askForChecks(place: QueuePlace, questions: readonly CheckQuestion[]) {
  const { store, clock, identifiers, directory } = place;
  const holder = identifiers.next();
  return store.changeChecks(
    directory,
    leaseOf({ ...place, holder }),
    ({ active, holds }) => {
      const runs = questions.map(
        ({ spec, askers, fingerprint: before, exclude, rules }): CheckRun => {
          const state = before ?? identifiers.next();
          const keyOf = (final: boolean) =>
            sha256(JSON.stringify([directory, spec, exclude, state, final]));
          const finalKey = keyOf(true);
          const key = askers.some(({ final }) => final) ? finalKey : keyOf(false);
          const shared = active.find((run) => run.key === key || run.key === finalKey);
          if (shared !== undefined)
            return { ...shared, askers: joinAskers(shared.askers, askers) };
          const runFacts = {
            id: identifiers.next(),
            key,
            directory,
            spec,
            exclude,
            rules,
            before,
            askers,
          };
          const notEnded = { startedAt: null, endedAt: null, finding: null };
          return { ...runFacts, state: 'asked', askedAt: clock.now(), ...notEnded };
        },
      );
      return {
        runs,
        result: { runs: runs.map(({ id }) => id), start: holds ? holder : null },
      };
    },
  );
}

/**
 * An asker that asked at a stop and asks again before the run ends still counts as
 * stopped.
 */
function joinAskers(known: readonly CheckAsker[], more: readonly CheckAsker[]) {
  const all = new Map<string, CheckAsker>();
  for (const asker of [...known, ...more]) {
    const key = JSON.stringify([asker.sessionId, asker.todoId]);
    if (asker.final || all.get(key)?.final !== true) all.set(key, asker);
  }
  return [...all.values()];
}

/**
 * Removes a session from its runs. A run that nobody else waits for is cancelled, even
 * while it runs.
 */
export function cancelChecks({ store, clock, directory }: QueuePlace, sessionId: string) {
  return store.changeChecks(directory, null, ({ active }) => {
    const runs = active.flatMap((run): CheckRun[] => {
      const askers = run.askers.filter((asker) => asker.sessionId !== sessionId);
      if (askers.length === run.askers.length) return [];
      const ended = { state: 'cancelled', endedAt: clock.now() } as const;
      return [{ ...run, ...(askers.length === 0 ? ended : {}), askers }];
    });
    return { runs, result: undefined };
  });
}

/** Starts a runner; false: its program does not exist here. */
export function startRunner(
  directory: string,
  holder: string,
  source: Environment,
  file = findRunner(),
) {
  // The runner serves all askers: it must not end together with the agent that asked
  // first.
  const {
    [sessionVariable]: _session,
    [processVariable]: _process,
    ...environment
  } = source;
  // If the program is missing, an asker sees that nobody took the lease, and starts
  // another runner.
  if (file !== null) startProgram(file, [directory, holder], environment, directory);
  return file !== null;
}

function findRunner() {
  const built = [
    './check-runner.js',
    './plugin/programs/check-runner.js',
    '../plugin/programs/check-runner.js',
  ];
  return findProgram(import.meta.url, built, [
    './check-runner.ts',
    '../programs/check-runner.ts',
  ]);
}

/**
 * Runs the folder's checks one after the other, until none is left or the lease is lost.
 */
export async function runQueue(runner: QueueRunner) {
  const { store, clock, directory } = runner;
  for (;;) {
    // The same transaction releases the lease, so that a later asker starts a new runner.
    const run = await store.changeChecks(
      directory,
      leaseOf(runner),
      ({ active: [next], holds }) => {
        if (!holds || next === undefined) return { result: null, release: holds };
        const started: CheckRun = { ...next, state: 'running', startedAt: clock.now() };
        return { result: started, runs: [started] };
      },
    );
    if (run === null) return;
    await performRun(runner, run);
  }
}

const watchMs = 500;

/** Runs one check. It stays unfinished if it was cancelled or the lease was lost. */
async function performRun(runner: QueueRunner, run: CheckRun) {
  const { store, clock, directory, environment } = runner;
  const ending = new AbortController();
  const { signal } = ending;
  const renewLease = async () => {
    const isWanted = await store.changeChecks(
      directory,
      leaseOf(runner),
      ({ active, holds }) => ({
        result: holds && active.some(({ id }) => id === run.id),
      }),
    );
    if (!isWanted) ending.abort();
  };
  // Safe: a busy store is asked again; the lease is long enough.
  const watch = setInterval(() => void renewLease().catch(() => {}), watchMs);
  // The runner has a mark of its own: when the agent's session is resumed, processes with
  // the agent's mark are ended.
  const session = `check of ${run.askers[0]?.sessionId ?? 'nobody'}`;
  const readBaseline = (key: string) => store.policy(key);
  const context = {
    directory,
    signal,
    environment,
    now: clock.now,
    session,
    readBaseline,
  };
  try {
    const checkResult = await runCheckTwice(run.spec, context);
    if (signal.aborted) return;
    const fingerprintOf = await lookAtFiles(directory, run);
    const fingerprints = {
      after: fingerprintOf(run.spec),
      tree: fingerprintOf({ files: [] }),
    };
    if (!signal.aborted)
      await finishRun(runner, run.id, { ...checkResult, ...fingerprints });
  } finally {
    clearInterval(watch);
  }
}

function finishRun(
  { store, clock, directory }: QueueRunner,
  id: string,
  finding: CheckFinding,
) {
  return store.changeChecks(directory, null, ({ active }) => {
    const run = active.find((one) => one.id === id);
    if (run === undefined) return { result: undefined };
    const finished: CheckRun = {
      ...run,
      state: 'finished',
      endedAt: clock.now(),
      finding,
    };
    const events = eventsOf(run, run.askers, finding);
    const { after: _, tree: __, ...checkResult } = finding;
    const rowOf = ({ sessionId, todoId, fingerprint }: FinishedEvent) => ({
      ...checkResult,
      sessionId,
      todoId,
      fingerprint,
    });
    const evidence = events.map(rowOf);
    return { result: undefined, runs: [finished], evidence, events };
  });
}

/**
 * The events of a run. They are always the same, whether the runner or an asker reports
 * them first.
 */
function eventsOf(
  { id, before }: CheckRun,
  askers: CheckRun['askers'],
  finding: CheckFinding,
) {
  return askers.map((asker) => {
    // After a stop, only the check itself can have written, and that does not void its
    // result. Otherwise a result counts only if the files did not change.
    const fingerprint = asker.final || before === finding.after ? finding.after : null;
    const eventId = `${id} ${asker.todoId ?? 'goal'} ${asker.sessionId}`;
    return {
      ...finishedEvent(eventId, asker, { ...withStartFailure(finding), fingerprint }),
      tree: finding.tree,
    };
  });
}

/**
 * Rows of evidence know passed and failed. Sessions and people hear of a third case: the
 * check could not start.
 */
function withStartFailure(finding: CheckFinding): Omit<Finding, 'fingerprint'> {
  return couldNotStart(finding) ? { ...finding, result: 'cannot-start' } : finding;
}

function finishedEvent(id: string, asker: CheckAsker, finding: Finding): FinishedEvent {
  const { check, result, flaky, fingerprint, at } = finding;
  const tail =
    result === 'failed' || result === 'cannot-start'
      ? `${finding.sentence}\n${finding.tail}`.trim()
      : null;
  return {
    ...asker,
    id,
    at,
    type: 'check-finished',
    check,
    result,
    flaky,
    fingerprint,
    tail,
  };
}

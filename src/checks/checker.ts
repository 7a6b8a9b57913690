// Gets the checks run that the engine asks for: by the queue of the folder, whose runner outlives this process, so
// that others share its runs and nothing is lost when a host ends us. It decides nothing: results are events (V1, V2).
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckSpec, HumanCheck } from '../core/check-spec.ts';
import type { Policy } from '../core/config/policy.ts';
import type { Event } from '../core/events.ts';
import type { Session } from '../core/session.ts';
import type { CheckAsker, CheckRun, CheckVerdict, EvidenceRow } from '../engine/check-queue.ts';
import { digestFile, digestPlanFile } from '../engine/digest-file.ts';
import type { Checker } from '../engine/host.ts';
import { policyKey } from '../engine/policies.ts';
import type { Store } from '../engine/store.ts';
import { type FingerprintOf, lookAtFiles } from './fingerprint.ts';
import {
  askForChecks,
  type CheckQuestion,
  cancelChecks,
  checkFinishedEvent,
  type QueuePlace,
  reviveQueue,
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
  /** Told of every result, for the human to see. */
  readonly onResult?: (verdict: Omit<Verdict, 'fingerprint'>, todoId: string | null) => void;
  /** Told when files that say what is checked were changed since the human's message. */
  readonly onEdited?: (paths: readonly string[]) => void;
}

/** What came of a check that needed no run. */
export interface Verdict extends Omit<CheckVerdict, 'result' | 'before' | 'after'> {
  readonly result: CheckVerdict['result'] | 'waiting';
  readonly fingerprint: string | null;
}

/** Between two looks at a run: short at first, because most checks that are waited for are. */
const shortestPollMs = 20;
const longestPollMs = 250;

type Report = (event: Event) => Promise<void>;

export function createChecker(options: CheckerOptions): Checker {
  const { store, clock, identifiers } = options;

  async function ask(
    session: Session,
    asked: Map<string, CheckAsker[]>,
    look: Look,
    report: Report,
  ): Promise<void> {
    const questions: CheckQuestion[] = [];
    for (const [check, askers] of asked) {
      options.onStarted?.(check, onlyTodo(askers));
      const spec = look.policy.checks?.[check];
      const fingerprint = spec === undefined ? null : look.fingerprintOf(spec);
      if (spec === undefined) await reportEach(askers, unknownCheck(check, clock.now()), report);
      else if (spec.kind === 'human')
        await reportEach(askers, await humanVerdict(spec, { session, fingerprint }, options), report);
      else questions.push({ spec, askers, fingerprint, exclude: look.policy.exclude ?? [] });
    }
    if (questions.length === 0) return;
    const place = { ...options, directory: look.directory };
    const { runs, start } = await askForChecks(place, questions);
    if (start !== null) options.startRunner(look.directory, start);
    for (const id of runs) {
      const run = await waitForRun(place, session, id);
      if (run === null || run.verdict === null) continue;
      const own = run.askers.filter(({ sessionId }) => sessionId === session.id);
      options.onResult?.(run.verdict, onlyTodo(own));
      for (const asker of own) await report(checkFinishedEvent(run, asker, run.verdict));
    }
  }

  /** null: it was cancelled. */
  async function waitForRun(place: QueuePlace, session: Session, id: string): Promise<CheckRun | null> {
    const signal = options.signal();
    for (let wait = shortestPollMs; ; wait = Math.min(wait * 1.5, longestPollMs)) {
      const run = await store.read(async (reader) => reader.checkRun(id));
      if (run === null || run.state === 'cancelled') return null;
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

  async function reportEach(askers: readonly CheckAsker[], verdict: Verdict, report: Report): Promise<void> {
    options.onResult?.(verdict, onlyTodo(askers));
    const { check, result, flaky, fingerprint } = verdict;
    const tail = result === 'failed' ? `${verdict.sentence}\n${verdict.tail}`.trim() : null;
    for (const asker of askers)
      await report({
        ...{ id: identifiers.next(), at: clock.now(), type: 'check-finished' },
        ...asker,
        ...{ check, result, flaky, tail, fingerprint },
      });
  }

  return {
    async run(session, { checks, stop }, report) {
      const look = await lookAt(options, session);
      const base = () => ({ id: identifiers.next(), sessionId: session.id, at: clock.now() });
      const { started, writes } = session.work;
      const asker = (todoId: string | null): CheckAsker => ({
        sessionId: session.id,
        todoId,
        final: stop !== null,
        // A call that was begun and never ended, such as a refused one, does not run on after a stop.
        writes: stop !== null || started === writes ? writes : null,
      });
      const asked = new Map<string, CheckAsker[]>();
      const add = (todoId: string | null, check: string): void => {
        asked.set(check, [...(asked.get(check) ?? []), asker(todoId)]);
      };
      for (const { todoId, check } of checks) {
        add(todoId, check);
        if (stop === null) await report({ ...base(), type: 'check-started', todoId, check });
      }
      if (stop !== null)
        for (const { todoId, check } of await staleTodos(store, session, look)) add(todoId, check);
      await ask(session, asked, look, report);
      if (stop === null || options.signal().aborted) return;
      const edited = editedSources(look.policy);
      if (edited.length > 0) options.onEdited?.(edited);
      await report({ ...base(), type: 'final-run-ended', stop, edited });
    },
  };
}

function onlyTodo(askers: readonly CheckAsker[]): string | null {
  return askers.length === 1 ? (askers[0]?.todoId ?? null) : null;
}

/** What a run of checks goes by: the human's snapshot, the folder, and the state of its files. */
interface Look {
  readonly policy: Pick<Policy, 'checks' | 'exclude' | 'sources'>;
  readonly directory: string;
  readonly fingerprintOf: FingerprintOf;
}

async function lookAt({ store, hash }: CheckerOptions, session: Session): Promise<Look> {
  const key = session.policyHash;
  const text = key === null ? null : await store.read(async (reader) => reader.policy(key));
  // A text that was edited in the store says nothing of what the human wants: then no check is known, and all fail.
  const isWhole = text !== null && policyKey(text, hash) === key;
  const policy: Look['policy'] = isWhole ? (JSON.parse(text) as Policy) : {};
  const directory = session.descriptor.directory ?? process.cwd();
  return { policy, directory, fingerprintOf: await lookAtFiles(directory, policy.exclude) };
}

/** Checks of todos that passed on another state of the workspace: they are run again before a turn is done (V2). */
async function staleTodos(
  store: Store,
  session: Session,
  { policy, fingerprintOf }: Look,
): Promise<readonly { readonly todoId: string; readonly check: string }[]> {
  if (session.counts.passed === 0) return [];
  const todos = await store.read(async (reader) => reader.todosOfPlan(session.planId));
  const isStale = (check: string, fingerprint: string | null): boolean => {
    const spec = policy.checks?.[check];
    return spec === undefined || fingerprint === null || fingerprint !== fingerprintOf(spec);
  };
  return todos
    .filter(({ status, verification }) => status === 'completed' && verification === 'passed')
    .flatMap(({ id, evidence }) =>
      evidence
        .filter(({ check, fingerprint }) => isStale(check, fingerprint))
        .map(({ check }) => ({ todoId: id, check })),
    );
}

/**
 * Which of the files that say what is checked differ from what they were at the human's message (V2). What they say now
 * counts from the next message on; here it is only told. The boxes of a plan file are no change: we write them.
 */
export function editedSources({ sources = [] }: Pick<Policy, 'sources'>): string[] {
  return sources
    .filter(
      ({ path, digest, kind }) => digest !== (kind === 'plan' ? digestPlanFile(path) : digestFile(path)),
    )
    .map(({ path }) => path);
}

/** What a human said to a check: at the terminal of a run, or by `untildone approve` from anywhere. */
export interface HumanAnswer {
  readonly approved: boolean;
  /** Why not, in the human's words. */
  readonly reason: string;
}

/** How far back answers are looked for among the results of other checks. */
const remembered = 1000;

/** An answer holds for the state of the files that it was given for, as any evidence does. */
export async function humanVerdict(
  spec: HumanCheck,
  { session, fingerprint }: { readonly session: Session; readonly fingerprint: string | null },
  { store, clock, askHuman }: Pick<CheckerOptions, 'store' | 'clock' | 'askHuman'>,
): Promise<Verdict> {
  const rows = await store.read(async (reader) => reader.evidence(session.id, remembered));
  const known = rows.find(
    (row) => row.human === true && row.check === spec.id && row.fingerprint === fingerprint,
  );
  if (known !== undefined && fingerprint !== null) return known;
  const answer = (await askHuman?.(spec.question)) ?? null;
  if (answer === null) {
    const sentence = `Waits for a human to approve: ${spec.question}`;
    return { ...unrun(spec, clock.now()), fingerprint, result: 'waiting', sentence };
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
  { approved, reason }: HumanAnswer,
  at: number,
): EvidenceRow {
  const result = approved ? 'passed' : 'failed';
  const sentence = `A human ${approved ? 'approved' : 'said no'}: ${spec.question}`;
  return {
    ...unrun(spec, at),
    ...{ result, sentence, tail: reason, fingerprint },
    ...{ sessionId, todoId: null, human: true },
  };
}

function unknownCheck(id: string, at: number): Verdict {
  const sentence = `There is no check with the name "${id}" in the configuration.`;
  return { ...unrun({ id }, at), fingerprint: null, result: 'failed', sentence };
}

/** A result without a run: nothing was started, nothing took time. */
function unrun({ id }: Pick<CheckSpec, 'id'>, at: number) {
  return { check: id, flaky: false, exitCode: null, milliseconds: 0, tail: '', timedOut: false, at } as const;
}

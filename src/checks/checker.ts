// Gets the checks run that the engine asks for: by the queue of the folder, whose runner outlives this process, so
// that others share its runs and nothing is lost when a host ends us. It decides nothing: results are events (V1, V2).
import type { CheckSpec } from '../core/check-spec.ts';
import type { Policy } from '../core/config/policy.ts';
import type { Event } from '../core/events.ts';
import type { Session } from '../core/session.ts';
import type { CheckAsker, CheckRun, CheckVerdict } from '../engine/check-queue.ts';
import type { Checker } from '../engine/host.ts';
import { policyKey } from '../engine/policies.ts';
import { editedSources } from './edited-sources.ts';
import { type HumanAnswers, humanVerdict } from './human-answers.ts';
import {
  askForChecks,
  type CheckQuestion,
  cancelChecks,
  type QueuePlace,
  reviveQueue,
} from './queue/ask-for-checks.ts';
import { checkFinishedEvent } from './queue/check-event.ts';
import { type FingerprintOf, lookAtFiles } from './queue/check-fingerprint.ts';
import { staleTodos } from './stale-todos.ts';

export interface CheckerOptions extends Omit<QueuePlace, 'directory'> {
  /** Starts someone who works through the queue of the folder, as this holder of its lease. */
  readonly startRunner: (directory: string, holder: string) => void;
  /** Ends the waiting, and with it the runs that nobody else waits for. */
  readonly signal: () => AbortSignal;
  /** Asks a human who is there; null: nobody is, and the question waits for `approve`. */
  readonly askHuman?: HumanAnswers['ask'];
  /** Told of every check that is asked for, before it runs. `todoId` is null for the goal and for several todos. */
  readonly onStarted?: (check: string, todoId: string | null) => void;
  /** Told of every result, for the human to see. */
  readonly onResult?: (verdict: Omit<Verdict, 'fingerprint'>, todoId: string | null) => void;
  /** Told when files that say what is checked were changed since the human's message. */
  readonly onEdited?: (paths: readonly string[]) => void;
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
      if (spec === undefined) await reportEach(askers, unknownCheck(check), report);
      else if (spec.kind === 'human') {
        const state = { session, fingerprint: look.fingerprintOf(spec) };
        await reportEach(
          askers,
          await humanVerdict(spec, state, { store, clock, ask: options.askHuman }),
          report,
        );
      } else questions.push(question(spec, askers, look));
    }
    if (questions.length === 0) return;
    const place = { ...options, directory: look.directory };
    const { runs, start } = await askForChecks(place, questions);
    if (start !== null) options.startRunner(look.directory, start);
    for (const id of runs) await reportRun(place, session, id, report);
  }

  async function reportRun(place: QueuePlace, session: Session, id: string, report: Report): Promise<void> {
    const run = await waitForRun(place, session, id);
    if (run === null || run.verdict === null) return;
    const own = run.askers.filter(({ sessionId }) => sessionId === session.id);
    options.onResult?.(run.verdict, onlyTodo(own));
    for (const asker of own) await report(checkFinishedEvent(run, asker, run.verdict));
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
      await pause(wait, signal);
    }
  }

  async function reportEach(askers: readonly CheckAsker[], verdict: Verdict, report: Report): Promise<void> {
    options.onResult?.(verdict, onlyTodo(askers));
    for (const { sessionId, todoId, final, writes } of askers) {
      const { check, result, flaky, fingerprint } = verdict;
      const tail = result === 'failed' ? `${verdict.sentence}\n${verdict.tail}`.trim() : null;
      const base = { id: identifiers.next(), sessionId, at: clock.now() };
      await report({
        ...base,
        type: 'check-finished',
        todoId,
        check,
        result,
        flaky,
        tail,
        fingerprint,
        final,
        writes,
      });
    }
  }

  function unknownCheck(check: string): Verdict {
    const sentence = `There is no check with the name "${check}" in the configuration.`;
    return { ...noVerdict, check, result: 'failed', sentence, at: clock.now() };
  }

  function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done, { once: true });
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

/** What a run of checks goes by: the human's snapshot, the folder, and the state of its files. */
export interface Look {
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

function onlyTodo(askers: readonly CheckAsker[]): string | null {
  return askers.length === 1 ? (askers[0]?.todoId ?? null) : null;
}

function question(
  spec: CheckSpec,
  askers: readonly CheckAsker[],
  { fingerprintOf, policy }: Look,
): CheckQuestion {
  return { spec, askers, fingerprint: fingerprintOf(spec), exclude: policy.exclude ?? [] };
}

/** What came of a check that needed no run. */
export interface Verdict extends Omit<CheckVerdict, 'result' | 'before' | 'after'> {
  readonly result: CheckVerdict['result'] | 'waiting';
  readonly fingerprint: string | null;
}

const noVerdict = {
  flaky: false,
  sentence: '',
  exitCode: null,
  milliseconds: 0,
  tail: '',
  timedOut: false,
  fingerprint: null,
} as const;

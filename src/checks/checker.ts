// Runs the checks that the engine asks for and reports each result as an event (V1, V2). A failed check is run once
// more: a pass then is flaky, flagged, and at best claimed. The fingerprint is taken after the check, so that files
// which the check itself writes do not void it.
import type { CheckResult, CheckSpec } from '../core/check-spec.ts';
import type { CheckFinished, Event } from '../core/events.ts';
import type { Session } from '../core/session.ts';
import type { Clock, Identifiers } from '../ports/clock.ts';
import type { Checker } from '../ports/host.ts';
import { fingerprintWorkspace } from './fingerprint.ts';
import { runCheck } from './run-check.ts';

export interface CheckerOptions {
  /** The checks of the policy that holds, by id. */
  readonly checks: Readonly<Record<string, CheckSpec>>;
  /** Ids of the checks of a todo, by its id. */
  readonly checksOfTodo: (todoId: string) => Promise<readonly string[]>;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly signal: () => AbortSignal;
  /** Conditions that the system itself adds to the goal, by id: the protected paths. */
  readonly ownChecks?: Readonly<
    Record<string, () => Promise<Pick<CheckResult, 'result' | 'sentence' | 'tail'>>>
  >;
  /** Told of every run of a check, for the human to see. */
  readonly onResult?: (result: CheckResult, todoId: string | null) => void;
}

interface Verdict {
  readonly passed: boolean;
  readonly flaky: boolean;
  readonly tail: string | null;
}

export function createChecker(options: CheckerOptions): Checker {
  const { clock, identifiers } = options;

  async function once(id: string, session: Session, todoId: string | null): Promise<CheckResult> {
    const spec = options.checks[id];
    const own = options.ownChecks?.[id];
    const result =
      own !== undefined
        ? { ...unknownCheck(id, clock.now()), ...(await own()) }
        : spec === undefined
          ? unknownCheck(id, clock.now())
          : await runCheck(spec, {
              directory: options.directory,
              signal: options.signal(),
              environment: options.environment,
              now: clock.now,
              session: session.id,
            });
    options.onResult?.(result, todoId);
    return result;
  }

  async function prove(id: string, session: Session, todoId: string | null): Promise<Verdict> {
    const first = await once(id, session, todoId);
    if (first.result === 'passed') return { passed: true, flaky: false, tail: null };
    const second = options.signal().aborted ? first : await once(id, session, todoId);
    const tail = `${second.sentence}\n${second.tail}`.trim();
    return second.result === 'passed'
      ? { passed: true, flaky: true, tail: null }
      : { passed: false, flaky: false, tail };
  }

  /** A todo with several checks passes when all of them do; the first failure is what the agent is shown. */
  async function proveAll(ids: readonly string[], session: Session, todoId: string | null): Promise<Verdict> {
    let flaky = false;
    for (const id of ids) {
      const verdict = await prove(id, session, todoId);
      if (!verdict.passed) return verdict;
      flaky ||= verdict.flaky;
    }
    return { passed: true, flaky, tail: null };
  }

  return {
    async run(session, checks, _final, report) {
      for (const { todoId, check } of checks) {
        const base = () => ({ id: identifiers.next(), sessionId: session.id, at: clock.now() });
        const started: Event = { ...base(), type: 'check-started', todoId, check };
        await report(started);
        const ids = todoId === null ? [check] : await options.checksOfTodo(todoId);
        const verdict = await proveAll(ids, session, todoId);
        const seen = await fingerprintWorkspace(options.directory);
        const finished: CheckFinished = {
          ...base(),
          type: 'check-finished',
          todoId,
          check,
          result: verdict.passed ? 'passed' : 'failed',
          flaky: verdict.flaky,
          tail: verdict.tail,
          fingerprint: seen.ok ? seen.fingerprint : null,
        };
        await report(finished);
      }
    },
  };
}

/** A check that no policy knows cannot prove anything: it has failed, and says why. */
function unknownCheck(id: string, at: number): CheckResult {
  const sentence = `There is no check with the name "${id}" in the configuration.`;
  return {
    check: id,
    result: 'failed',
    sentence,
    exitCode: null,
    milliseconds: 0,
    tail: '',
    timedOut: false,
    at,
  };
}

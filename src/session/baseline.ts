// How things stood before the first model call (V1), for our own agent and for
// `openSession` alike.
import { couldNotStart, runCheck } from '../checks/run-check.ts';
import type { Draft, Event, EventOf } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { State } from '../core/state.ts';
import type { Clock } from '../engine/host.ts';
import type { Environment } from '../engine/policy.ts';
import { onAbort } from '../engine/system.ts';

type Seen = EventOf<'baseline-seen'>['checks'][number];

/** How a check stood before the work. */
export type Looked = Pick<Seen, 'result'> & Readonly<{ sentence: string }>;

/** Runs a check once; null: it was interrupted, or only a human could answer it. */
export type LookBefore = (check: string, signal: AbortSignal) => Promise<Looked | null>;

type Place = Readonly<{
  directory: string;
  environment: Environment;
  sessionId: string;
  clock: Clock;
}>;

export function createLookBefore(
  { checks = {} }: Pick<Policy, 'checks'>,
  place: Place,
): LookBefore {
  const { directory, environment, sessionId, clock } = place;
  // Not the mark of the agent, whose processes end when it is resumed.
  const context = {
    directory,
    environment,
    session: `check of ${sessionId}`,
    now: clock.now,
  };
  return async (id, signal) => {
    const spec = Object.hasOwn(checks, id) ? checks[id] : undefined;
    if (spec === undefined || spec.kind === 'human' || spec.kind === 'protected')
      return null;
    const seen = await runCheck(spec, { ...context, signal });
    const result = couldNotStart(seen) ? ('cannot-start' as const) : seen.result;
    return signal.aborted ? null : { result, sentence: seen.sentence };
  };
}

export type BaselineOptions = Readonly<{
  clock: Clock;
  settings: Pick<Settings, 'mode' | 'baselineSeconds'>;
  goalChecks(): readonly string[];
  state(): Promise<State>;
  record(event: Draft<Event>): Promise<unknown>;
  fingerprint(): Promise<string | null>;
  lookBefore: LookBefore | undefined;
  /** Ends the looking. */
  signal(): AbortSignal;
  onLooked?(check: string, looked: Looked): void;
  /** Without a word a slow check looks like an agent that thinks. */
  onSlow?(sentence: string): void;
}>;

/** Whoever waits longer wants to know what for. */
const slowMs = 1500;

export function createBaseline(options: BaselineOptions) {
  const { clock, settings, onLooked, onSlow } = options;
  const baseline = {
    take,
    /**
     * Before anything that could disturb a look that still runs, or be disturbed by it.
     * null: none does.
     */
    end: null as (() => Promise<void>) | null,
  };

  /**
   * Takes what is not known yet. The checks have `baselineSeconds` together: then none is
   * begun, and the one that runs goes on beside the agent until `end`.
   */
  async function take(): Promise<void> {
    const { baseline: known, plan, work } = await options.state();
    if (settings.mode !== 'enforce') return;
    const given = [...options.goalChecks(), ...plan.flatMap(({ checks }) => checks)];
    const unknown = [...new Set(given)].filter(
      (check) => !Object.hasOwn(known?.checks ?? {}, check),
    );
    const closed = new AbortController();
    const signal = AbortSignal.any([options.signal(), closed.signal]);
    const seconds = settings.baselineSeconds;
    const seen: Seen[] = [];
    const sentence = `Before the agent begins, each check is run once; at most ${seconds} s are spent on that.`;
    const cancelSlow = clock.wake(clock.now() + slowMs, () => onSlow?.(sentence));
    let isTimeUp = false;
    let isLooking = true;
    const looking = (async () => {
      // One after the other: they may use the same files.
      for (const check of unknown) {
        const looked =
          isTimeUp || signal.aborted ? null : await options.lookBefore?.(check, signal);
        if (!looked || signal.aborted) continue;
        onLooked?.(check, looked);
        seen.push({ check, result: looked.result });
      }
    })();
    const ended = () => {
      isLooking = false;
    };
    // Safe: a check that could not be looked at is not in the baseline, and then only the
    // files can show a change.
    const looked = looking.catch(() => {}).then(ended);
    await unlessOver(looked, clock, seconds * 1000, signal);
    cancelSlow();
    isTimeUp = true;
    const isLate = isLooking;
    // Files that the checks wrote are no work of the agent.
    const record = async (fingerprint: string | null) => {
      await options.record({
        type: 'baseline-seen',
        fingerprint,
        checks: seen.splice(0),
      });
    };
    if (known === null || seen.length > 0)
      await record(seen.length === 0 ? work.fingerprint : await options.fingerprint());
    if (!isLate) return;
    let ending: Promise<void> | null = null;
    const stop = async () => {
      closed.abort();
      await looked;
      await record(await options.fingerprint());
    };
    baseline.end = () => {
      ending ??= stop();
      return ending;
    };
  }

  return baseline;
}

function unlessOver(
  work: Promise<void>,
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
) {
  return new Promise<void>((resolve) => {
    const cancel = clock.wake(clock.now() + milliseconds, resolve);
    const stop = onAbort(signal, resolve);
    work.then(resolve).finally(() => {
      cancel();
      stop();
    });
  });
}

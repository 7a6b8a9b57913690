// How things stood before the first model call (V1): each check is run once, and the
// files are looked at.
import { couldNotStart, runCheck } from '../checks/run-check.ts';
import type { Draft, Event, EventOf } from '../core/events.ts';
import { ownValue } from '../core/schema.ts';
import type { Settings } from '../core/settings.ts';
import type { State } from '../core/state.ts';
import type { Clock } from '../engine/host.ts';
import { onAbort } from '../engine/system.ts';
import type { GoalSessionOptions } from './goal-session.ts';

type SeenCheck = EventOf<'baseline-seen'>['checks'][number];

/** How a check stood before the work. */
export type Looked = Pick<SeenCheck, 'result'> & Readonly<{ sentence: string }>;

type BaselineOptions = GoalSessionOptions &
  Readonly<{
    settings(): Pick<Settings, 'mode' | 'baselineSeconds'>;
    state(): Promise<State>;
    record(event: Draft<Event>): Promise<unknown>;
    fingerprint(): Promise<string | null>;
  }>;

/** A human who waits longer wants to know what for. */
const slowMs = 1500;

export function createBaseline(options: BaselineOptions) {
  const { clock, directory, environment, sessionId } = options;
  /** null: no look goes on beside the agent. */
  let endLook: (() => Promise<void>) | null = null;

  /** null: it was interrupted, or only a human could answer it. */
  async function runOnce(check: string, signal: AbortSignal): Promise<Looked | null> {
    const spec = ownValue(options.policy().checks ?? {}, check);
    if (spec === undefined || spec.kind === 'human' || spec.kind === 'protected')
      return null;
    // Not the mark of the agent, whose processes end when it is resumed.
    const session = `check of ${sessionId}`;
    const context = { directory, environment, session, now: clock.now, signal };
    const seen = await runCheck(spec, context);
    const result = couldNotStart(seen) ? 'cannot-start' : seen.result;
    return signal.aborted ? null : { result, sentence: seen.sentence };
  }

  /**
   * Takes what is not known yet. The checks have `baselineSeconds` together: then none is
   * begun, and the one that runs goes on beside the agent until `end`.
   */
  async function take(): Promise<void> {
    const { mode, baselineSeconds: seconds } = options.settings();
    if (mode !== 'enforce') return;
    const { baseline: known, plan, work } = await options.state();
    const given = [
      ...options.policy().goalChecks,
      ...plan.flatMap(({ checks }) => checks),
    ];
    const unknown = [...new Set(given)].filter(
      (check) => !Object.hasOwn(known?.checks ?? {}, check),
    );
    const closed = new AbortController();
    const signal = AbortSignal.any([options.signal(), closed.signal]);
    const seen: SeenCheck[] = [];
    let isTimeUp = false;
    let isLooking = true;
    async function look() {
      // One after the other: they may use the same files.
      for (const check of unknown) {
        const looked = isTimeUp || signal.aborted ? null : await runOnce(check, signal);
        if (looked === null) continue;
        options.onLooked?.(check, looked);
        seen.push({ check, result: looked.result });
      }
    }
    const sentence = `Before the agent begins, each check is run once; at most ${seconds} s are spent on that.`;
    const cancelSlow = clock.wake(clock.now() + slowMs, () => options.onNotice(sentence));
    // Safe: a check that could not be looked at is not in the baseline, and then only the
    // files can show a change.
    const looked = look()
      .catch(() => {})
      .then(() => {
        isLooking = false;
      });
    await unlessOver(looked, clock, seconds * 1000, signal);
    cancelSlow();
    isTimeUp = true;
    const isLate = isLooking;
    // Files that the checks wrote are no work of the agent.
    const record = async (fingerprint: string | null) => {
      const checks = seen.splice(0);
      await options.record({ type: 'baseline-seen', fingerprint, checks });
    };
    if (known === null || seen.length > 0)
      await record(seen.length === 0 ? work.fingerprint : await options.fingerprint());
    if (!isLate) return;
    const stop = async () => {
      closed.abort();
      await looked;
      await record(await options.fingerprint());
    };
    let ending: Promise<void> | null = null;
    endLook = () => (ending ??= stop());
  }

  return {
    take,
    /** Before anything that could disturb a look that still runs, or be disturbed by it. */
    end: async () => endLook?.(),
  };
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

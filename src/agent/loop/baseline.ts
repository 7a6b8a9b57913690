// How things stood before the first model call (V1): the checks that the human gave, each run once, and the workspace.
// What proves nothing new later is seen by it. It decides nothing.
import type { Looked, Run } from './run.ts';

/** Whoever waits longer wants to know what for. */
const slowMs = 1500;

/** Takes what is not known yet. The checks have `baselineSeconds` together; what is left goes on beside the agent. */
export async function takeBaseline(run: Run): Promise<() => Promise<void>> {
  const { baseline, plan, work } = await run.state();
  if (run.settings.mode !== 'enforce') return async () => {};
  const given = [...run.policy.goalChecks, ...plan.flatMap(({ checks }) => checks)];
  const unknown = [...new Set(given)].filter((check) => !Object.hasOwn(baseline?.checks ?? {}, check));
  const closed = new AbortController();
  const signal = AbortSignal.any([run.control.signal, run.control.stopping, closed.signal]);
  const seconds = run.settings.baselineSeconds;
  const timeUp = run.control.wait(run.clock.now() + seconds * 1000, () => null);
  const seen: (Pick<Looked, 'result'> & { check: string })[] = [];
  let isBeside = false;
  const record = async (checks: typeof seen, fingerprint: string | null) => {
    await run.record({ type: 'baseline-seen', fingerprint, checks });
  };
  // Without a word a slow check looks like an agent that thinks.
  const sentence = `Before the agent begins, each check is run once; at most ${seconds} s are waited for that.`;
  const tellSlow = run.clock.wake(run.clock.now() + slowMs, () => run.tell({ type: 'notice', sentence }));
  const looking = (async () => {
    // One after the other: they may use the same files.
    for (const check of unknown) {
      const looked = signal.aborted ? null : await run.lookBefore?.(check, signal);
      if (!looked || signal.aborted) continue;
      const { result, sentence } = looked;
      run.tell({ type: 'baseline', check, result, sentence: result === 'passed' ? '' : sentence });
      if (isBeside) await record([{ check, result }], null);
      else seen.push({ check, result });
    }
  })();
  // Safe: a check that could not be looked at is not in the baseline, and then only the files can show a change.
  const looked = looking.catch(() => {});
  await Promise.race([looked, timeUp]);
  tellSlow();
  isBeside = true;
  // Files that the checks wrote are no work of the agent.
  const fingerprint = seen.length === 0 ? work.fingerprint : await run.fingerprint();
  if (baseline === undefined || seen.length > 0) await record(seen, fingerprint);
  return async () => {
    closed.abort();
    await looked;
  };
}

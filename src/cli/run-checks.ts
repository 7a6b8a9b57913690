// What the system checks in a run: the human's checks, and that protected paths are as they were at the human's
// message (V1, V2). What runs and what comes of it is told as events; what follows from them is decided by the engine.
import type { CheckerOptions } from '../checks/checker.ts';
import { withIgnoreRules } from '../checks/git.ts';
import { protectPolicy } from '../checks/protected-paths.ts';
import { couldNotStart, runCheck } from '../checks/run-check.ts';
import { type CheckSpec, protectedPathsId } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { oneLine } from '../core/safe-text.ts';
import type { Store } from '../engine/store.ts';
import type { AgentSession } from './agent-session.ts';
import type { Io } from './io.ts';
import { openParts } from './open-runtime.ts';
import type { RunOutput } from './show/output.ts';

export async function prepareChecks(
  io: Io,
  store: Store,
  session: AgentSession,
  { emit, ask }: Pick<RunOutput, 'emit' | 'ask'>,
  signal: AbortSignal,
) {
  const base = () => ({ at: io.clock.now(), sessionId: session.sessionId });
  const notice = (sentence: string) => emit({ type: 'notice', ...base(), sentence });
  const spoken =
    session.goal === null ? session.policy : await withIgnoreRules(session.policy, session.directory, io.env);
  // A session that is taken up keeps the baseline that was taken at its first message.
  const prepared =
    session.goal === null || spoken.goalChecks.includes(protectedPathsId)
      ? { ok: true as const, policy: spoken }
      : await protectPolicy(store, spoken, session.directory);
  if (!prepared.ok) throw new UntildoneError('invalid-config', prepared.error);
  const watching: Partial<CheckerOptions> = {
    signal: () => signal,
    askHuman: ask ?? undefined,
    onStarted: (check, todoId) => emit({ type: 'check-started', ...base(), check, todoId }),
    onResult: ({ check, result, flaky, sentence, milliseconds, tail }, todoId) => {
      const why = result === 'passed' ? '' : sentence;
      const seen = { result, flaky, sentence: why, milliseconds, tail };
      emit({ type: 'check-ended', ...base(), check, todoId, ...seen });
    },
    onEdited: (paths) => {
      const files = paths.map((path) => oneLine(path, 200)).join(', ');
      notice(`${files} was changed since your message; what it says about checks counts once you accept it.`);
    },
  };
  const { checker } = openParts(io, store, { checker: watching });
  const { policy } = prepared;
  const specs: Readonly<Record<string, CheckSpec>> = policy.checks ?? {};
  const lookBefore = async (id: string, stopped: AbortSignal) => {
    const spec = specs[id];
    if (spec === undefined || spec.kind === 'human' || spec.kind === 'protected') return null;
    const { directory, sessionId } = session;
    // Not the mark of the agent, whose processes end when it is resumed.
    const place = { directory, environment: io.env, session: `check of ${sessionId}`, now: io.clock.now };
    const seen = await runCheck(spec, { ...place, signal: stopped });
    const result = couldNotStart(seen) ? ('cannot-start' as const) : seen.result;
    return stopped.aborted ? null : { result, sentence: seen.sentence };
  };
  return { policy, checker, lookBefore };
}

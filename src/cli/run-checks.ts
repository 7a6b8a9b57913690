// What the system checks in a run: the human's checks, and that protected paths are as they were at the human's
// message (V1, V2). What runs and what comes of it is told as events; what follows from them is decided by the engine.
import { createChecker } from '../checks/checker.ts';
import { protectPolicy } from '../checks/protected-paths.ts';
import { oneLine } from '../core/safe-text.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import type { AgentSession } from './agent-session.ts';
import { createRunnerStart } from './check-runner.ts';
import type { Io } from './io.ts';
import type { RunOutput } from './run-output/run-output.ts';

export async function prepareChecks(
  io: Io,
  store: Store,
  session: AgentSession,
  { emit, ask }: Pick<RunOutput, 'emit' | 'ask'>,
  signal: AbortSignal,
) {
  const base = () => ({ at: io.clock.now(), sessionId: session.sessionId });
  const notice = (sentence: string) => emit({ type: 'notice', ...base(), sentence });
  // Without a new message the snapshot of the last one holds, with the baseline that was taken then.
  const prepared =
    session.goal === null
      ? { ok: true as const, policy: session.policy }
      : await protectPolicy(store, session.policy, session.directory);
  if (!prepared.ok) throw new UntildoneError('invalid-config', prepared.sentence);
  const checker = createChecker({
    store,
    clock: io.clock,
    identifiers: createIdentifiers(io.clock),
    hash: sha256,
    startRunner: createRunnerStart(io, store),
    signal: () => signal,
    askHuman: ask ?? undefined,
    onStarted: (check, todoId) => emit({ type: 'check-started', ...base(), check, todoId }),
    onResult: ({ check, result, flaky, sentence, milliseconds }, todoId) => {
      const why = result === 'passed' ? '' : sentence;
      emit({ type: 'check-ended', ...base(), check, todoId, result, flaky, sentence: why, milliseconds });
    },
    onEdited: (paths) => {
      const files = paths.map((path) => oneLine(path, 200)).join(', ');
      notice(`${files} was changed since your message; what it says about checks counts from your next one.`);
    },
  });
  return { policy: prepared.policy, checker };
}

// What the system checks in a run: the human's checks, and that protected paths are as they were at the human's
// message (V1, V2). The results are shown as notices; what follows from them is decided by the engine.
import type { AgentEvent } from '../agent/agent-event.ts';
import { createChecker } from '../checks/checker.ts';
import { protectPolicy } from '../checks/protect-policy.ts';
import { oneLine } from '../core/safe-text.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import type { Store } from '../ports/store.ts';
import type { AgentSession } from './agent-session.ts';
import { askAtTerminal } from './ask-at-terminal.ts';
import { createRunnerStart } from './check-runner.ts';
import type { Io } from './io.ts';

export async function prepareChecks(
  io: Io,
  store: Store,
  session: AgentSession,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
) {
  const notice = (sentence: string) =>
    emit({ type: 'notice', at: io.clock.now(), sessionId: session.sessionId, sentence });
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
    askHuman: (question) => askAtTerminal(io, question),
    onResult: ({ check, result, flaky, sentence, milliseconds }) => {
      const words = flaky ? 'passed only when run again (flaky)' : result;
      const why = result === 'passed' ? '' : sentence;
      notice(`Check ${oneLine(check, 80)}: ${words} after ${milliseconds} ms. ${why}`.trim());
    },
    onEdited: (paths) => {
      const files = paths.map((path) => oneLine(path, 200)).join(', ');
      notice(`${files} was changed since your message; what it says about checks counts from your next one.`);
    },
  });
  return { policy: prepared.policy, checker };
}

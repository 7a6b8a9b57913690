// What the system checks in a run: the human's checks, and that protected paths are as they were at the human's
// message (V1, V2). The results are shown as notices; what follows from them is decided by the engine.
import type { AgentEvent } from '../agent/agent-event.ts';
import { createChecker } from '../checks/checker.ts';
import { changedSince, type ProtectedBaseline, takeBaseline } from '../checks/protected-paths.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import { createIdentifiers } from '../engine/system.ts';
import type { Store } from '../ports/store.ts';
import type { AgentSession } from './agent-session.ts';
import type { Io } from './io.ts';

/** The id under which a change of protected paths fails the goal. */
const protectedPaths = 'protected paths';

/**
 * The policy with everything that the system checks at the final stop, and the checker that does it. The baseline of
 * the protected paths is taken at the human's message and kept in the store, so that a resumed run is held to it.
 */
export async function prepareChecks(
  io: Io,
  store: Store,
  session: AgentSession,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
) {
  const { policy, directory, sessionId } = session;
  const patterns = policy.protect ?? [];
  const baseline = patterns.length === 0 ? null : await protectedBaseline(store, session, patterns);
  const goalChecks = baseline === null ? policy.goalChecks : [...policy.goalChecks, protectedPaths];
  const checker = createChecker({
    checks: policy.checks ?? {},
    checksOfTodo: async (todoId) =>
      (await store.read(async (reader) => reader.findTodo(todoId)))?.checks ?? [],
    directory,
    environment: io.env,
    clock: io.clock,
    identifiers: createIdentifiers(io.clock),
    signal: () => signal,
    ...(baseline === null
      ? {}
      : { ownChecks: { [protectedPaths]: () => checkProtected(baseline, directory) } }),
    onResult: ({ check, result, sentence, milliseconds }) => {
      const words =
        `Check ${check}: ${result} after ${milliseconds} ms. ${result === 'passed' ? '' : sentence}`.trim();
      emit({ type: 'notice', at: io.clock.now(), sessionId, sentence: words });
    },
  });
  return { policy: { ...policy, goalChecks }, checker };
}

async function protectedBaseline(
  store: Store,
  session: AgentSession,
  patterns: readonly string[],
): Promise<ProtectedBaseline> {
  const key = `protected ${session.sessionId}`;
  const known = session.goal === null ? await store.read(async (reader) => reader.policy(key)) : null;
  if (known !== null) return JSON.parse(known) as ProtectedBaseline;
  const taken = await takeBaseline(session.directory, patterns);
  if (!taken.ok)
    throw new UntildoneError('invalid-config', `The protected paths cannot be read: ${taken.sentence}`);
  await store.transact(async (transaction) => transaction.savePolicy(key, JSON.stringify(taken.baseline)));
  return taken.baseline;
}

async function checkProtected(baseline: ProtectedBaseline, directory: string) {
  const changes = await changedSince(baseline, directory);
  if (!changes.ok) return { result: 'failed' as const, sentence: changes.sentence, tail: '' };
  const paths = [...changes.changed, ...changes.deleted, ...changes.added];
  if (paths.length === 0)
    return { result: 'passed' as const, sentence: 'No protected path was changed.', tail: '' };
  const sentence = 'Protected paths were changed; restore them as they were, and mend the cause elsewhere.';
  return { result: 'failed' as const, sentence, tail: paths.slice(0, 20).join('\n') };
}

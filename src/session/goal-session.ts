// A session with a goal, whoever its agent is: told its goal, looked at before the work,
// asked when the agent wants to stop. `openSession`, our own run and a driven run stand on
// it. It decides nothing.
import { type createChecker, fingerprintMs } from '../checks/checker.ts';
import { frozenBy } from '../checks/git.ts';
import type { Draft, Event } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { settingsForAgent } from '../core/settings.ts';
import { createState, type State, spokeAt } from '../core/state.ts';
import type { Environment } from '../engine/policy.ts';
import { createRuntime, type RuntimeOptions } from '../engine/runtime.ts';
import { sha256 } from '../engine/system.ts';
import { createBaseline, type Looked } from './baseline.ts';

/** Runs checks, and takes the fingerprint of a workspace. */
export type WorkspaceChecker = ReturnType<typeof createChecker>;

export type GoalSessionOptions = Pick<
  RuntimeOptions,
  'store' | 'clock' | 'identifiers' | 'texts' | 'watch'
> &
  Readonly<{
    sessionId: string;
    directory: string;
    environment: Environment;
    /** What a message of the human freezes. */
    policy: () => Policy;
    /** Whose settings hold; null: those of no agent by name. */
    agentName: string | null;
    /** Without `look` the workspace has no fingerprint. */
    checker?: Partial<WorkspaceChecker>;
    /** Ends the looks before the work. */
    signal: () => AbortSignal;
    onLooked?: (check: string, looked: Looked) => void;
    onNotice: (sentence: string) => void;
  }>;

/** What a session with a goal is made of; the caller owns it already. */
export function openGoalSession(options: GoalSessionOptions) {
  const { checker: { run, look } = {}, ...services } = options;
  const { store, clock, identifiers, sessionId, directory, policy } = services;
  const checker = run && {
    async run(...asked: Parameters<typeof run>) {
      await baseline.end();
      return run(...asked);
    },
  };
  const engine = createRuntime({
    ...services,
    hash: sha256,
    ...(checker && { checker }),
  });
  const settings = () => settingsForAgent(policy().settings, options.agentName);
  const state = async (): Promise<State> =>
    (await store.state(sessionId)) ?? createState(sessionId, clock.now());
  const base = (of = sessionId) => ({
    id: identifiers.next(),
    sessionId: of,
    at: clock.now(),
  });
  const record = (event: Draft<Event>, of = sessionId) =>
    engine.handle({ ...base(of), ...event } as Event);

  /** null: nobody judges by it, or none could be taken. */
  async function fingerprint(): Promise<string | null> {
    if (look === undefined || settings().mode === 'off') return null;
    const frozen = frozenBy(policy(), spokeAt(await state()));
    return look({ sessionId, directory }, frozen, { timeoutMs: fingerprintMs });
  }

  const baseline = createBaseline({ ...services, settings, state, record, fingerprint });
  return { engine, settings, state, base, record, fingerprint, baseline };
}

// Opens what the plugin works with: the user's store, a runtime under the name of this host and folder, and the checks.
// It must run after the host has finished loading its plugins: an attach may ask the host about what an earlier
// process left behind, and a host that is still starting cannot answer.
import { createChecker } from '../../checks/checker.ts';
import { runQueue, startDetachedRunner } from '../../checks/queue.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Checker } from '../../engine/host.ts';
import type { Store } from '../../engine/store.ts';
import { sha256 } from '../../engine/system.ts';
import { createHostList } from '../told/host-list.ts';
import { openToldRuntime } from '../told/open-told-runtime.ts';
import { runnerEnvironment, runnerProgram } from './check-runner.ts';
import type { HostCalls } from './host-calls.ts';
import { hostName, type PluginContext } from './plugin-context.ts';
import { createPluginPolicy } from './plugin-policy.ts';
import type { SessionMemories } from './session-memory.ts';
import type { Speaker } from './speak.ts';
import type { StoppedSessions } from './stopped-sessions.ts';
import { createOpenCodeHost } from './told-host.ts';

export interface OpenPluginOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly calls: HostCalls;
  readonly memories: SessionMemories;
  readonly stopped: StoppedSessions;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly headless: boolean;
  readonly speaker: Speaker;
}

export async function openPlugin(options: OpenPluginOptions): Promise<PluginContext> {
  const { store, clock, identifiers, calls, memories, stopped, directory, environment, headless, speaker } =
    options;
  const list = createHostList({ store, clock, identifiers });
  const policy = createPluginPolicy(store, directory, environment);
  const host = createOpenCodeHost({
    calls,
    list,
    isStopped: (sessionId) => stopped.has(sessionId),
    memoryOf: (sessionId) => memories.of(sessionId),
    notify: (_session, notice) => speaker.notify(notice),
  });
  const { runtime, instance } = await openToldRuntime({
    ...{ store, clock, identifiers, host, hash: sha256 },
    policy: () => policy.current(),
    checker: createPluginChecker(options),
    // Whoever starts `run` anew has not come back to what an earlier one left: its name is never used again.
    instance: headless ? `${hostName} run ${identifiers.next()}` : `${hostName} ${directory}`,
    toast: async (_session, toast) => {
      if (!headless) await calls.toast(toast);
    },
    onError: speaker.onError,
  });
  return {
    ...{ runtime, instance, store, clock, identifiers, calls, list, memories, policy },
    ...{ directory, environment, headless, warn: speaker.warnOnce },
  };
}

function createPluginChecker({ store, clock, identifiers, environment }: OpenPluginOptions): Checker {
  const program = runnerProgram();
  // Checks that nobody waits for any more go on: others may, and their results are in the store.
  const never = new AbortController().signal;
  return createChecker({
    ...{ store, clock, identifiers, hash: sha256, signal: () => never },
    startRunner(directory, holder) {
      if (program !== null) startDetachedRunner(program, directory, holder, runnerEnvironment(environment));
      // Whoever waits sees that the lease ran out, and starts another.
      else runQueue({ store, clock, directory, holder, environment }).catch(() => {});
    },
  });
}

// The settings of the folder that the host works in, read anew at each message of a human (V2). A configuration that
// cannot be used switches us off and is told once; half of it is never applied (C1).
import { settingsForAgent } from '../../core/config/agent-settings.ts';
import type { Policy } from '../../core/config/policy.ts';
import type { Store } from '../../engine/store.ts';
import { createHookPolicy, readHookPolicy } from '../hook/hook-policy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface PluginPolicy {
  current(): Policy;
  /** Why the configuration cannot be used; null: it can. */
  problem(): string | null;
  /** May the host's own behaviour be changed: texts added, tools offered? Not while we only observe (C2). */
  changesTheHost(): boolean;
  renew(): Promise<void>;
}

export function createPluginPolicy(store: Store, directory: string, environment: Environment): PluginPolicy {
  let known = createHookPolicy(store, directory, environment);
  return {
    current: () => known.current().policy,
    problem: () => known.current().problem,
    changesTheHost: () => known.current().policy.settings.mode === 'enforce',
    async renew() {
      const fresh = createHookPolicy(store, directory, environment);
      await fresh.prepare();
      known = fresh;
    },
  };
}

/** Off for every agent: then the host is left exactly as it is without us (C2). */
function isSwitchedOff({ settings }: Policy): boolean {
  return [null, ...Object.keys(settings.agents)].every((agent) => {
    const { mode, enabled } = settingsForAgent(settings, agent);
    return mode === 'off' || !enabled;
  });
}

/** Before there is a store, and before anything is offered to the host. */
export function isOffAtStart(directory: string, environment: Environment): boolean {
  const { policy, problem } = readHookPolicy(directory, environment);
  return problem === null && isSwitchedOff(policy);
}

/** Not while we only observe: what the model is offered stays as it is (C2). */
export function offersTools(directory: string, environment: Environment): boolean {
  return readHookPolicy(directory, environment).policy.settings.mode === 'enforce';
}

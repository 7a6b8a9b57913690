// The settings that hold for a hook call: read from the files of the session's project. A configuration that cannot
// be used switches us off for the message and is told to the human; half of it is never applied (C1).
import { homedir } from 'node:os';
import { protectPolicy } from '../../checks/protected-paths.ts';
import type { Policy } from '../../core/config/policy.ts';
import { defaultSettings } from '../../core/config/settings.ts';
import { findUserConfigDirectory, policyProblemSentence, readPolicy } from '../../engine/policy-source.ts';
import type { Store } from '../../engine/store.ts';
import type { HookMoment } from './hook-request.ts';

export interface CurrentHookPolicy {
  readonly policy: Policy;
  /** Why the configuration cannot be used; null: it can. */
  readonly problem: string | null;
}

export interface HookPolicy {
  /** What holds in this project now; read when first asked for. */
  current(): CurrentHookPolicy;
  /** At a genuine human message, before it is snapshotted: what stands at protected paths is remembered (V2). */
  prepare(): Promise<CurrentHookPolicy>;
}

export function createHookPolicy(
  store: Store,
  directory: string | null,
  environment: HookMoment['environment'],
): HookPolicy {
  let known: CurrentHookPolicy | null = null;
  const current = (): CurrentHookPolicy => {
    known ??= readHookPolicy(directory, environment);
    return known;
  };
  return {
    current,
    async prepare() {
      const { policy } = current();
      if (directory === null || (policy.protect ?? []).length === 0) return current();
      const prepared = await protectPolicy(store, policy, directory);
      known = prepared.ok ? { policy: prepared.policy, problem: null } : switchedOff(prepared.sentence);
      return known;
    },
  };
}

export function readHookPolicy(
  directory: string | null,
  environment: HookMoment['environment'],
): CurrentHookPolicy {
  const userConfigDirectory = findUserConfigDirectory(environment, environment['HOME'] ?? homedir());
  const result = readPolicy({ projectDirectory: directory, userConfigDirectory, environment });
  if (result.ok) return { policy: result.policy, problem: null };
  const [first] = result.problems;
  return switchedOff(first === undefined ? 'it cannot be read' : policyProblemSentence(first));
}

function switchedOff(problem: string): CurrentHookPolicy {
  return { policy: { settings: { ...defaultSettings, mode: 'off' }, goalChecks: [] }, problem };
}

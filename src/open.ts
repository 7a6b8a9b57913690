// Wires the policy of a folder, the checks and all that a runtime is made of over a
// store. A broken configuration never throws: it switches us off, and the caller tells it
// (C1).
import { isAbsolute } from 'node:path';
import {
  type CheckerOptions,
  createChecker,
  runQueue,
  startRunner,
} from './checks/checker.ts';
import { withIgnoreRules } from './checks/git.ts';
import { protectPolicy } from './checks/protected-paths.ts';
import type { ConfigResult } from './core/config.ts';
import type { Policy } from './core/policy.ts';
import { defaultSettings } from './core/settings.ts';
import type { Checker } from './engine/host.ts';
import { type Environment, policyProblemSentence, readPolicy } from './engine/policy.ts';
import type { RuntimeOptions } from './engine/runtime.ts';
import type { Store } from './engine/store.ts';
import { createIdentifiers, sha256, systemClock } from './engine/system.ts';
import { pendingSentence, readTrust } from './engine/trust.ts';
import { stateDirectory } from './store/state-directory.ts';

export interface OpenOptions
  extends Omit<Partial<RuntimeOptions>, 'hash' | 'policy' | 'checker'> {
  readonly store: RuntimeOptions['store'];
  readonly environment: Environment;
  /** Null: nobody knows. Absent: the folder of each session. */
  readonly directory?: string | null;
  readonly flags?: ConfigResult;
  /** `defaults` for commands that must work all the same. */
  readonly whenBroken?: 'off' | 'defaults';
  /** For long-lived processes that do not `renew`. */
  readonly rereads?: boolean;
  /** Once for each wording. */
  readonly onProblem?: (sentences: readonly string[]) => void;
  /** No other process opens this store, so that its checks run in this one. */
  readonly isPrivate?: boolean;
  /**
   * One of your own, or options of the default one; null: nobody runs checks, so that
   * there are none.
   */
  readonly checker?: Checker | Partial<CheckerOptions> | null;
}

export type Configuration = ReturnType<typeof createConfiguration>;

export interface Parts extends RuntimeOptions {
  readonly configuration: Configuration;
  readonly checker: ReturnType<typeof createChecker>;
}

export function partsOver(options: OpenOptions): Parts {
  const { store, clock = systemClock } = options;
  const place = {
    store,
    clock,
    identifiers: options.identifiers ?? createIdentifiers(clock),
    hash: sha256,
  };
  const configuration = createConfiguration(options);
  return {
    ...options,
    ...place,
    configuration,
    policy({ descriptor: { directory } }) {
      // What a host calls a folder may be anything.
      const own = directory !== null && isAbsolute(directory) ? directory : null;
      return configuration.current(options.directory ?? own);
    },
    checker: createOwnChecker(options, place),
  };
}

type Place = Omit<CheckerOptions, 'startRunner' | 'signal'>;

function createOwnChecker(options: OpenOptions, place: Place): Parts['checker'] {
  const { checker = {}, environment, isPrivate = false } = options;
  // Made when first asked for: most hooks run no checks. Checks that nobody waits for go
  // on: others may.
  let never: AbortSignal | null = null;
  const own = createChecker({
    ...place,
    startRunner(directory, holder) {
      if (!isPrivate && startRunner(directory, holder, environment)) return;
      // In this process. Safe: whoever waits sees that the lease ran out, and starts
      // another.
      runQueue({ ...place, directory, holder, environment }).catch(() => {});
    },
    signal: () => (never ??= new AbortController().signal),
    ...(checker !== null && 'run' in checker ? {} : checker),
  });
  if (checker === null) return { ...own, run: async () => {} };
  return 'run' in checker ? { ...own, run: (...asked) => checker.run(...asked) } : own;
}

/** Only `renew` needs the store: a host may open it later. */
export function createConfiguration(options: OpenOptions) {
  const { environment, flags, onProblem, directory: own = null } = options;
  const known = new Map<
    string | null,
    { readonly policy: Policy; readonly problem: string | null }
  >();
  let told = '';

  function unusable(sentences: readonly string[]) {
    if (told !== sentences.join('\n')) onProblem?.(sentences);
    told = sentences.join('\n');
    const mode = options.whenBroken === 'defaults' ? {} : ({ mode: 'off' } as const);
    const policy: Policy = { settings: { ...defaultSettings, ...mode }, goalChecks: [] };
    return { policy, problem: sentences[0] ?? 'it cannot be read' };
  }

  function readFiles(directory: string | null) {
    const accepted = readTrust(stateDirectory(environment));
    return readPolicy({
      projectDirectory: directory,
      environment,
      accepted,
      ...(flags && { flags }),
    });
  }

  function read(directory: string | null) {
    const result = readFiles(directory);
    if (!result.ok) return unusable(result.problems.map(policyProblemSentence));
    return {
      policy: options.checker === null ? withoutChecks(result.policy) : result.policy,
      problem: null,
    };
  }

  function look(directory: string | null) {
    const found = known.get(directory) ?? read(directory);
    if (options.rereads !== true) known.set(directory, found);
    return found;
  }

  return {
    /** Read when first asked for. */
    current: (directory = own): Policy => look(directory).policy,
    /** Why it cannot be used; null: it can. */
    problem: (): string | null => look(own).problem,
    /**
     * What the project's file asks for now and nobody accepted, in a sentence for the
     * human (V10). Off means off (C2).
     */
    pending(directory = own): string | null {
      const { mode, enabled } = look(directory).policy.settings;
      if (mode !== 'enforce' || !enabled) return null;
      const { pending } = readFiles(directory).project;
      return pending === null ? null : pendingSentence(pending);
    },
    /**
     * At a genuine human message, before the snapshot: read anew, with what stands at
     * protected paths (V2).
     */
    async renew(): Promise<void> {
      const fresh = read(own);
      if (own === null) return void known.set(own, fresh);
      const prepared = await freezePolicy(options.store, fresh.policy, own, environment);
      known.set(
        own,
        'error' in prepared ? unusable([prepared.error]) : { ...fresh, ...prepared },
      );
    },
  };
}

/**
 * What the files add to a policy that a message of the human is about to freeze: ignore
 * rules, and what stands at protected paths (V2).
 */
export async function freezePolicy(
  store: Store,
  policy: Policy,
  directory: string,
  environment: Environment,
) {
  const ruled = await withIgnoreRules(policy, directory, environment);
  return protectPolicy(store, ruled, directory);
}

/** A check that nobody can run would fail for ever. */
function withoutChecks({ settings }: Policy): Policy {
  return {
    settings: { ...settings, goal: [], todoChecks: [], protect: [] },
    goalChecks: [],
  };
}

// Builds what a runtime needs on top of a store: the policy of a folder and the checks. A
// broken configuration never throws: it switches us off, and the caller reports it (C1).
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

/** What callers choose; everything but the store and the environment has a default. */
export interface OpenOptions
  extends Omit<Partial<RuntimeOptions>, 'hash' | 'policy' | 'checker'> {
  readonly store: RuntimeOptions['store'];
  readonly environment: Environment;
  /** The project's folder; null: nobody knows it. Absent: each session has its own. */
  readonly directory?: string | null;
  readonly flags?: ConfigResult;
  /**
   * What a broken configuration does: it switches us off, or the `defaults` hold, for
   * commands that must work all the same.
   */
  readonly whenBroken?: 'off' | 'defaults';
  /** Reads the files at every call: for long-lived processes that never call `renew`. */
  readonly rereads?: boolean;
  /** Called when a configuration cannot be used, once for each wording. */
  readonly onProblem?: (sentences: readonly string[]) => void;
  /** True: no other process opens this store, so checks run in this process. */
  readonly isPrivate?: boolean;
  /**
   * A checker of the caller's, or options for the default one; null: there is no checker,
   * and no checks either.
   */
  readonly checker?: Checker | Partial<CheckerOptions> | null;
}

export type Configuration = ReturnType<typeof createConfiguration>;

/** What a runtime is made of. */
export interface Parts extends RuntimeOptions {
  readonly configuration: Configuration;
  readonly checker: ReturnType<typeof createChecker>;
}

/** Builds the parts; opens and reads nothing yet. */
export function createParts(options: OpenOptions): Parts {
  const { store, clock = systemClock } = options;
  const checkerParts = {
    store,
    clock,
    identifiers: options.identifiers ?? createIdentifiers(clock),
    hash: sha256,
  };
  const configuration = createConfiguration(options);
  return {
    ...options,
    ...checkerParts,
    configuration,
    policy({ descriptor: { directory } }) {
      // A host may call anything a folder.
      const sessionDirectory =
        directory !== null && isAbsolute(directory) ? directory : null;
      return configuration.current(options.directory ?? sessionDirectory);
    },
    checker: createOwnChecker(options, checkerParts),
  };
}

type CheckerParts = Omit<CheckerOptions, 'startRunner' | 'signal'>;

function createOwnChecker(
  options: OpenOptions,
  checkerParts: CheckerParts,
): Parts['checker'] {
  const { checker = {}, environment, isPrivate = false } = options;
  // Created when it is first needed: most hooks run no checks. It never aborts, since
  // other askers may wait for the same checks.
  let neverAborted: AbortSignal | null = null;
  const defaultChecker = createChecker({
    ...checkerParts,
    startRunner(directory, holder) {
      if (!isPrivate && startRunner(directory, holder, environment)) return;
      // In this process. Safe: an asker sees that the lease has run out, and starts
      // another runner.
      runQueue({ ...checkerParts, directory, holder, environment }).catch(() => {});
    },
    signal: () => (neverAborted ??= new AbortController().signal),
    ...(checker !== null && 'run' in checker ? {} : checker),
  });
  if (checker === null) return { ...defaultChecker, run: async () => {} };
  return 'run' in checker
    ? { ...defaultChecker, run: (...request) => checker.run(...request) }
    : defaultChecker;
}

/**
 * Reads a folder's policy and keeps it. Only `renew` needs the store, so a host may open
 * the store later.
 */
export function createConfiguration(options: OpenOptions) {
  const { environment, flags, onProblem, directory: ownDirectory = null } = options;
  const known = new Map<
    string | null,
    { readonly policy: Policy; readonly problem: string | null }
  >();
  let lastProblem = '';

  function reportProblem(sentences: readonly string[]) {
    if (lastProblem !== sentences.join('\n')) onProblem?.(sentences);
    lastProblem = sentences.join('\n');
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

  function readFolder(directory: string | null) {
    const result = readFiles(directory);
    if (!result.ok) return reportProblem(result.problems.map(policyProblemSentence));
    return {
      policy: options.checker === null ? withoutChecks(result.policy) : result.policy,
      problem: null,
    };
  }

  function readOnce(directory: string | null) {
    const found = known.get(directory) ?? readFolder(directory);
    if (options.rereads !== true) known.set(directory, found);
    return found;
  }

  return {
    /** The policy of a folder, which is read when it is first needed. */
    current: (directory = ownDirectory): Policy => readOnce(directory).policy,
    /** Why the configuration cannot be used; null: it can be. */
    problem: (): string | null => readOnce(ownDirectory).problem,
    /**
     * A sentence for the human about what the project's file asks for and nobody accepted
     * (V10); null: nothing, or we are switched off (C2).
     */
    pending(directory = ownDirectory): string | null {
      const { mode, enabled } = readOnce(directory).policy.settings;
      if (mode !== 'enforce' || !enabled) return null;
      const { pending } = readFiles(directory).project;
      return pending === null ? null : pendingSentence(pending);
    },
    /**
     * Called at a message of a human, before the policy is frozen: reads everything anew,
     * with the ignore rules and the protected files of this moment (V2).
     */
    async renew(): Promise<void> {
      const fresh = readFolder(ownDirectory);
      if (ownDirectory === null) return void known.set(ownDirectory, fresh);
      const { policy } = fresh;
      const prepared = await freezePolicy(
        options.store,
        policy,
        ownDirectory,
        environment,
      );
      known.set(
        ownDirectory,
        'error' in prepared ? reportProblem([prepared.error]) : { ...fresh, ...prepared },
      );
    },
  };
}

/**
 * Adds what the files say at this moment to a policy that a message of the human is about
 * to freeze: the ignore rules, and what stands at protected paths (V2).
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

/** Checks that nobody can run would fail for ever, so they are dropped. */
function withoutChecks({ settings }: Policy): Policy {
  return {
    settings: { ...settings, goal: [], todoChecks: [], protect: [] },
    goalChecks: [],
  };
}

// Opens what the product works with: the user's store, the policy of a folder, the checks and a runtime over them, each
// with a default. The one place that wires them: hosts, agent, MCP and command line call it. A configuration that cannot
// be used never throws and is never applied in part: it switches us off, and the caller tells it (C1).
// A hook that only puts an event into the inbox calls openUserStore (store/sqlite) and loads nothing of this.
import { isAbsolute } from 'node:path';
import { type CheckerOptions, createChecker } from './checks/checker.ts';
import { fingerprintWorkspace } from './checks/fingerprint.ts';
import { protectPolicy } from './checks/protected-paths.ts';
import { runQueue, startRunner } from './checks/queue.ts';
import type { ConfigResult } from './core/config.ts';
import type { HashFunction } from './core/ledger.ts';
import type { Policy } from './core/policy.ts';
import { defaultSettings } from './core/settings.ts';
import type { Checker, Clock, Identifiers } from './engine/host.ts';
import { type CurrentPolicy, type Environment, policyProblemSentence, readPolicy } from './engine/policy.ts';
import type { RuntimeOptions } from './engine/runtime.ts';
import type { Store } from './engine/store.ts';
import { createIdentifiers, sha256, systemClock } from './engine/system.ts';

type HostOptions = Pick<RuntimeOptions, 'host' | 'instance' | 'trace' | 'watch' | 'onError'>;

export interface OpenOptions extends HostOptions {
  readonly environment: Environment;
  /** The project that is worked in; null: nobody knows. Absent: the folder of each session. */
  readonly directory?: string | null;
  /** Absent: the user's own, made if it is not there. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly identifiers?: Identifiers;
  /** Settings that are stronger than those of files and environment. */
  readonly flags?: ConfigResult;
  /** `defaults` for commands that must work with a broken configuration too. */
  readonly whenBroken?: 'off' | 'defaults';
  /** For long-lived processes that do not `renew`: files are read at every question. */
  readonly rereads?: boolean;
  /** Told what is wrong with the configuration, once for each wording. */
  readonly onProblem?: (sentences: readonly string[]) => void;
  /** A checker of your own, or what the default one tells and asks; null: nobody runs checks, so that there are none. */
  readonly checker?: Checker | Partial<CheckerOptions> | null;
}

/** What holds in a folder. */
export interface Configuration {
  /** Read when first asked for. `directory` absent: that of the options. */
  current(directory?: string | null): Policy;
  /** Why it cannot be used; null: it can. */
  problem(): string | null;
  /** At a genuine human message, before it is snapshotted: read anew, with what stands at protected paths (V2). */
  renew(): Promise<void>;
}

/** What a runtime is made of. */
export interface Parts extends HostOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly hash: HashFunction;
  readonly policy: CurrentPolicy;
  readonly configuration: Configuration;
  readonly checker: Checker;
  /** Null: the workspace could not be looked through in this time. */
  fingerprint(directory: string, timeoutMs: number, exclude?: readonly string[]): Promise<string | null>;
}

/** All of it over a store that is open; `createRuntime` of it is the runtime. */
export function partsOver(options: OpenOptions & { readonly store: Store }): Parts {
  const { environment, store, clock = systemClock } = options;
  const place = { store, clock, identifiers: options.identifiers ?? createIdentifiers(clock), hash: sha256 };
  const configuration = createConfiguration(options);
  return {
    ...options,
    ...place,
    configuration,
    policy: ({ descriptor }) => configuration.current(options.directory ?? absolute(descriptor.directory)),
    checker: createOwnChecker(options, place),
    async fingerprint(directory, timeoutMs, exclude = []) {
      const seen = await fingerprintWorkspace(directory, { timeoutMs, environment, exclude });
      return seen.ok ? seen.fingerprint : null;
    },
  };
}

function createOwnChecker(
  options: OpenOptions,
  place: Omit<CheckerOptions, 'startRunner' | 'signal'>,
): Checker {
  const { checker = {}, environment } = options;
  if (checker === null) return { run: async () => {} };
  if ('run' in checker) return checker;
  // Made when it is first asked for: most hooks run no checks. Checks that nobody waits for any more go on: others may.
  let never: AbortSignal | null = null;
  return createChecker({
    ...place,
    startRunner(directory, holder) {
      if (startRunner(directory, holder, environment)) return;
      // Where the runner's file is not there, in this process. Safe: whoever waits sees that the lease ran out, and starts
      // another.
      runQueue({ ...place, directory, holder, environment }).catch(() => {});
    },
    signal: () => (never ??= new AbortController().signal),
    ...checker,
  });
}

/** `store` is first asked for by `renew`: a host may open it later than it wants to know what holds. */
export function createConfiguration(options: OpenOptions & { readonly store: Store }): Configuration {
  const { environment, flags, onProblem } = options;
  const known = new Map<string | null, { readonly policy: Policy; readonly problem: string | null }>();
  let told = '';

  function unusable(sentences: readonly string[]) {
    if (told !== sentences.join('\n')) onProblem?.(sentences);
    told = sentences.join('\n');
    const mode = options.whenBroken === 'defaults' ? {} : ({ mode: 'off' } as const);
    const policy: Policy = { settings: { ...defaultSettings, ...mode }, goalChecks: [] };
    return { policy, problem: sentences[0] ?? 'it cannot be read' };
  }

  function read(directory: string | null) {
    const sources = { projectDirectory: directory, environment, ...(flags === undefined ? {} : { flags }) };
    const result = readPolicy(sources);
    if (!result.ok) return unusable(result.problems.map(policyProblemSentence));
    return { policy: options.checker === null ? withoutChecks(result.policy) : result.policy, problem: null };
  }

  function look(directory: string | null) {
    const found = known.get(directory) ?? read(directory);
    if (options.rereads !== true) known.set(directory, found);
    return found;
  }

  return {
    current: (directory = options.directory ?? null) => look(directory).policy,
    problem: () => look(options.directory ?? null).problem,
    async renew() {
      const directory = options.directory ?? null;
      const fresh = read(directory);
      const isProtected = directory !== null && (fresh.policy.protect ?? []).length > 0;
      const prepared = isProtected ? await protectPolicy(options.store, fresh.policy, directory) : null;
      if (prepared === null) known.set(directory, fresh);
      else known.set(directory, prepared.ok ? { ...prepared, problem: null } : unusable([prepared.sentence]));
    },
  };
}

/** What a host calls a folder may be anything. */
function absolute(directory: string | null): string | null {
  return directory !== null && isAbsolute(directory) ? directory : null;
}

/** A check that nobody can run would count as failed for ever: without a checker there are none. */
function withoutChecks({ settings }: Policy): Policy {
  return { settings: { ...settings, goal: [], todoChecks: [], protect: [] }, goalChecks: [] };
}

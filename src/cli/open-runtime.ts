// Opens the user's store and puts a runtime around it. Unless a command asks for it, no
// store is created: before a host has written one, there is nothing to look at or to
// stop. A broken configuration is reported and does not stop a command.
import { existsSync } from 'node:fs';
import type { Policy } from '../core/policy.ts';
import { type Settings, settingsForAgent } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import {
  frozenPolicy,
  type PolicyResult,
  type PolicySources,
  readPolicy,
} from '../engine/policy.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import { readTrust } from '../engine/trust.ts';
import { createParts, type OpenOptions, type Parts } from '../open.ts';
import type { PlanFileSync, PlanFileSyncOptions } from '../plan-file/plan-file-sync.ts';
import { openUserStore, type SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import { stateDirectory, storePath } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import { printComplaint } from './print.ts';

/**
 * Opens the user's store and creates it if there is none. If an older version wrote it,
 * the programs that hosts start are renewed with it: they would refuse the new layout,
 * and no agent would be kept at work any more.
 * @param options for tests: how an older store is migrated
 */
export async function openOrCreateStore(
  io: Io,
  options: Pick<SqliteStoreOptions, 'migrations'> = {},
): Promise<Store> {
  let isMigrated = false;
  const onMigrated = (): void => {
    isMigrated = true;
  };
  const store = await openUserStore(io.env, { ...options, clock: io.clock, onMigrated });
  if (isMigrated) await (await import('./renew-programs.ts')).renewPrograms(io);
  return store;
}

/**
 * Opens the store, runs `work` and closes the store. Null: there is no store, and none
 * was created; with `makes` it is created.
 */
export async function withStore<T>(
  io: Io,
  work: (store: Store) => Promise<T>,
  makes = false,
) {
  if (!makes && !existsSync(storePath(io.env))) return null;
  const store = await openOrCreateStore(io);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * A runtime for commands that change something: their events go through the engine, as
 * those of hosts do.
 */
export function openRuntime(
  io: Io,
  store: Store,
  adapt = (policy: Policy): Policy => policy,
) {
  const parts = openParts(io, store);
  return createRuntime({ ...parts, policy: (session) => adapt(parts.policy(session)) });
}

/**
 * The parts around a store. If the configuration is broken, it says so and uses the
 * defaults: that must not stop a command.
 */
export function openParts(
  io: Io,
  store: Store,
  options: Partial<OpenOptions> = {},
): Parts {
  return createParts({
    store,
    clock: io.clock,
    environment: io.env,
    whenBroken: 'defaults',
    onProblem(sentences) {
      for (const sentence of sentences) printComplaint(io, `warning: ${sentence}`);
      printComplaint(
        io,
        'warning: the configuration is broken, so the default settings are used here.',
      );
    },
    // A command ends before a check does, so checks do not run here. The next stop
    // attempt in the session's own process runs what is not verified yet.
    checker: { run: async () => {} },
    ...options,
  });
}

/**
 * Reads the policy for a folder. `accepted` is `all` if the human's own command accepts
 * the project's file as it is now (V10).
 */
export function readPolicyFor(
  io: Io,
  projectDirectory: string | null,
  flags?: PolicySources['flags'],
  accepted: PolicySources['accepted'] = readTrust(stateDirectory(io.env)),
): PolicyResult {
  const sources = { projectDirectory, environment: io.env, accepted };
  const result = readPolicy(flags === undefined ? sources : { ...sources, flags });
  const { problems = [], file = null } = result.project.pending ?? {};
  // A human is here and can mend the project's file first. In a host, a broken file must
  // not switch anything off.
  if (problems.length === 0) return result;
  const others = result.ok ? [] : result.problems;
  return {
    ...result,
    ok: false,
    problems: [...problems.map((problem) => ({ ...problem, file })), ...others],
  };
}

/**
 * Reads the settings of a session's last decision or, if there was none, of its next one.
 */
export function createSettingsReader(
  io: Io,
): (store: Store, session: Session) => Promise<Settings> {
  let parts: Parts | null = null;
  return async (store, session) => {
    parts ??= openParts(io, store);
    const policy = (await frozenPolicy(store, session)) ?? parts.policy(session);
    return settingsForAgent(policy.settings, session.agent.name);
  };
}

type PlanFileTarget = Pick<PlanFileSyncOptions, 'sessionId' | 'allowedId' | 'isNamed'> & {
  readonly realPath: string;
};

/**
 * Keeps a plan file and a session in step. It loads the Markdown parser, which most
 * commands do without.
 */
export async function openPlanFileSync(
  io: Io,
  store: Store,
  { realPath, ...target }: PlanFileTarget,
) {
  const { createFileMemory, createPlanFileSync } = await import(
    '../plan-file/plan-file-sync.ts'
  );
  const memory = createFileMemory(stateDirectory(io.env), realPath, target.sessionId);
  const { clock } = io;
  const fixedOptions = {
    path: realPath,
    pinned: true,
    store,
    clock,
    identifiers: createIdentifiers(clock),
    memory,
  };
  return (engine: Runtime): PlanFileSync =>
    createPlanFileSync({ ...fixedOptions, engine, ...target });
}

// Opens the store of this user and puts a runtime around it. It never creates a store:
// there is nothing to look at or to stop before a host has written one. A broken
// configuration is told and does not stand in the way.
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
import { type OpenOptions, type Parts, partsOver } from '../open.ts';
import type { PlanFileSync, PlanFileSyncOptions } from '../plan-file/plan-file-sync.ts';
import { openUserStore, type SqliteStoreOptions } from '../store/sqlite/sqlite-store.ts';
import { stateDirectory, storePath } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';

/**
 * The store of this user, made if it is not there. If an older version wrote it, the
 * programs that hosts start are renewed with it: they would refuse the new layout, and
 * nobody would hold the agent any more.
 * @param options for tests: what brings an older store forward
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
 * Runs `work` over the store and closes it; null: there is no store yet, and none was
 * made.
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
 * For commands that change something: events go through the engine, as those of hosts do.
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
 * A broken configuration is told, and the defaults are used: it must not stand in the way
 * of a command.
 */
export function openParts(
  io: Io,
  store: Store,
  options: Partial<OpenOptions> = {},
): Parts {
  return partsOver({
    store,
    clock: io.clock,
    environment: io.env,
    whenBroken: 'defaults',
    onProblem(sentences) {
      for (const sentence of sentences) complain(io, `warning: ${sentence}`);
      complain(
        io,
        'warning: the configuration is broken, so the default settings are used here.',
      );
    },
    // A command is gone before a check ends, and a check that was not run has not failed.
    // What is unverified is run at the next stop attempt, by whoever holds the host.
    checker: { run: async () => {} },
    ...options,
  });
}

/** `all`: the human named this call, and means the project's file as it is (V10). */
export function readPolicyFor(
  io: Io,
  projectDirectory: string | null,
  flags?: PolicySources['flags'],
  accepted: PolicySources['accepted'] = readTrust(stateDirectory(io.env)),
): PolicyResult {
  const sources = { projectDirectory, environment: io.env, accepted };
  const result = readPolicy(flags === undefined ? sources : { ...sources, flags });
  const { problems = [], file = null } = result.project.pending ?? {};
  // A human is at hand: in a host a broken file of the project must not switch anything
  // off, here it is mended first.
  if (problems.length === 0) return result;
  const others = result.ok ? [] : result.problems;
  return {
    ...result,
    ok: false,
    problems: [...problems.map((problem) => ({ ...problem, file })), ...others],
  };
}

/** The settings that a session's last decision was or the next one will be made with. */
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

type PlanFilePlace = Pick<PlanFileSyncOptions, 'sessionId' | 'allowedId' | 'isNamed'> & {
  readonly realPath: string;
};

/** Keeps a plan file and a session in step. What reads Markdown is loaded only here. */
export async function openPlanFileSync(
  io: Io,
  store: Store,
  { realPath, ...place }: PlanFilePlace,
) {
  const { createFileMemory, createPlanFileSync } = await import(
    '../plan-file/plan-file-sync.ts'
  );
  const memory = createFileMemory(stateDirectory(io.env), realPath, place.sessionId);
  const { clock } = io;
  const known = {
    path: realPath,
    pinned: true,
    store,
    clock,
    identifiers: createIdentifiers(clock),
    memory,
  };
  return (engine: Runtime): PlanFileSync =>
    createPlanFileSync({ ...known, engine, ...place });
}

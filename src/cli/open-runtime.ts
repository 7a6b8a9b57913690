// Opens the store of this user and puts a runtime around it. It never creates a store: there is nothing to look at
// or to stop before a host has written one. A broken configuration is told and does not stand in the way.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { settingsForAgent } from '../core/config/agent-settings.ts';
import type { Policy } from '../core/config/policy.ts';
import { defaultSettings, type Settings } from '../core/config/settings.ts';
import type { Session } from '../core/session.ts';
import {
  findUserConfigDirectory,
  type PolicyResult,
  type PolicySources,
  policyProblemSentence,
  readPolicy,
} from '../engine/policy-source.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import type { Store, StoreReader } from '../engine/store.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storePath } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';

/** The store, to be closed by the caller; null: there is none yet, and none was made. */
export async function openStoreIfAny(io: Io): Promise<Store | null> {
  const path = storePath(io.env);
  return existsSync(path) ? openSqliteStore({ path, clock: io.clock }) : null;
}

/** Runs `work` over the store and closes it; null: there is no store yet, and none was made. */
export async function withStore<T>(io: Io, work: (store: Store) => Promise<T>): Promise<T | null> {
  const store = await openStoreIfAny(io);
  if (store === null) return null;
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands that change something: events go through the engine, as those of hosts do. */
export function openRuntime(
  io: Io,
  store: Store,
  adapt: (policy: Policy) => Policy = (policy) => policy,
): Runtime {
  const current = createPolicySource(io);
  return createRuntime({
    store,
    clock: io.clock,
    identifiers: createIdentifiers(io.clock),
    hash: sha256,
    policy: (session) => adapt(current(session)),
    // A command is gone before a check ends, and a check that was not run has not failed. What is unverified is run
    // at the next stop attempt, by whoever holds the host.
    checker: { run: async () => {} },
  });
}

/** What holds for a session now; asked for only where the store has no snapshot of what held. */
function createPolicySource(io: Io): (session: Session) => Policy {
  const known = new Map<string | null, Policy>();
  return ({ descriptor }) => {
    const directory =
      descriptor.directory !== null && isAbsolute(descriptor.directory) ? descriptor.directory : null;
    const policy = known.get(directory) ?? usablePolicy(io, directory);
    known.set(directory, policy);
    return policy;
  };
}

/** What holds there, or, where the configuration is broken, the defaults, with a word about it. */
export function usablePolicy(io: Io, directory: string | null): Policy {
  const result = readPolicyFor(io, directory);
  if (result.ok) return result.policy;
  for (const problem of result.problems) complain(io, `warning: ${policyProblemSentence(problem)}`);
  complain(io, 'warning: the configuration is broken, so the default settings are used here.');
  return { settings: defaultSettings, goalChecks: [] };
}

export function readPolicyFor(
  io: Io,
  projectDirectory: string | null,
  flags?: PolicySources['flags'],
): PolicyResult {
  const userConfigDirectory = findUserConfigDirectory(io.env, io.env['HOME'] ?? homedir());
  const sources = { projectDirectory, userConfigDirectory, environment: io.env };
  return readPolicy(flags === undefined ? sources : { ...sources, flags });
}

/** The settings that a session's last decision was or the next one will be made with. */
export function createSettingsReader(io: Io): (reader: StoreReader, session: Session) => Promise<Settings> {
  const current = createPolicySource(io);
  return async (reader, session) => {
    const text = session.policyHash === null ? null : await reader.policy(session.policyHash);
    const policy = text === null ? current(session) : (JSON.parse(text) as Policy);
    return settingsForAgent(policy.settings, session.agent.name);
  };
}

// A plugin in a host without a process, for the tests beside it: the recorded order of
// events, a store in memory and a clock that moves when it is told to.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import type { Store, StoredDecision } from '../../src/engine/store.ts';
import { createIdentifiers } from '../../src/engine/system.ts';
import { openCodeSession } from '../../src/hosts/opencode/follow.ts';
import {
  createMemory,
  type HostCalls,
  type Plugin,
} from '../../src/hosts/opencode/host.ts';
import { createOpenCodePlugin } from '../../src/hosts/opencode/index.ts';
import { createTold } from '../../src/hosts/told.ts';
import { createVoice } from '../../src/hosts/told-plugin.ts';
import {
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { type FakeOpencode, startFakeOpencode } from '../conformance/fake-opencode.ts';
import { acceptProject } from './accept-project.ts';
import { createMemoryStore } from './memory-store.ts';

export const sessionId = 'ses_1';

export interface PluginCase {
  readonly host: FakeOpencode;
  readonly clock: SimulatedClock;
  readonly store: Store;
  readonly directory: string;
  /** Until the plugin has taken in what it was told. */
  settle(): Promise<void>;
  /** Longer than a countdown, and settled. */
  rest(): Promise<void>;
  session(): Promise<Session>;
  /** Newest first. */
  decisions(): Promise<readonly StoredDecision[]>;
  close(): Promise<void>;
}

export interface CaseOptions {
  readonly command?: 'serve' | 'run';
  readonly settings?: object;
  /** The human's own settings, as variables. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly openStore?: () => Promise<Store>;
  readonly store?: Store;
  readonly directory?: string;
}

export async function createPluginCase(options: CaseOptions = {}): Promise<PluginCase> {
  const directory =
    options.directory ?? mkdtempSync(join(tmpdir(), 'untildone-opencode-'));
  if (options.settings !== undefined) {
    writeFileSync(join(directory, 'untildone.json'), JSON.stringify(options.settings));
    acceptProject(directory, directory);
  }
  const clock = createSimulatedClock();
  const store = options.store ?? createMemoryStore();
  const plugin = createOpenCodePlugin({
    clock,
    identifiers: createIdentifiers(clock),
    argv: ['bun', 'index.js', options.command ?? 'serve'],
    openStore: options.openStore ?? (async () => store),
    environment: {
      HOME: directory,
      PATH: process.env['PATH'],
      UNTILDONE_HOME: directory,
      ...options.environment,
    },
  });
  const host = await startFakeOpencode(plugin, directory, () => clock.now());
  await host.open(sessionId, null, 'build');

  async function settle(): Promise<void> {
    let isDone = false;
    const flushed = host.flush(sessionId).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await clock.advance(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await flushed;
  }

  return {
    host,
    clock,
    store,
    directory,
    settle,
    async rest() {
      await settle();
      await clock.advance(5000);
      await settle();
    },
    async session() {
      const session = await store.state(sessionId);
      if (session === null) throw new Error('The record knows nothing of the session.');
      return session;
    },
    decisions: () => store.decisions(sessionId, 50),
    async close() {
      await host.hooks.dispose?.();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export const todo = (content: string, status = 'pending') => ({
  content,
  status,
  priority: 'medium',
});

/**
 * The parts of a plugin whose store is never there: what is known at once is all that it
 * knows.
 */
export function createWaitingPlugin(
  calls: Partial<HostCalls> = {},
  openStore = (): Promise<Store> => new Promise(() => {}),
): Plugin & { clock: SimulatedClock } {
  const clock = createSimulatedClock();
  const policy = { settings: defaultSettings, goalChecks: [] };
  const identifiers = createIdentifiers(clock);
  const place = {
    name: 'opencode',
    calls: calls as HostCalls,
    clock,
    directory: '/',
    environment: {},
    identifiers,
    openStore,
    headless: false,
    voice: createVoice('opencode', { clock, environment: {} }, async () => {}),
    configuration: {
      current: () => policy,
      problem: () => null,
      pending: () => null,
      renew: async () => {},
    },
  };
  const told: Plugin['told'] = createTold({
    name: 'opencode',
    instance: 'opencode',
    own: createMemory,
    clock,
    policy: () => policy,
    adapter: ({ id }) => openCodeSession(plugin, id),
    environment: {},
    onError: () => {},
    openStore,
    identifiers,
  });
  const plugin = { ...place, told };
  return plugin;
}

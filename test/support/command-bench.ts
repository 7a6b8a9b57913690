// For tests: runs commands in process over a real store that scripted hosts filled, and
// keeps what they print. It touches nothing outside its own temporary directory.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../../src/cli/io.ts';
import { main } from '../../src/cli/main.ts';
import { mergeSettings } from '../../src/core/config.ts';
import type { PartialSettings } from '../../src/core/settings.ts';
import type { Store } from '../../src/engine/store.ts';
import { sha256 } from '../../src/engine/system.ts';
import {
  createScriptedHost,
  type ScriptedHost,
  type ScriptedHostOptions,
} from '../../src/simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CommandBench {
  readonly home: string;
  readonly project: string;
  readonly clock: SimulatedClock;
  /** What commands see; a test may change it. */
  readonly env: Record<string, string | undefined>;
  run(...argv: string[]): Promise<CommandResult>;
  runWith(io: Partial<Io>, ...argv: string[]): Promise<CommandResult>;
  store(): Promise<Store>;
  host(
    options: Partial<ScriptedHostOptions> & { settings?: PartialSettings },
  ): Promise<ScriptedHost>;
  close(): Promise<void>;
}

export function createCommandBench(): CommandBench {
  const root = mkdtempSync(join(tmpdir(), 'untildone-cli-'));
  const home = join(root, 'home');
  const project = join(root, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const clock = createSimulatedClock();
  const identifiers = createSequentialIdentifiers();
  const env: Record<string, string | undefined> = {
    UNTILDONE_HOME: home,
    HOME: join(root, 'user'),
  };
  let opened: Promise<Store> | null = null;

  const store = (): Promise<Store> => {
    opened ??= openSqliteStore({ path: storePath(env), clock });
    return opened;
  };

  async function runWith(
    overrides: Partial<Io>,
    ...argv: string[]
  ): Promise<CommandResult> {
    let out = '';
    let err = '';
    const io: Io = {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env,
      cwd: project,
      isTTY: false,
      clock,
      whyNoHuman: async () => null,
      agentAbove: async () => null,
      agentSessions: async () => [],
      ...overrides,
    };
    return { code: await main(argv, io), out, err };
  }

  return {
    home,
    project,
    clock,
    env,
    runWith,
    run: (...argv) => runWith({}, ...argv),
    store,
    async host({ settings, ...options }) {
      const policy = {
        settings: mergeSettings({ flag: settings ?? {} }).settings,
        goalChecks: [],
      };
      return createScriptedHost({
        store: await store(),
        clock,
        identifiers,
        hash: sha256,
        policy: () => policy,
        mode: 'asked',
        ...options,
        descriptor: { directory: project, ...options.descriptor },
      });
    },
    async close() {
      await (await opened)?.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Four todos, two completed, one blocked; the agent ends stagnant. Six decisions. */
export async function addStagnantSession(
  bench: CommandBench,
  sessionId = 'alpha-0001',
): Promise<ScriptedHost> {
  const host = await bench.host({ sessionId });
  await host.open();
  await host.says('Build the parser');
  const [first = '', second = '', , fourth = ''] = await host.plans(
    'Write it',
    'Test it',
    'Document it',
    'Publish it',
  );
  for (const todo of [first, second]) {
    await host.works();
    await host.completes(todo, 'works');
    await host.stops();
    await bench.clock.advance(5000);
  }
  await host.happens({
    type: 'todo-updated',
    actor: 'agent',
    todoId: fourth,
    changes: { status: 'blocked', reason: 'needs a key' },
  });
  for (let stop = 0; stop < 4; stop += 1) {
    await host.stops();
    await bench.clock.advance(5000);
  }
  return host;
}

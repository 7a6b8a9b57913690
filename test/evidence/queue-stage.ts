// Where the proofs of the queue happen: a folder, a store with a policy of one check that
// counts its own starts, and programs bundled from the sources, because fifty of those
// start three times as fast.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundle } from '../../scripts/build/bundle.ts';
import { createCommandCheck } from '../../src/core/check-specs.ts';
import type { Event } from '../../src/core/events.ts';
import { canonicalPolicy } from '../../src/core/policy.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import type { Store } from '../../src/engine/store.ts';
import { sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

export type Program = 'asker' | 'hook';

const files: Readonly<Record<Program, string>> = {
  asker: 'plugin/programs/asker.mjs',
  hook: 'plugin/programs/hook.js',
};

export interface QueueStage {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a bundled program; `input` is what it reads. */
  start(program: Program, argv: readonly string[], options?: StartOptions): Running;
  /** How often the check was started so far. */
  starts(): number;
  /** What waits in the inbox of a session. */
  inbox(sessionId: string): Promise<readonly Event[]>;
  read<T>(work: (store: Store) => Promise<T>): Promise<T>;
  close(): void;
}

interface StartOptions {
  readonly input?: string;
  /** At the head of a process group of its own. */
  readonly detached?: boolean;
}

export interface Running {
  readonly child: ChildProcess;
  /** All that it printed, once it has ended. */
  readonly printed: Promise<string>;
}

/** The check waits so many seconds after it has counted its start. */
export async function setQueueStage(seconds: number): Promise<QueueStage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-queue-')));
  const folder = join(base, 'work');
  const counted = join(base, 'starts');
  mkdirSync(folder);
  await bundlePrograms(base);
  const check = createCommandCheck('count', {
    shell: `echo started >> ${counted}; sleep ${seconds}`,
  });
  const policy = {
    settings: defaultSettings,
    goalChecks: ['count'],
    checks: { count: check },
  };
  const text = canonicalPolicy(policy);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(base, 'user'),
    UNTILDONE_HOME: join(base, 'state'),
    POLICY: sha256(text).slice(0, 32),
    COUNTED: counted,
  };
  mkdirSync(environment.UNTILDONE_HOME, { mode: 0o700 });
  const open = () =>
    openSqliteStore({ path: storePath(environment), clock: systemClock });
  const stage: QueueStage = {
    folder,
    environment,
    start(program, argv, { input = '', detached = false } = {}) {
      const child = spawn(process.execPath, [join(base, files[program]), ...argv], {
        env: environment,
        cwd: folder,
        stdio: ['pipe', 'pipe', 'ignore'],
        detached,
      });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk;
      });
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      return {
        child,
        printed: new Promise((resolve) => child.on('close', () => resolve(out))),
      };
    },
    starts: () =>
      existsSync(counted) ? readFileSync(counted, 'utf8').split('\n').length - 1 : 0,
    inbox: (sessionId) =>
      stage.read(async (store) =>
        (await store.events({ sessionId, waiting: true })).map(({ event }) => event),
      ),
    async read(work) {
      const store = await open();
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    },
    close: () =>
      rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
  await stage.read((store) =>
    store.record({ policies: new Map([[environment.POLICY, text]]) }),
  );
  return stage;
}

/** The process that works through the queue of the folder; null: none does. */
export function findRunner(folder: string): number | null {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/u.test(each))) {
    const words = readWords(`/proc/${name}/cmdline`);
    if (
      words.some((word) => word.endsWith('check-runner.js')) &&
      words.includes(folder) &&
      words[0] !== '/bin/sh'
    )
      return Number(name);
  }
  return null;
}

/** Asks until it is so; false: it took too long. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<boolean> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}

/** As they are built; and the asker, which finds the runner beside it as a hook does. */
async function bundlePrograms(outdir: string): Promise<void> {
  for (const group of ['quick-program', 'late'] as const) await bundle(group, outdir);
  await build({
    entryPoints: [fileURLToPath(new URL('./asker.ts', import.meta.url))],
    outfile: join(outdir, files.asker),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.13',
    external: ['bun:sqlite'],
    logLevel: 'error',
  });
}

function readWords(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\0');
  } catch {
    // It ended while we looked.
    return [];
  }
}

// The command line as a human has it: child processes in a folder of their own, with a
// scripted model behind the variables that users set. It waits for what is printed, never
// for a fixed time.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import type { Session } from '../../src/core/state.ts';
import { systemClock } from '../../src/engine/system.ts';
import {
  type ScriptedModel,
  type Step,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';
import { sharedProgram } from '../support/bundled-program.ts';

const program = await sharedProgram();

export interface Running {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** The events printed so far by `--json`. */
  events(): readonly AgentEvent[];
  /**
   * Resolves with the first event that fits, printed already or not; fails when the
   * process ends without one.
   */
  sees(fits: (event: AgentEvent) => boolean): Promise<AgentEvent>;
  readonly ended: Promise<number | null>;
}

export interface CommandLine {
  readonly project: string;
  readonly model: ScriptedModel;
  start(...argv: string[]): Running;
  /** Runs to the end. */
  run(...argv: string[]): Promise<{
    readonly code: number | null;
    readonly out: string;
    readonly err: string;
  }>;
  /** The same on a terminal of its own, as `resume` wants it. */
  runOnTerminal(
    ...argv: string[]
  ): Promise<{ readonly code: number | null; readonly out: string }>;
  session(): Promise<Session>;
  /** What `start` starts, for tests that start it elsewhere. */
  words(...argv: string[]): readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly storePath: string;
  /** Adds variables to the environment of what is started from now on. */
  set(variables: Readonly<Record<string, string>>): void;
}

export interface CommandLineOptions {
  readonly steps: readonly Step[];
  /** Instead of the variables that point at the scripted model. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function openCommandLine({
  steps,
  environment,
}: CommandLineOptions): Promise<CommandLine> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-command-')));
  const project = join(base, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  const model = await startScriptedModel({ scripts: [script('story', steps)] });
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(base, 'user'),
    UNTILDONE_HOME: join(base, 'state'),
    ...(environment ?? {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-story-key-0123456789',
    }),
  };
  const children = new Set<Running>();
  onTestFinished(async () => {
    for (const { child } of children) child.kill('SIGKILL');
    await Promise.all([...children].map(({ ended }) => ended));
    await model.close();
    rmSync(base, { recursive: true, force: true });
  });

  function launch(command: string, argv: readonly string[]): Running {
    const child = spawn(command, argv, {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const running = watch(child);
    children.add(running);
    return running;
  }

  const start = (...argv: string[]): Running =>
    launch(process.execPath, [program, ...argv]);
  return {
    project,
    model,
    start,
    async run(...argv) {
      const running = start(...argv);
      const code = await running.ended;
      return { code, out: running.out(), err: running.err() };
    },
    async runOnTerminal(...argv) {
      const words = [process.execPath, program, ...argv]
        .map((word) => `'${word}'`)
        .join(' ');
      const running = launch('script', ['-qec', words, '/dev/null']);
      return { code: await running.ended, out: running.out() };
    },
    words: (...argv) => [process.execPath, program, ...argv],
    environment: env,
    storePath: storePath(env),
    set: (variables) => Object.assign(env, variables),
    async session() {
      const store = await openSqliteStore({ path: storePath(env), clock: systemClock });
      const [session] = await store.sessions({ limit: 1 });
      await store.close();
      if (session === undefined) throw new Error('There is no session.');
      return session;
    },
  };
}

function watch(child: ChildProcess): Running {
  let out = '';
  let err = '';
  let isOver = false;
  const waiting = new Set<() => void>();
  const news = (): void => {
    for (const look of [...waiting]) look();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    news();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      isOver = true;
      news();
      resolve(code);
    });
  });
  const events = (): readonly AgentEvent[] => {
    const whole = out.slice(0, out.lastIndexOf('\n') + 1).split('\n');
    return whole
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as AgentEvent);
  };
  return {
    child,
    out: () => out,
    err: () => err,
    events,
    ended,
    sees: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events().find(fits);
          if (found === undefined && !isOver) return;
          waiting.delete(look);
          if (found === undefined)
            reject(new Error(`It ended without that event:\n${out}\n${err}`));
          else resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

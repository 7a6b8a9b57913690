// Starts one command in the workspace and owns all its processes until the last has ended: in time, at its
// time limit, or with us. It does not judge the command: whoever calls it did that before.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { processVariable } from './command-environment.ts';
import { markedCommand } from './limit-mark.ts';
import { endProcessTree, type ProcessTree } from './process-tree.ts';

export interface CommandSettings {
  /** A line for /bin/sh, or a program and its arguments, which no shell ever sees. */
  readonly command: string | readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly endGraceMs: number;
  onOutput(text: string): void;
}
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it could not be started, or null. */
  readonly startError: string | null;
  /** Processes that still ran when the command itself was over, and were ended. */
  readonly leftRunning: number;
  /** Processes that could not be ended. */
  readonly notEnded: number;
}
export interface RunningCommand {
  readonly ended: Promise<CommandEnd>;
  /** Ends the whole tree. `ended` settles soon after. */
  end(): void;
}

/** How long a finished command's last output may take to arrive before what holds the pipe open is ended. */
const drainMs = 250;

export function startCommand(settings: CommandSettings): RunningCommand {
  const id = randomUUID();
  const { command } = settings;
  const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const [program = '', ...programArguments] = markedCommand(words, settings);
  let child: ChildProcess;
  try {
    child = spawn(program, programArguments, {
      cwd: settings.directory,
      env: { ...settings.environment, [processVariable]: id },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that it can be ended as a whole and Ctrl-C reaches only us.
      detached: true,
    });
  } catch (error) {
    // The command never ran, for example because it contains NUL: that is a result like any other.
    const startError = error instanceof Error ? error.message : String(error);
    return { ended: Promise.resolve({ ...notStarted, startError }), end: () => undefined };
  }
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', settings.onOutput);
  return watch(child, `${processVariable}=${id}`, settings.endGraceMs);
}

const notStarted: CommandEnd = {
  exitCode: null,
  signal: null,
  startError: null,
  leftRunning: 0,
  notEnded: 0,
};

function watch(child: ChildProcess, mark: string, graceMs: number): RunningCommand {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (child.pid === undefined) {
    const ended = new Promise<CommandEnd>((resolve) =>
      child.once('error', (error) => resolve({ ...notStarted, startError: error.message })),
    );
    return { ended, end: () => undefined };
  }
  const tree: ProcessTree = { group: child.pid, mark };
  const guardian = startGuardian(child.pid);
  let ending: Promise<void> | null = null;
  let isOver = false;
  let settle: (end: CommandEnd) => void = () => undefined;
  const ended = new Promise<CommandEnd>((resolve) => {
    settle = resolve;
  });
  const finish = async (exitCode: number | null, signal: string | null) => {
    if (isOver) return;
    isOver = true;
    await ending;
    await waitAtMost(closed, drainMs);
    const { found, left } = await endProcessTree(tree, graceMs);
    await waitAtMost(closed, drainMs);
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.unref();
    guardian.kill('SIGKILL');
    settle({ exitCode, signal, startError: null, leftRunning: found, notEnded: left });
  };
  child.once('exit', finish);
  return {
    ended,
    end() {
      ending ??= endProcessTree(tree, graceMs).then(({ left }) => {
        // A command that became another user's (sudo) cannot be ended by us: nobody shall wait for it.
        if (left > 0) void finish(null, null);
      });
    },
  };
}

/**
 * Ends the process group if we die without a chance to: its input is a pipe that closes with us. A kill -9
 * of ours would otherwise leave servers on their ports. What moved to a session of its own is not found here
 * but by endMarkedProcesses, when the session is resumed.
 */
function startGuardian(group: number): ChildProcess {
  const script = 'while read -r line; do :; done; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"';
  const guardian = spawn('/bin/sh', ['-c', script, 'sh', String(group)], {
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without it the command runs all the same; only the death of our own process would leave it behind.
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  return guardian;
}

async function waitAtMost(event: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([event, late]);
  clearTimeout(timer);
}

// Commands with all their processes: how they start, how they are ended as a whole, and
// how they are found again. It judges no command.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownVariables } from '../core/own-variables.ts';
import type { Environment } from '../engine/policy.ts';
import { isProcessAlive } from '../engine/system.ts';

type CommandPlace = Readonly<{
  directory: string;
  environment: Readonly<Record<string, string>>;
}>;

interface CommandSettings extends CommandPlace {
  /** A line for /bin/sh, or words that no shell ever sees. */
  readonly command: string | readonly string[];
  readonly endGraceMs: number;
  /** Written to standard input, which is then closed; absent: there is no input. */
  readonly input?: string | undefined;
  onOutput(text: string): void;
  /** Absent: error output goes to `onOutput` too. */
  onErrors?(text: string): void;
}

const notRun = {
  exitCode: null as number | null,
  signal: null as string | null,
  startError: null as string | null,
  /** How many processes outlived the command and were ended. */
  leftRunning: 0,
  notEnded: 0,
};
export type CommandEnd = Readonly<typeof notRun>;

const drainMs = 250;

type Running = ReturnType<typeof startCommand>;

const nobody = { end() {}, signal() {} };

/**
 * Starts a command. `end` ends its whole tree; `ended` resolves soon afterwards and never
 * rejects. `signal` goes to the command's process group alone.
 */
export function startCommand(settings: CommandSettings) {
  const {
    command,
    directory: cwd,
    environment,
    endGraceMs,
    input,
    onOutput,
    onErrors = onOutput,
  } = settings;
  const id = randomUUID();
  const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const [program = '', ...programArguments] = markedCommand(words, settings);
  let child: ChildProcess;
  try {
    const env = { ...environment, [processVariable]: id };
    // In a group of its own, so that it can be ended as a whole, and Ctrl-C reaches only
    // us.
    const stdin = input === undefined ? 'ignore' : 'pipe';
    child = spawn(program, programArguments, {
      cwd,
      env,
      detached: true,
      stdio: [stdin, 'pipe', 'pipe'],
    });
  } catch (error) {
    // A command with a NUL in it, for example, is a result like any other.
    return {
      ...nobody,
      ended: Promise.resolve({ ...notRun, startError: (error as Error).message }),
    };
  }
  const { stdout, stderr, pid: group } = child;
  const refused = new Promise<CommandEnd>((settle) => {
    child.once('error', ({ message }) => settle({ ...notRun, startError: message }));
  });
  if (group === undefined) return { ...nobody, ended: refused };
  stdout?.setEncoding('utf8').on('data', onOutput);
  stderr?.setEncoding('utf8').on('data', onErrors);
  // Safe: a command that ends before it has read its input shows that by its end.
  child.stdin?.on('error', () => {}).end(input);
  const tree = { group, mark: `${processVariable}=${id}` };
  const guardian = startGuardian(group);
  const closed = new Promise((settle) => child.once('close', settle));
  // The guardian keeps this process alive, not the timer.
  const drain = () => Promise.race([closed, sleep(drainMs, undefined, { ref: false })]);
  let ending: Promise<void> | null = null;
  let giveUp = () => {};
  const exited = new Promise<Pick<CommandEnd, 'exitCode' | 'signal'>>((settle) => {
    child.once('exit', (exitCode, signal) => settle({ exitCode, signal }));
    giveUp = () => settle(notRun);
  });
  const waitForEnd = async () => {
    const exit = await exited;
    await ending;
    await drain();
    const { found, left } = await endProcessTree(tree, endGraceMs);
    await drain();
    stdout?.destroy();
    stderr?.destroy();
    child.unref();
    guardian.kill('SIGKILL');
    return { ...notRun, ...exit, leftRunning: found, notEnded: left };
  };
  return {
    ended: waitForEnd(),
    signal: (name: NodeJS.Signals) => sendSignal({ ...tree, group: -1 }, [-group], name),
    end() {
      ending ??= endProcessTree(tree, endGraceMs).then(({ left }) => {
        // We cannot end another user's process (sudo), so we do not wait for it.
        if (left > 0) giveUp();
      });
    },
  };
}

/**
 * Waits for the command's end, and ends it when the time is over or the signal aborts.
 */
export async function endInTime(
  { end, ended }: Running,
  milliseconds: number,
  signal: AbortSignal,
) {
  let cause = null as 'time' | 'interruption' | null;
  const endFor = (reason: NonNullable<typeof cause>) => () => {
    cause ??= reason;
    end();
  };
  const timer = setTimeout(endFor('time'), Math.min(milliseconds, 2 ** 31 - 1));
  const onAbort = endFor('interruption');
  signal.addEventListener('abort', onAbort);
  const result = await ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  return { ...result, cause };
}

/**
 * Starts a process that ends the group if we are killed: its input is a pipe that closes
 * together with us.
 */
function startGuardian(group: number) {
  const script =
    'while read -r line; do :; done; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"';
  const spawnOptions = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', detached: true };
  const words = ['-c', script, 'sh', String(group)];
  const guardian = spawn('/bin/sh', words, {
    ...spawnOptions,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Safe: the command runs without the guardian too.
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  return guardian;
}

/**
 * The variables that commands get. Keys in the human's shell stay hidden from a command
 * that a model chose, unless it reads /proc or files.
 */
const passedOn = [
  'PATH HOME USER LOGNAME SHELL TMPDIR TZ LANG LANGUAGE',
  'XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR',
  'SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS NO_PROXY no_proxy',
].flatMap((names) => names.split(' '));
const proxies = 'HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy'.split(
  ' ',
);
/** There is no terminal, so nothing may wait for a key or draw. */
const fixed = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
};

export const sessionVariable = ownVariables.session;
export const agentSessionVariable = ownVariables.agentSession;
export const processVariable = ownVariables.process;

/**
 * Tells whether every command gets this variable, even if its check does not name it. A
 * proxy is passed on only if its address holds no password.
 */
export const isPassedOn = (name: string) =>
  passedOn.includes(name) || proxies.includes(name) || name.startsWith('LC_');

/** The environment of a command; `session` marks its processes. */
export function commandEnvironment(
  source: Environment,
  session: string,
  alsoPassOn: readonly string[] = [],
) {
  const hasPassword = (name: string, value: string) =>
    proxies.includes(name) && value.includes('@');
  const passes = (name: string, value: string) =>
    alsoPassOn.includes(name) || (isPassedOn(name) && !hasPassword(name, value));
  const passed = Object.entries(source).filter(
    ([name, value]) => value !== undefined && passes(name, value),
  );
  return {
    ...Object.fromEntries(passed),
    ...fixed,
    [sessionVariable]: session,
  } as Record<string, string>;
}

// Two hard limits that have had no meaning to Linux since 2004, on file locks and on
// resident memory. They are inherited, and only root can raise them again. There are two
// because containers and systemd may set one of them, and an agent may lower the other.
const lockMark = '4611686018427387903';
const memoryMarkKiB = 4_503_599_627_370_495n;
/**
 * dash sets the limit on locks with -w, bash with -x. Elsewhere there is no mark, and
 * nothing relies on the mark alone.
 */
const markingScript = `{ ulimit -w ${lockMark} || ulimit -x ${lockMark}; ulimit -m ${memoryMarkKiB}; } 2>/dev/null; exec "$@"`;

/**
 * Wraps a command so that its processes carry the mark. The words are arguments of the
 * shell, never part of its script.
 */
export function markedCommand(
  command: readonly string[],
  { directory, environment }: CommandPlace,
) {
  const [program = ''] = command;
  const folders = program.includes('/')
    ? ['']
    : (environment['PATH'] ?? '').split(delimiter);
  const isStartable = folders.some((folder) =>
    isExecutable(resolve(directory, folder, program)),
  );
  // A program that cannot be started is not wrapped, so that the system gives the reason
  // and not the shell.
  if (process.platform !== 'linux' || !isStartable) return command;
  return ['/bin/sh', '-c', markingScript, 'sh', ...command];
}

/** Tells whether the path is a file that we may run. */
export function isExecutable(path: string) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Safe: a file that cannot be examined cannot be started.
    return false;
  }
}

/**
 * Tells whether this process descends from a command of ours. If only one limit has
 * another value, the system set it; if both have one, somebody lowered them.
 */
export function hasLimitMark(limits = readOfSystem('/proc/self/limits')) {
  const hard = ['file locks', 'resident set'].map(
    (name) =>
      new RegExp(`^Max ${name}\\s+\\S+\\s+(\\d+)`, 'mu').exec(limits)?.[1] ?? 'unlimited',
  );
  const isMarked =
    hard.includes(lockMark) || hard.includes(String(memoryMarkKiB * 1024n));
  return isMarked || !hard.includes('unlimited');
}

function readOfSystem(path: string) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Safe: this is not Linux, or the process is gone or belongs to another user.
    return '';
  }
}

/**
 * The processes of a command. `mark` is NAME=value in each of their environments; group
 * -1: only the mark counts.
 */
type ProcessTree = Readonly<{ group: number; mark: string }>;

const pollMs = 25;
const killRounds = 40;

/**
 * Ends all processes of the tree, and counts those that it found and those that stay. A
 * process gets away if it changed both its group (setsid) and its environment, or if
 * another service started it.
 */
async function endProcessTree(tree: ProcessTree, graceMs: number) {
  let members = findProcessTree(tree);
  const found = members.length;
  sendSignal(tree, members, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  for (let kills = 0; members.length > 0 && kills < killRounds; ) {
    if (performance.now() >= deadline) {
      sendSignal(tree, members, 'SIGKILL');
      kills += 1;
    }
    await sleep(pollMs);
    members = findProcessTree(tree);
  }
  return { found, left: members.length };
}

/** Ends all processes with this mark. */
export const endMarkedProcesses = (mark: string, graceMs: number) =>
  endProcessTree({ group: -1, mark }, graceMs);

function sendSignal(
  { group }: ProcessTree,
  members: readonly number[],
  signal: NodeJS.Signals,
) {
  // The group goes first: between two single calls a process could fork.
  for (const target of members.length > 0 && group > 1 ? [-group, ...members] : members) {
    try {
      process.kill(target, signal);
    } catch {
      // Safe: the process is gone, or not ours to end; those that stay are counted.
    }
  }
}

/**
 * On Linux: the group, its descendants, and every process with the mark, orphans too.
 * Elsewhere: the group alone.
 */
export function findProcessTree({ group, mark }: ProcessTree): number[] {
  if (process.platform !== 'linux')
    return group > 1 && isProcessAlive(-group) ? [-group] : [];
  const parents = new Map<number, number>();
  const members = new Set<number>();
  const sought = `\0${Buffer.from(mark, 'utf8').toString('latin1')}\0`;
  for (const id of readdirSync('/proc').map(Number)) {
    if (!Number.isInteger(id) || id === process.pid) continue;
    const stat = readOfSystem(`/proc/${id}/stat`);
    // The name may hold parentheses, so the fields start after the last one.
    const [state = '', parentId, groupId] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ');
    if (['', 'Z', 'X'].includes(state)) continue;
    parents.set(id, Number(parentId));
    if (
      Number(groupId) === group ||
      `\0${readOfSystem(`/proc/${id}/environ`)}`.includes(sought)
    )
      members.add(id);
  }
  // Adds children that dropped the mark but kept their parent.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const [id, parent] of parents) if (members.has(parent)) members.add(id);
  }
  return [...members];
}

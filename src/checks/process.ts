// Commands in the workspace and all their processes: with which environment they start, how they are ended as a whole, and
// the marks by which they are found again. It does not judge a command: whoever calls it did that before.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from './files.ts';

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

/**
 * The environment that commands get is a short list of names, so that keys and tokens of the human's shell do not reach
 * programs that a model chose. It cannot hide them from a program that looks for them: one of the same user can read
 * the environment of our own process in /proc, and the human's files.
 */
const passedOn = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE'],
  ...['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'NO_PROXY', 'no_proxy'],
];
/** Passed on unless they carry a name and a password. */
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];

/** Nothing may wait for a key press or paint: there is no terminal. */
const fixed = { TERM: 'dumb', NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

/** Marks every process beneath a session of ours, so that an agent cannot approve itself. */
export const sessionVariable = 'UNTILDONE_SESSION';
/** Marks the processes of one command, so that they are found even in a process group of their own. */
export const processVariable = 'UNTILDONE_PROCESS';

/** `alsoPassOn`: names that the human allowed besides. */
export function commandEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  { session, alsoPassOn = [] }: { readonly session: string; readonly alsoPassOn?: readonly string[] },
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined) continue;
    const isHarmlessProxy = proxies.includes(name) && !value.includes('@');
    const isPassedOn =
      passedOn.includes(name) || name.startsWith('LC_') || isHarmlessProxy || alsoPassOn.includes(name);
    if (isPassedOn) environment[name] = value;
  }
  return { ...environment, ...fixed, [sessionVariable]: session };
}

/**
 * A mark that the processes of an agent cannot take off: a hard limit that every descendant inherits, through new
 * sessions, second forks and emptied environments, and that only root can raise again. The limit itself (on file locks)
 * means nothing to the kernel since 2004. Any number marks; this one is far from what anyone would set by hand.
 * Linux only; elsewhere the mark is not there, and nothing relies on it alone.
 */
const limitMark = '4611686018427387903';

/** dash calls the limit -w, bash -x; where a shell knows neither, the command runs without the mark. */
const markingScript = `ulimit -w ${limitMark} 2>/dev/null || ulimit -x ${limitMark} 2>/dev/null; exec "$@"`;

type StartPlace = Pick<CommandSettings, 'directory' | 'environment'>;

/** The same command beneath the mark. The words are arguments of the shell, never part of its script. */
export function markedCommand(command: readonly string[], place: StartPlace): readonly string[] {
  const [program = ''] = command;
  // What cannot be started is started as it is: then the system says why, and not the shell.
  if (process.platform !== 'linux' || !isStartable(program, place)) return command;
  return ['/bin/sh', '-c', markingScript, 'sh', ...command];
}

function isStartable(program: string, { directory, environment }: StartPlace): boolean {
  const folders = program.includes('/') ? [''] : (environment['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      const path = resolve(directory, folder, program);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      // Safe: it is not there, so the next folder is looked at.
      return false;
    }
  });
}

/** True: this process descends from a command that we started, whatever happened on the way. */
export function hasLimitMark(limits: string = readLimits()): boolean {
  const hard = /^Max file locks\s+\S+\s+(\S+)/mu.exec(limits)?.[1];
  return hard !== undefined && hard !== 'unlimited';
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Not Linux: there is no such mark, and the other signs of an agent are looked at.
    return '';
  }
}

export interface ProcessTree {
  /** The process group, which is the id of the process that leads it. */
  readonly group: number;
  /** NAME=value as it stands in the environment of every process of the tree. */
  readonly mark: string;
}

const pollMs = 25;
/** How often what is still there is killed again: a tree that forks faster than this many looks is given up. */
const killRounds = 40;

/**
 * Asks with SIGTERM, ends with SIGKILL after the grace. Answers how many processes it found and how many stay. On Linux
 * that is: the process group, every descendant, and every process that carries the mark in its environment, which also
 * finds those that moved to a session of their own and were orphaned. Elsewhere it is the process group alone.
 *
 * What gets away: a process that did both, leave its family (setsid and a second fork) and drop or overwrite its
 * environment; and anything started through another service (docker, systemd, cron).
 */
export async function endProcessTree(
  tree: ProcessTree,
  graceMs: number,
): Promise<{ found: number; left: number }> {
  let members = findProcessTree(tree);
  const found = members.length;
  sendSignal(tree, members, 'SIGTERM');
  const deadline = performance.now() + graceMs;
  while (members.length > 0 && performance.now() < deadline) {
    await sleep(pollMs);
    members = findProcessTree(tree);
  }
  for (let round = 0; members.length > 0 && round < killRounds; round += 1) {
    sendSignal(tree, members, 'SIGKILL');
    await sleep(pollMs);
    members = findProcessTree(tree);
  }
  return { found, left: members.length };
}

/** Ends what a session left behind when it was killed itself: to be called before it is resumed. */
export async function endMarkedProcesses(
  mark: string,
  graceMs: number,
): Promise<{ found: number; left: number }> {
  return endProcessTree({ group: noGroup, mark }, graceMs);
}

/** No process is in it; 0 would be our own. */
const noGroup = -1;

function sendSignal(tree: ProcessTree, members: readonly number[], signal: NodeJS.Signals): void {
  // The group in one call first: between two single ones it could fork.
  const targets = members.length > 0 && tree.group > 1 ? [-tree.group, ...members] : members;
  for (const target of targets) {
    try {
      process.kill(target, signal);
    } catch {
      // Gone already, or not ours to end; what stays is counted afterwards.
    }
  }
}

/** The living processes of the tree; ended ones that nobody collected yet do not count. */
export function findProcessTree(tree: ProcessTree): number[] {
  return process.platform === 'linux' ? findOnLinux(tree) : findGroup(tree.group);
}

function findGroup(group: number): number[] {
  if (group <= 1) return [];
  try {
    process.kill(-group, 0);
    return [-group];
  } catch (error) {
    // EPERM: there is one, but not ours to end. Anything else: there is none.
    return errorCode(error) === 'EPERM' ? [-group] : [];
  }
}

function findOnLinux(tree: ProcessTree): number[] {
  const parents = new Map<number, number>();
  const members = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const id = Number(name);
    if (!Number.isInteger(id) || id === process.pid) continue;
    const seen = lookAtProcess(id);
    if (seen === null) continue;
    parents.set(id, seen.parent);
    if (seen.group === tree.group || hasMark(id, tree.mark)) members.add(id);
  }
  // Children of members, until no more are found: those that dropped the mark but kept their parent.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const [id, parent] of parents) if (members.has(parent)) members.add(id);
  }
  return [...members];
}

function lookAtProcess(id: number): { parent: number; group: number } | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'latin1');
    // The name in parentheses may itself hold spaces and parentheses: the fields start after the last one.
    const [state, parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : { parent: Number(parent), group: Number(group) };
  } catch {
    // It ended between being listed and being looked at.
    return null;
  }
}

function hasMark(id: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${id}/environ`, 'utf8')}`.includes(`\0${mark}\0`);
  } catch {
    // Another user's process, or gone: not one of ours.
    return false;
  }
}

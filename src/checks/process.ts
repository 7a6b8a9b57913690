// Commands in the workspace and all their processes: with which environment they start, how they are ended as a whole, and
// the marks by which they are found again. It does not judge a command: whoever calls it did that before.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../engine/policy.ts';
import { errorCode } from '../engine/system.ts';

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
  readonly startError: string | null;
  /** Processes that still ran when the command itself was over, and were ended. */
  readonly leftRunning: number;
  readonly notEnded: number;
}

export type RunningCommand = ReturnType<typeof startCommand>;

/** How long a finished command's last output may take to arrive before what holds the pipe open is ended. */
const drainMs = 250;

export function startCommand(settings: CommandSettings) {
  const { command, endGraceMs } = settings;
  const id = randomUUID();
  const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const [program = '', ...programArguments] = markedCommand(words, settings);
  let child: ChildProcess;
  let ending: Promise<void> | null = null;
  let settle: (end: CommandEnd) => void = () => undefined;
  const running = {
    ended: new Promise<CommandEnd>((resolve) => {
      settle = resolve;
    }),
    /** Ends the whole tree. `ended` settles soon after. */
    end: (): void => {},
  };
  const fail = ({ message }: Error) =>
    settle({ exitCode: null, signal: null, startError: message, leftRunning: 0, notEnded: 0 });
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
    fail(error as Error);
    return running;
  }
  const { stdout, stderr, pid: group } = child;
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', settings.onOutput);
  child.once('error', fail);
  if (group === undefined) return running;
  const tree = { group, mark: `${processVariable}=${id}` };
  const guardian = startGuardian(group);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // The guardian keeps our process alive meanwhile, not this timer.
  const drain = () => Promise.race([closed, sleep(drainMs, undefined, { ref: false })]);
  let isOver = false;
  const finish = async (exitCode: number | null, signal: string | null) => {
    if (isOver) return;
    isOver = true;
    await ending;
    await drain();
    const { found, left } = await endProcessTree(tree, endGraceMs);
    await drain();
    stdout?.destroy();
    stderr?.destroy();
    child.unref();
    guardian.kill('SIGKILL');
    settle({ exitCode, signal, startError: null, leftRunning: found, notEnded: left });
  };
  child.once('exit', finish);
  running.end = () => {
    ending ??= endProcessTree(tree, endGraceMs).then(({ left }) => {
      // A command that became another user's (sudo) cannot be ended by us: nobody shall wait for it.
      if (left > 0) void finish(null, null);
    });
  };
  return running;
}

/** Waits for a command, and ends it when its time is over or the signal comes: `cause` says which. */
export async function endInTime(running: RunningCommand, milliseconds: number, signal: AbortSignal) {
  let cause: 'time' | 'interruption' | null = null;
  const endFor = (reason: 'time' | 'interruption') => {
    cause ??= reason;
    running.end();
  };
  const timer = setTimeout(() => endFor('time'), Math.min(milliseconds, 2 ** 31 - 1));
  const onAbort = () => endFor('interruption');
  signal.addEventListener('abort', onAbort);
  const ended = await running.ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  return { ...ended, cause: cause as 'time' | 'interruption' | null };
}

/**
 * Ends the process group if we are killed, which would leave servers on their ports: its input is a pipe that closes with
 * us. What moved to a session of its own is found by endMarkedProcesses, when the session is resumed.
 */
function startGuardian(group: number): ChildProcess {
  const script = 'while read -r line; do :; done; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"';
  const place = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', detached: true };
  const words = ['-c', script, 'sh', String(group)];
  const guardian = spawn('/bin/sh', words, { ...place, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without it the command runs all the same; only the death of our own process would leave it behind.
  guardian.on('error', () => undefined);
  guardian.stdin.on('error', () => undefined);
  return guardian;
}

/**
 * A short list, so that keys and tokens of the human's shell do not reach programs that a model chose. It cannot hide them
 * from one that looks for them: in the environment of our own process in /proc, or in the human's files.
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
  source: Environment,
  { session, alsoPassOn = [] }: { readonly session: string; readonly alsoPassOn?: readonly string[] },
): Record<string, string> {
  const names = [...passedOn, ...alsoPassOn];
  const isPassedOn = (name: string, value: string): boolean =>
    names.includes(name) || name.startsWith('LC_') || (proxies.includes(name) && !value.includes('@'));
  const passed = Object.entries(source).flatMap(([name, value]) =>
    value !== undefined && isPassedOn(name, value) ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(passed), ...fixed, [sessionVariable]: session };
}

/**
 * A mark that the processes of an agent cannot take off: a hard limit that every descendant inherits, through new sessions,
 * second forks and emptied environments, and that only root can raise again. The limit itself (on file locks) means nothing
 * to the kernel since 2004. Any number marks. Linux only: nothing relies on the mark alone.
 */
const limitMark = '4611686018427387903';

/** dash calls the limit -w, bash -x; where a shell knows neither, the command runs without the mark. */
const markingScript = `ulimit -w ${limitMark} 2>/dev/null || ulimit -x ${limitMark} 2>/dev/null; exec "$@"`;

/** The same command beneath the mark. The words are arguments of the shell, never part of its script. */
export function markedCommand(
  command: readonly string[],
  { directory, environment }: Pick<CommandSettings, 'directory' | 'environment'>,
): readonly string[] {
  const [program = ''] = command;
  const folders = program.includes('/') ? [''] : (environment['PATH'] ?? '').split(delimiter);
  const isStartable = folders.some((folder) => {
    try {
      const path = resolve(directory, folder, program);
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      // Safe: it is not there, so the next folder is looked at.
      return false;
    }
  });
  // What cannot be started is started as it is: then the system says why, and not the shell.
  if (process.platform !== 'linux' || !isStartable) return command;
  return ['/bin/sh', '-c', markingScript, 'sh', ...command];
}

/** True: this process descends from a command that we started, whatever happened on the way. */
export function hasLimitMark(limits: string = readOfSystem('/proc/self/limits')): boolean {
  const hard = /^Max file locks\s+\S+\s+(\S+)/mu.exec(limits)?.[1];
  return hard !== undefined && hard !== 'unlimited';
}

function readOfSystem(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Not Linux, a process that ended meanwhile or another user's: nothing is known, and no caller needs to know it.
    return '';
  }
}

export interface ProcessTree {
  /** The process group; one that no process is in for those of a mark alone. */
  readonly group: number;
  /** NAME=value as it stands in the environment of every process of the tree. */
  readonly mark: string;
}

const pollMs = 25;
/** How often what is still there is killed again: a tree that forks faster than this many looks is given up. */
const killRounds = 40;

/**
 * Asks with SIGTERM, ends with SIGKILL after the grace. On Linux the process group, every descendant, and every process that
 * carries the mark, which finds orphans in a session of their own; elsewhere the process group alone. What gets away: a
 * process that left its family (setsid and a second fork) and dropped its environment too; and anything started through
 * another service (docker, systemd, cron).
 */
export async function endProcessTree(tree: ProcessTree, graceMs: number) {
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

/** Ends what a session left behind when it was killed itself: to be called before it is resumed. */
export function endMarkedProcesses(mark: string, graceMs: number) {
  return endProcessTree({ group: -1, mark }, graceMs);
}

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
  return process.platform === 'linux' ? findOnLinux(tree) : findGroup(tree);
}

function findGroup({ group }: ProcessTree): number[] {
  if (group <= 1) return [];
  try {
    process.kill(-group, 0);
    return [-group];
  } catch (error) {
    // EPERM: there is one, but not ours to end. Anything else: there is none.
    return errorCode(error) === 'EPERM' ? [-group] : [];
  }
}

function findOnLinux({ group, mark }: ProcessTree): number[] {
  const parents = new Map<number, number>();
  const members = new Set<number>();
  const sought = `\0${Buffer.from(mark, 'utf8').toString('latin1')}\0`;
  for (const id of readdirSync('/proc').map(Number)) {
    if (!Number.isInteger(id) || id === process.pid) continue;
    const text = readOfSystem(`/proc/${id}/stat`);
    // The name in parentheses may itself hold spaces and parentheses: the fields start after the last one.
    const [state = '', itsParent, itsGroup] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (['', 'Z', 'X'].includes(state)) continue;
    parents.set(id, Number(itsParent));
    if (Number(itsGroup) === group || `\0${readOfSystem(`/proc/${id}/environ`)}`.includes(sought))
      members.add(id);
  }
  // Children of members, until no more are found: those that dropped the mark but kept their parent.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const [id, parent] of parents) if (members.has(parent)) members.add(id);
  }
  return [...members];
}

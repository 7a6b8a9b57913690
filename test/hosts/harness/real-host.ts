// A real host under test: what it must supply so that one suite can run over it, and how
// a turn of it is started. Every host is driven headless by its command line, one process
// per human message; what only one host can do is tested in its own folder. Nothing is
// judged here.
import { type ChildProcess, spawn } from 'node:child_process';
import type {
  FamilyName,
  LoggedRequest,
  ScriptedModel,
  Step,
} from '../../../src/scripted-model/index.ts';
import { endWithTest } from './end-with-test.ts';
import { hostProgram } from './install-host.ts';
import type { Project } from './project.ts';

export interface Surroundings {
  readonly project: Project;
  readonly model: ScriptedModel;
}

export interface HumanMessage extends Surroundings {
  readonly text: string;
  /** A UUID chosen by the suite, or what `conversationIn` found in the first turn. */
  readonly conversation: string;
  /** Else the conversation is taken up again. */
  readonly isFirst: boolean;
}

/**
 * How our program in the state directory is broken: it throws, prints what is no answer,
 * or never ends.
 */
export type Breakage = 'crash' | 'garbage' | 'hang';

export interface RealHost {
  /** Its row in src/hosts/hosts.ts and its folder in test/hosts. */
  readonly name: string;
  /** In `node_modules/.bin` of that folder. */
  readonly program: string;
  /**
   * The words of the command line for one human message, and what it reads (default:
   * nothing). It may write, run commands and call our tools without being asked.
   */
  turn(message: HumanMessage): {
    readonly words: readonly string[];
    readonly input?: string;
  };
  /**
   * Beside the project's own: the model's address, a dummy key, and every switch that
   * keeps the host quiet.
   */
  environment(around: Surroundings): Readonly<Record<string, string>>;
  /**
   * Files without which the host does not start or would ask somebody outside; before
   * `init`.
   */
  settle?(around: Surroundings): void;
  /** Words after `untildone init NAME`; default: none, the project's scope. */
  readonly initWords?: readonly string[];
  /**
   * The name by which the host knows the conversation; default: the one that was chosen.
   */
  conversationIn?(turn: Turn): string;
  /**
   * What the host showed to the human of ours in this turn. Null: it shows nothing
   * headless.
   */
  messages(turn: Turn): readonly string[] | null;
  /** As its human would; default: Ctrl-C, which reaches the whole group. */
  interrupt?(child: ChildProcess): void;
  /** Its own cap on continuations, where no setting raises it; default: none. */
  readonly hardCap?: number;
  /**
   * Which todo tools the model takes; default: the first that are offered, ours before
   * the host's.
   */
  readonly family?: FamilyName;
  /** A command that goes on beside the agent; default: the shell's `&`. */
  background?(command: string): Step;
  /**
   * Sends an agent off with these words; default: the host shows none that works while
   * its parent stops.
   */
  subagent?(prompt: string): Step;
  /**
   * Gives the hook of a stop so many seconds, as `init` would have written it with
   * `--timeout=SECONDS` in its command. Left out: the host sets no limit.
   */
  shortenStop?(project: Project, seconds: number): void;
  /**
   * What stands in our program when it is broken; default: what breaks a hook that Node
   * runs.
   */
  brokenProgram?(breakage: Breakage): string;
  /**
   * Installs us a second time beside the first; default: `init NAME --user`. Null: it
   * cannot be.
   */
  installTwice?: ((project: Project) => void | Promise<void>) | null;
}

export interface Turn {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it printed on both outputs, in the order of its arrival. */
  readonly printed: string;
  readonly stdout: string;
  /** What the model was asked from its start to its end. */
  readonly requests: readonly LoggedRequest[];
}

export interface RunningTurn {
  printed(): string;
  interrupt(): void;
  /** SIGKILL to everything that it started in its group. */
  kill(): void;
  /** Rejects when the host had to be ended. */
  readonly ended: Promise<Turn>;
}

/**
 * Less than a test may take, so that a host that hangs is ended by whoever started it.
 */
const longestRunMs = 90_000;

export function startTurn(
  host: RealHost,
  message: HumanMessage,
  more: Readonly<Record<string, string>> = {},
): RunningTurn {
  const { project, model } = message;
  const { words, input } = host.turn(message);
  const before = model.requests.length;
  const child = spawn(hostProgram(host.name, host.program), words, {
    cwd: project.directory,
    env: { ...project.environment, ...more },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that the test can end all of it.
    detached: true,
  });
  child.stdin?.end(input);
  let printed = '';
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  const { killGroup, release } = endWithTest(child);
  let isHung = false;
  const limit = setTimeout(() => {
    isHung = true;
    killGroup();
  }, longestRunMs);
  const ended = new Promise<Turn>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      if (isHung) reject(new Error(`${host.name} did not end by itself:\n${printed}`));
      else
        resolve({
          exitCode,
          signal,
          printed,
          stdout,
          requests: model.requests.slice(before),
        });
    });
  }).finally(() => {
    clearTimeout(limit);
    killGroup();
    release();
  });
  return {
    printed: () => printed,
    interrupt: () => (host.interrupt ?? interruptGroup)(child),
    kill: killGroup,
    ended,
  };
}

function interruptGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGINT');
}

/** Lines of JSON that a host prints; what is no JSON is left out. */
export function jsonLines<Line>({ stdout }: Pick<Turn, 'stdout'>): readonly Line[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Line] : [];
    } catch {
      // Safe: the host was ended in the middle of a line.
      return [];
    }
  });
}

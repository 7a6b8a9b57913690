// The real Claude Code as a process: headless, with a dummy key and the scripted model as
// its only neighbour. What it prints is kept line by line; with it dies everything that
// it started.
import { type ChildProcess, spawn } from 'node:child_process';

import type { ScriptedModel } from '../../../src/scripted-model/index.ts';
import { hostProgram } from '../harness/install-host.ts';
import type { Project } from '../harness/project.ts';
import { waitUntil } from '../harness/wait-until.ts';

const program = hostProgram('claude-code', 'claude');

/**
 * Less than a test may take, so that a host that hangs is ended by whoever started it.
 */
const longestRunMs = 100_000;

/** One line of `--output-format stream-json`. */
export interface ClaudeLine {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id?: string;
  readonly result?: string;
  readonly is_error?: boolean;
  readonly [field: string]: unknown;
}

export interface ClaudeOptions {
  /** Null: messages are sent one by one with `say`. */
  readonly prompt: string | null;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Claude {
  readonly lines: readonly ClaudeLine[];
  /** Everything that was printed, for a failed test to look at. */
  printed(): string;
  say(text: string): void;
  interrupt(): void;
  endInput(): void;
  /** SIGKILL to the host alone, as a crash or a closed laptop would. */
  crash(): void;
  /** The host and all that it started. */
  end(): void;
  /** Resolves when the process is gone. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
  }>;
  /** The results printed so far: one for each turn. */
  results(): readonly ClaudeLine[];
  waitForResults(count: number, seconds?: number): Promise<void>;
}

export function startClaude(
  project: Project,
  model: ScriptedModel,
  options: ClaudeOptions,
): Claude {
  const input =
    options.prompt === null ? ['--input-format', 'stream-json'] : [options.prompt];
  const child = spawn(
    program,
    [
      '-p',
      ...input,
      '--output-format',
      'stream-json',
      '--verbose',
      '--allowedTools',
      'Bash,Write,Edit,Agent',
      ...(options.words ?? []),
    ],
    {
      cwd: project.directory,
      env: { ...claudeEnvironment(project, model), ...options.environment },
      stdio: [options.prompt === null ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      // A group of its own, so that the test can end all of it.
      detached: true,
    },
  );
  return follow(child);
}

export function claudeEnvironment(
  project: Project,
  model: ScriptedModel,
): Readonly<Record<string, string>> {
  return {
    ...project.environment,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'dummy',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
}

function follow(child: ChildProcess): Claude {
  const lines: ClaudeLine[] = [];
  let printed = '';
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts)
      if (part.startsWith('{')) lines.push(JSON.parse(part) as ClaudeLine);
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    },
  );
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Safe: the group is gone already, which is what was wanted.
    }
  };
  const limit = setTimeout(() => {
    printed += `\nended by the test after ${longestRunMs} ms`;
    end();
  }, longestRunMs);
  void ended.catch(() => {}).finally(() => clearTimeout(limit));
  const write = (value: object) => child.stdin?.write(`${JSON.stringify(value)}\n`);
  const results = () => lines.filter(({ type }) => type === 'result');
  let requests = 0;
  return {
    lines,
    printed: () => printed,
    say: (text) => write({ type: 'user', message: { role: 'user', content: text } }),
    interrupt() {
      requests += 1;
      write({
        type: 'control_request',
        request_id: `request-${requests}`,
        request: { subtype: 'interrupt' },
      });
    },
    endInput: () => child.stdin?.end(),
    crash: () => child.kill('SIGKILL'),
    end,
    ended,
    results,
    waitForResults: (count, seconds) =>
      waitUntil(
        `Claude Code printed ${count} results`,
        () => results().length >= count,
        seconds,
      ),
  };
}

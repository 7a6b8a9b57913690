// `opencode run`: one prompt, headless, from its start to its end. It leaves at the first
// idle.
import { spawn } from 'node:child_process';
import type { LoggedRequest, ScriptedModel } from '../../../src/scripted-model/index.ts';
import { endWithTest } from '../harness/end-with-test.ts';
import type { Project } from '../harness/project.ts';
import { hostEnvironment, program } from './opencode.ts';

export interface Run {
  readonly exitCode: number | null;
  readonly printed: string;
  /** The session that the model was asked for. */
  readonly id: string;
  /**
   * What the model was asked in this run, the session's own requests and those of its
   * children.
   */
  readonly requests: readonly LoggedRequest[];
}

export interface RunOptions {
  readonly directory: string;
  readonly prompt: string;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Called once it runs; `interrupt` is Ctrl-C. */
  readonly drive?: (running: { interrupt(): void; printed(): string }) => Promise<void>;
}

/**
 * Less than a test may take, so that a host that hangs is ended by whoever started it.
 */
const longestRunMs = 100_000;

export async function runOpencode(
  project: Project,
  model: ScriptedModel,
  given: RunOptions,
): Promise<Run> {
  const before = model.requests.length;
  const child = spawn(program, ['run', ...(given.words ?? []), given.prompt], {
    cwd: given.directory,
    env: { ...hostEnvironment(project), ...given.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const { killGroup, release } = endWithTest(child);
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    killGroup();
  }, longestRunMs);
  try {
    await given.drive?.({
      interrupt: () => child.kill('SIGINT'),
      printed: () => printed,
    });
    const exitCode = await ended;
    if (hung)
      throw new Error(
        `opencode run did not end by itself within ${longestRunMs} ms:\n${printed}`,
      );
    const requests = model.requests.slice(before);
    const id = requests.find(({ isAside }) => !isAside)?.headers['x-session-id'] ?? '';
    return { exitCode, printed, id, requests };
  } finally {
    clearTimeout(limit);
    killGroup();
    release();
  }
}

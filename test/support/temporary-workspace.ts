// For tests: a workspace in a temporary folder with a folder beside it that nothing may
// touch.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openJobs } from '../../src/agent/workspace/shell.ts';
import type { Answer, ToolContext } from '../../src/agent/workspace/tool.ts';
import { defaultLimits, type WorkspaceLimits } from '../../src/agent/workspace/tool.ts';
import { workspaceTools } from '../../src/agent/workspace/workspace-tools.ts';
import { commandEnvironment } from '../../src/checks/process.ts';

export interface TemporaryWorkspace {
  readonly root: string;
  /** Beside the root; holds `secret.txt`. */
  readonly outside: string;
  readonly context: ToolContext;
  /** Writes a file of the workspace without any tool. */
  put(path: string, content: string | Uint8Array): string;
  call(tool: string, input: unknown): Promise<Answer>;
}

export function createTemporaryWorkspace(
  limits: Partial<WorkspaceLimits> = {},
  signal: AbortSignal = new AbortController().signal,
): TemporaryWorkspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-workspace-')));
  const root = join(base, 'root');
  const outside = join(base, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'the secret\n');
  const settings = { ...defaultLimits, endGraceMs: 300, ...limits };
  const environment = commandEnvironment(process.env, `test-${base}`);
  const jobs = openJobs({ root, environment, limits: settings });
  const context: ToolContext = { root, signal, limits: settings, jobs, environment };
  onTestFinished(async () => {
    await jobs.close();
    rmSync(base, { recursive: true, force: true });
  });
  return {
    root,
    outside,
    context,
    put(path, content) {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    async call(name, input) {
      const tool = workspaceTools.find((candidate) => candidate.name === name);
      if (tool === undefined) throw new Error(`There is no tool ${name}`);
      return tool.call(input, context);
    },
  };
}

export function outputOf(answer: Answer): string {
  if (typeof answer !== 'string') throw new Error(`The tool refused: ${answer.error}`);
  return answer;
}

export function errorOf(answer: Answer): string {
  if (typeof answer === 'string') throw new Error(`The tool did not refuse: ${answer}`);
  return answer.error;
}

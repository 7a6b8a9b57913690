// What the agent works with: the todo tools, the workspace tools behind their permissions, and its background jobs.

import type { CommandEnd } from '../../checks/process.ts';
import { commandEnvironment } from '../../checks/process.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { ToolCallContext } from '../../tools/todo-tool.ts';
import { createTodoTools } from '../../tools/todo-tools.ts';
import { JobRegistry } from '../workspace/job-registry.ts';
import { defaultLimits } from '../workspace/limits.ts';
import type { PermissionPolicy } from '../workspace/permission.ts';
import { workspaceTools } from '../workspace/workspace-tools.ts';
import { type AgentTool, fromTodoTool, fromWorkspaceTool } from './agent-tool.ts';
import type { JobWatch } from './waits.ts';

export interface RunWorkspace {
  readonly tools: readonly AgentTool[];
  readonly jobs: JobWatch;
  /** Ends every job; must be called once, at the end. */
  close(): Promise<void>;
}

export interface RunWorkspaceOptions {
  readonly todos: ToolCallContext;
  readonly directory: string;
  readonly settings: Settings;
  readonly permissions: PermissionPolicy;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function createRunWorkspace(options: RunWorkspaceOptions): RunWorkspace {
  const { directory, settings, permissions, todos } = options;
  const limits = { ...defaultLimits, commandMs: settings.tools.shellTimeoutSeconds * 1000 };
  const environment = commandEnvironment(options.environment, { session: todos.sessionId });
  const jobs = new JobRegistry({ directory, environment, limits });
  return {
    tools: [
      ...createTodoTools(todos).map(fromTodoTool),
      ...workspaceTools.map((tool) =>
        fromWorkspaceTool(tool, { root: directory, limits, jobs, environment }, permissions),
      ),
    ],
    jobs: {
      running: () => jobs.running(),
      onEnd: (listener) =>
        jobs.onEnd(({ id, description, end }) => listener({ id, description, result: describeEnd(end) })),
    },
    close: () => jobs.close(),
  };
}

function describeEnd({ exitCode, signal, startError }: CommandEnd): string {
  if (startError !== null) return `could not be started: ${startError}`;
  return exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit status ${exitCode}`;
}

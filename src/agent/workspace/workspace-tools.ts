// All workspace tools, in the order in which models see them. The order is part of the prompt: keep it stable.
import { editFile } from './edit-file.ts';
import { findFiles } from './find-files.ts';
import { grep } from './grep.ts';
import { listJobs, readJob, startJob, stopJob } from './job-tools.ts';
import { listDirectory } from './list-directory.ts';
import { readFile } from './read-file.ts';
import { shell } from './shell.ts';
import type { ToolContext, ToolOutcome, WorkspaceTool } from './tool.ts';
import { writeFile } from './write-file.ts';

/** A tool whose input type is not known to the caller: its input comes from a model and is parsed first. */
export type AnyWorkspaceTool = Omit<WorkspaceTool<unknown>, 'parse' | 'run'> & {
  call(input: unknown, context: ToolContext): Promise<ToolOutcome>;
};

function hideInputType<Input>(tool: WorkspaceTool<Input>): AnyWorkspaceTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    access: tool.access,
    async call(input, context) {
      const parsed = tool.parse(input);
      return parsed.ok ? tool.run(parsed.value, context) : parsed;
    },
  };
}

export const workspaceTools: readonly AnyWorkspaceTool[] = [
  hideInputType(readFile),
  hideInputType(writeFile),
  hideInputType(editFile),
  hideInputType(listDirectory),
  hideInputType(findFiles),
  hideInputType(grep),
  hideInputType(shell),
  hideInputType(startJob),
  hideInputType(readJob),
  hideInputType(stopJob),
  hideInputType(listJobs),
];

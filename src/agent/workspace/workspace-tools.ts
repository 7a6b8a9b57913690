// In the order in which models see them: it is part of the prompt, keep it stable.
import { editFile, readFile, writeFile } from './files.ts';
import { findFiles, grep, listDirectory } from './search.ts';
import { listJobs, readJob, shell, startJob, stopJob } from './shell.ts';
import type { WorkspaceTool } from './tool.ts';

export const workspaceTools: readonly WorkspaceTool[] = [
  readFile,
  writeFile,
  editFile,
  listDirectory,
  findFiles,
  grep,
  shell,
  startJob,
  readJob,
  stopJob,
  listJobs,
];

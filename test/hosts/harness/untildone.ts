// The built command line, as a person would call it in the project of a test.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Project } from './project.ts';

const program = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url));

/** Rejects when the command fails, with what it printed. */
export async function untildone(
  project: Project,
  ...words: readonly string[]
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], {
    cwd: project.directory,
    env: project.environment,
  });
  return stdout;
}

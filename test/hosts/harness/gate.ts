// A command for the scripted model to run that ends when the test says so: it waits for a
// file. It gives up by itself after a minute, so that a test that failed leaves nothing
// running.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project.ts';

export interface Gate {
  /** For a shell; run in the project's directory. */
  readonly command: string;
  /** The same without a shell. */
  readonly words: readonly [string, ...string[]];
  open(project: Pick<Project, 'directory'>): void;
}

export function createGate(name: string): Gate {
  // Named with a dot: the files of a project that tests look at are those that the agent
  // wrote.
  const file = `.open-${name}`;
  const program = `setInterval(()=>require('fs').existsSync('${file}')&&process.exit(),40);setTimeout(()=>process.exit(),60000)`;
  return {
    // Its name comes first: what names a job may be cut short behind a long path.
    command: `GATE=${name} "${process.execPath}" -e "${program}"`,
    words: [process.execPath, '-e', program],
    open: (project) => writeFileSync(join(project.directory, file), ''),
  };
}

// The entries of the library that are loaded to look at what they do then.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entries } from '../../scripts/build/entries.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const library = entries.filter(({ group }) => group === 'library');
/** They import packages of test/frameworks, whose tests look at them. */
const ofFrameworks = ['langchain', 'openai-agents'];

export const frameworkEntries = library.filter(({ output }) =>
  ofFrameworks.includes(output),
);
export const otherEntries = library.filter(
  ({ output }) => !ofFrameworks.includes(output),
);

/** What a program prints, and how it ends, that only imports this source. */
export function loadEntry(source: string) {
  const program = `const entry = await import(${JSON.stringify(join(root, source))});
    if (Object.keys(entry).length === 0) throw new Error('the entry exports nothing');`;
  const command = ['--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    timeout: 20_000,
    env: { PATH: process.env['PATH'] ?? '' },
  });
  return { status, stdout, stderr };
}

/** What `loadEntry` finds of an entry that only exports. */
export const cleanLoad = { status: 0, stdout: '', stderr: '' };

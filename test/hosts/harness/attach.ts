// `untildone attach` on a real terminal, beside a real host.
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { openTerminal, type Terminal } from '../../view/terminal.ts';
import type { Project } from './project.ts';

const program = fileURLToPath(new URL('../../../dist/bin.js', import.meta.url));

export function attach(
  { environment }: Project,
  directory: string,
  ...words: readonly string[]
): Terminal {
  const terminal = openTerminal({
    directory,
    environment: { ...environment, LC_ALL: 'C.UTF-8' },
  });
  onTestFinished(() => terminal.close());
  terminal.run(process.execPath, program, 'attach', ...words);
  return terminal;
}

// Asks git about the files of a work tree in the way that takes least: a small repository by one process, a large one by
// three beside each other. Both ways give the same answers.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  changedArguments,
  type GitAnswers,
  separateAnswers,
  trackedArguments,
  untrackedArguments,
  wholeArguments,
} from './git-files.ts';
import type { Repository } from './run-git.ts';

/** Null: git failed. */
export type AskGit = (words: readonly string[]) => Promise<string | null>;

/** About five thousand files: git looks at them in the time that two more processes take to start. */
const smallIndexBytes = 524_288;

export function askAboutFiles(repository: Repository, ask: AskGit): Promise<GitAnswers | null> {
  return isSmall(repository) ? askAtOnce(ask) : askBeside(ask);
}

/** By the file in which git keeps what it tracks. A work tree has it elsewhere: then nobody knows. */
function isSmall({ top }: Repository): boolean {
  const folder = join(top, '.git');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return (statSync(join(folder, 'index'), { throwIfNoEntry: false })?.size ?? 0) < smallIndexBytes;
}

export async function askAtOnce(ask: AskGit): Promise<GitAnswers | null> {
  const whole = await ask(wholeArguments);
  return whole === null ? null : separateAnswers(whole);
}

export async function askBeside(ask: AskGit): Promise<GitAnswers | null> {
  const [tracked, changed, untracked] = await Promise.all([
    ask(trackedArguments),
    ask(changedArguments),
    ask(untrackedArguments),
  ]);
  if (tracked === null || changed === null || untracked === null) return null;
  return { tracked, changed, untracked };
}

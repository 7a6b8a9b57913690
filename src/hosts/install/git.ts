// The few questions that installing asks git: where the repository begins, which file lists what it ignores, and
// whether a file is tracked. Where git is missing or the folder is no repository, the answer is null or false.
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import type { Environment } from './installer.ts';

export interface Repository {
  /** Root of the working tree that was asked about. */
  readonly root: string;
  /** Root of the main working tree, where hosts keep what belongs to all worktrees. */
  readonly mainRoot: string;
  readonly excludeFile: string;
}

export function findRepository(cwd: string, env: Environment): Repository | null {
  const [root, common, exclude] = placesOf(cwd, env);
  if (!root || !common || !exclude) return null;
  const commonFolder = isAbsolute(common) ? common : resolve(cwd, common);
  // A submodule or a bare repository with worktrees has its common folder somewhere else.
  const mainRoot = basename(commonFolder) === '.git' ? dirname(commonFolder) : root;
  return {
    root: realpathSync(root),
    mainRoot: realpathSync(mainRoot),
    excludeFile: isAbsolute(exclude) ? exclude : resolve(cwd, exclude),
  };
}

/** In one call where that is clear; a path may hold a line break, and then each question is asked alone. */
function placesOf(cwd: string, env: Environment): readonly (string | null | undefined)[] {
  const questions = [['--show-toplevel'], ['--git-common-dir'], ['--git-path', 'info/exclude']];
  const answers = git(['rev-parse', ...questions.flat()], cwd, env)?.split('\n') ?? [];
  if (answers.length <= questions.length) return answers;
  return questions.map((question) => git(['rev-parse', ...question], cwd, env));
}

export function isTracked(file: string, cwd: string, env: Environment): boolean {
  return git(['ls-files', '--error-unmatch', '--', file], cwd, env) !== null;
}

function git(args: readonly string[], cwd: string, env: Environment): string | null {
  try {
    // Variables that git sets for its own hooks would name another repository.
    const { GIT_DIR: _directory, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...rest } = env;
    return execFileSync('git', [...args], {
      ...{ cwd, env: rest, encoding: 'utf8', timeout: 10_000 },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).replace(/\r?\n$/, '');
  } catch {
    // Safe: no git or no repository; installing goes by the folder itself.
    return null;
  }
}

// Names where untildone keeps what it knows: one directory per user, for all hosts (V7).
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../engine/policy.ts';
import { errorCode, type FileStats, findRepository, statsOf } from '../engine/system.ts';

/** Always absolute. */
export function stateDirectory(environment: Environment): string {
  const { UNTILDONE_HOME: own, XDG_STATE_HOME: stateHome, HOME: home } = environment;
  if (own) return resolve(own);
  // The XDG rules say to ignore a relative path.
  if (stateHome && isAbsolute(stateHome)) return join(stateHome, 'untildone');
  return join(home || homedir(), '.local', 'state', 'untildone');
}

export function storePath(environment: Environment): string {
  return join(stateDirectory(environment), 'untildone.db');
}

/**
 * Why what it holds may be somebody else's; null: nobody else's, or there is nothing yet.
 */
export function whyNotPrivate(
  directory: string,
  stats: FileStats | null = statsOf(directory),
): string | null {
  const user = process.geteuid?.();
  if (stats === null || user === undefined) return null;
  const help = 'or set UNTILDONE_HOME to another directory.';
  if (![user, 0].includes(stats.uid))
    return `${directory} belongs to another user (${stats.uid}), who could change what untildone runs and believes: take it over with chown, ${help}`;
  if ((stats.mode & 0o022) === 0) return null;
  const mode = (stats.mode & 0o777).toString(8);
  return `${directory} can be written by others (mode ${mode}), who could change what untildone runs and believes: chmod go-w ${directory}, ${help}`;
}

/**
 * Why nothing can be kept there, with the way out; null: it can, or the folders can be
 * made. It makes none.
 */
export function whyNotWritable(directory: string): string | null {
  let there = directory;
  try {
    while (
      statSync(there, { throwIfNoEntry: false }) === undefined &&
      dirname(there) !== there
    )
      there = dirname(there);
    if (!statSync(there).isDirectory()) return notWritable(directory, 'ENOTDIR');
    accessSync(there, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    // Safe: not being allowed is the answer.
    return notWritable(directory, errorCode(error));
  }
}

function notWritable(directory: string, code: string): string {
  return `${directory} cannot be written (${code}), and untildone keeps its records there: set UNTILDONE_HOME to a directory of your own.`;
}

/** As `init` copies it there. */
export function holdsProgram(state: string): boolean {
  return process.argv[1]?.startsWith(join(state, 'bin', '/')) === true;
}

/**
 * By the folder that we were started in: what the project's settings say is not known
 * yet.
 */
function isInProject(state: string): boolean {
  const start = process.cwd();
  const within = join(findRepository(start)?.root ?? start, '/');
  return (
    within !== '/' && [state, realpathSync(state)].some((path) => path.startsWith(within))
  );
}

/**
 * What is loaded from now on comes out of Node's cache of compiled code, beside the
 * programs: its folder; null: none.
 */
export function useCompiledCode(environment: Environment): string | null {
  const state = stateDirectory(environment);
  const stats = statsOf(state);
  // Compiled code is code: none is taken from where others can write, nor from the
  // project that an agent works in, unless the program itself lies there (V10).
  if (stats === null || whyNotPrivate(state, stats) !== null) return null;
  if (!holdsProgram(state) && isInProject(state)) return null;
  // Node makes the folders by the process's mask.
  const mask = process.umask(0o077);
  const folder = join(state, 'bin', 'compiled');
  process.getBuiltinModule('node:module').enableCompileCache(folder);
  process.umask(mask);
  return folder;
}

// Finds the folder in which untildone keeps its records: one per user, for all hosts
// (V7). It creates nothing.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../engine/policy.ts';
import { errorCode, type FileStats, findRepository, statsOf } from '../engine/system.ts';

/** The folder's path; always absolute. */
export function stateDirectory(environment: Environment): string {
  const { UNTILDONE_HOME: ownHome, XDG_STATE_HOME: stateHome, HOME: home } = environment;
  if (ownHome) return resolve(ownHome);
  // The XDG rules say to ignore a relative path.
  if (stateHome && isAbsolute(stateHome)) return join(stateHome, 'untildone');
  return join(home || homedir(), '.local', 'state', 'untildone');
}

/** The path of the user's store. */
export function storePath(environment: Environment): string {
  return join(stateDirectory(environment), 'untildone.db');
}

/**
 * Says why the folder's contents may come from somebody else, and what to do; null: they
 * cannot, or the folder does not exist yet.
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
 * Says why nothing can be kept in the folder, and what to do; null: it can be written, or
 * can be created. It creates no folder.
 */
export function whyNotWritable(directory: string): string | null {
  let existing = directory;
  try {
    while (
      statSync(existing, { throwIfNoEntry: false }) === undefined &&
      dirname(existing) !== existing
    )
      existing = dirname(existing);
    if (!statSync(existing).isDirectory()) return notWritable(directory, 'ENOTDIR');
    accessSync(existing, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    // Safe: a refusal is the answer.
    return notWritable(directory, errorCode(error));
  }
}

function notWritable(directory: string, code: string): string {
  return `${directory} cannot be written (${code}), and untildone keeps its records there: set UNTILDONE_HOME to a directory of your own.`;
}

/** Tells whether the running program is one that `init` copied into the folder. */
export function holdsProgram(state: string): boolean {
  return process.argv[1]?.startsWith(join(state, 'bin', '/')) === true;
}

/**
 * Tells whether the folder lies in the project. The folder that we were started in
 * counts, since the project's settings are not known yet.
 */
function isInProject(state: string): boolean {
  const start = process.cwd();
  const within = join(findRepository(start)?.root ?? start, '/');
  return (
    within !== '/' && [state, realpathSync(state)].some((path) => path.startsWith(within))
  );
}

/**
 * From now on, modules are loaded from Node's cache of compiled code, which lies beside
 * the copied programs. Returns the cache's folder; null: it is not used.
 */
export function useCompiledCode(environment: Environment): string | null {
  const state = stateDirectory(environment);
  const stats = statsOf(state);
  // Compiled code is code. None is taken from a folder that others can write to, nor from
  // the project that an agent works in, unless the program itself lies there (V10).
  if (stats === null || whyNotPrivate(state, stats) !== null) return null;
  if (!holdsProgram(state) && isInProject(state)) return null;
  // Node creates the folders with the process's mask.
  const mask = process.umask(0o077);
  const folder = join(state, 'bin', 'compiled');
  process.getBuiltinModule('node:module').enableCompileCache(folder);
  process.umask(mask);
  return folder;
}

// Where untildone keeps what it knows: one directory per user, for all hosts on the machine (V7).
// It only names the place; whoever opens a store creates it.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export interface StateEnvironment {
  readonly UNTILDONE_HOME?: string | undefined;
  readonly XDG_STATE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
}

/** UNTILDONE_HOME, else XDG_STATE_HOME/untildone, else ~/.local/state/untildone. Always absolute. */
export function stateDirectory(environment: StateEnvironment): string {
  if (environment.UNTILDONE_HOME) return resolve(environment.UNTILDONE_HOME);
  // The XDG rules say that a relative path there is to be ignored.
  const stateHome = environment.XDG_STATE_HOME;
  if (stateHome && isAbsolute(stateHome)) return join(stateHome, 'untildone');
  return join(environment.HOME || homedir(), '.local', 'state', 'untildone');
}

/** The database file inside the state directory. */
export function storePath(environment: StateEnvironment): string {
  return join(stateDirectory(environment), 'untildone.db');
}

/**
 * For programs that are started often: what they load from now on comes out of Node's cache of compiled code. It lies beside
 * the programs, so that it goes with them; the state directory itself is made private by who writes it.
 */
export function useCompiledCode(environment: StateEnvironment): void {
  const state = stateDirectory(environment);
  if (!existsSync(state)) return;
  process.getBuiltinModule('node:module').enableCompileCache(join(state, 'bin', 'compiled'));
}

// Names where untildone keeps what it knows: one directory per user, for all hosts (V7).
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../engine/policy.ts';

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

/** What is loaded from now on comes out of Node's cache of compiled code, beside the programs. */
export function useCompiledCode(environment: Environment): void {
  const state = stateDirectory(environment);
  // Compiled code is code: none is taken from the folder that an agent works in (V10).
  const isProjects = process.cwd() !== '/' && state.startsWith(join(process.cwd(), '/'));
  if (isProjects || !existsSync(state)) return;
  process.getBuiltinModule('node:module').enableCompileCache(join(state, 'bin', 'compiled'));
}

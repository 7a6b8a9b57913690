// Looks for a program on PATH and asks its version, without a shell. A program that does not answer in time has no
// version.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from './installer.ts';

/** A cold start of a host takes a second or two. */
const patienceMs = 10_000;

export function findProgram(name: string, env: Environment): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

export function versionOfProgram(path: string, env: Environment): string | null {
  try {
    const text = execFileSync(path, ['--version'], {
      ...{ env, encoding: 'utf8', timeout: patienceMs },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /\d+\.\d+\.\d+[\w.-]*/.exec(text)?.[0] ?? null;
  } catch {
    // Safe: it is there and does not answer; whoever asked says so.
    return null;
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Safe: this is the question that was asked.
    return false;
  }
}

/** By the three numbers; what comes behind them (`-beta.1`) does not count. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  const index = [0, 1, 2].find((place) => one?.[place] !== other?.[place]);
  return index !== undefined && (one?.[index] ?? 0) < (other?.[index] ?? 0);
}

// Starts a program of ours that outlives the process that starts it: a host that ends a
// hook ends all its descendants too.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Environment } from './policy.ts';

/** The variable that makes a program built on Bun run a script. */
export const scriptSwitch = 'BUN_BE_BUN';

/**
 * Starts it and does not wait. `folder`: where it starts on Windows, so that it holds no
 * folder open elsewhere; on other systems it starts in `/`.
 */
export function startProgram(
  file: string,
  words: readonly string[],
  environment: Environment,
  folder: string,
): void {
  const isBun = process.versions['bun'] !== undefined;
  const call = [...(isBun ? [] : ['--no-warnings']), file, ...words];
  const env = isBun ? { ...environment, [scriptSwitch]: '1' } : environment;
  const options = { detached: true, stdio: 'ignore', env, cwd: '/' } as const;
  // The shell ends at once, so the program gets a new parent. The words are arguments,
  // never part of the script.
  const script = '"$@" </dev/null >/dev/null 2>&1 &';
  const child =
    process.platform === 'win32'
      ? spawn(process.execPath, call, { ...options, cwd: folder, windowsHide: true })
      : spawn('/bin/sh', ['-c', script, 'sh', process.execPath, ...call], options);
  // Safe: nobody waits for this program; a caller that needs its work sees that it is
  // missing.
  child.on('error', () => {});
  child.unref();
}

/**
 * Finds the program's file; null: it does not exist. `here` is the address of the calling
 * file, or undefined in a late file of a program, which does not know its address: then
 * the started program's address counts. Callers write `built` and `sources` out as
 * literals, since `init` copies files that a program names in this form.
 */
export function findProgram(
  here: string | undefined,
  built: readonly string[],
  sources: readonly string[],
): string | null {
  const started = pathToFileURL(process.argv[1] ?? '').href;
  const urls = [
    ...built.map((file) => new URL(file, here ?? started)),
    ...sources.map((file) => new URL(file, started)),
  ];
  return urls.map((url) => fileURLToPath(url)).find((path) => existsSync(path)) ?? null;
}

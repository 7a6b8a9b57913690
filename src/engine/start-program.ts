// Starts a program of ours that outlives whoever starts it: hosts end a hook with all its
// descendants.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Environment } from './policy.ts';

/** Makes a program built on Bun run a script. */
export const scriptSwitch = 'BUN_BE_BUN';

/** `folder`: where it starts on Windows; elsewhere it holds none. */
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
  // The shell ends at once, which gives the program a new parent. Words are never part of
  // the script.
  const script = '"$@" </dev/null >/dev/null 2>&1 &';
  const child =
    process.platform === 'win32'
      ? spawn(process.execPath, call, { ...options, cwd: folder, windowsHide: true })
      : spawn('/bin/sh', ['-c', script, 'sh', process.execPath, ...call], options);
  // Safe: nobody waits for it; who needs what it does sees that it is missing.
  child.on('error', () => {});
  child.unref();
}

/**
 * Null: it is not here. `here`: of the file that asks; a late file of a program does not
 * know its place, the started program does. `built` and `sources` are written out by who
 * asks: `init` copies files that a program names in this form.
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

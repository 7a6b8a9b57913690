// The programs that hosts start or load: found in the package, copied into the state directory (an npx cache is pruned),
// and taken away when nothing is installed any more. Each is one file; it never runs them.
import { existsSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../../engine/make-folder.ts';
import type { hookFileName } from './hook-command.ts';

/** The hook (it also runs checks), the commands that hosts start (the MCP server), the plugin that hosts load. */
export type ProgramName = typeof hookFileName | 'host-commands.js' | 'server.js';

/** `dist/` of the package that this code belongs to, whether it was bundled or runs from source. */
export function shippedFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'dist');
}

/** The pages that help texts name; they come along in the package. */
export function docsFolder(): string {
  return join(dirname(shippedFolder()), 'docs');
}

export function programPath(stateDirectory: string, version: string, name: ProgramName): string {
  return join(programsFolder(stateDirectory), version, name);
}

/** Null: every one of these programs is there. */
export function whyNotShipped(folder: string, names: readonly ProgramName[]): string | null {
  const missing = names.find((name) => !existsSync(join(folder, name)));
  return missing === undefined
    ? null
    : `${join(folder, missing)} is missing: this copy of untildone is not complete. Install it again, or run npm run build.`;
}

/** Is the copy the program that this package ships? */
export function isCopied(folder: string, copy: string, name: ProgramName): boolean {
  try {
    return readFileSync(join(folder, name)).equals(readFileSync(copy));
  } catch {
    // Safe: what cannot be read is not there.
    return false;
  }
}

/** In one step each: a hook that starts in this moment reads the old file or the new one. */
export function copyPrograms(
  folder: string,
  names: readonly ProgramName[],
  stateDirectory: string,
  version: string,
): void {
  for (const name of names) {
    const copy = programPath(stateDirectory, version, name);
    if (isCopied(folder, copy, name)) continue;
    makeFolder(dirname(copy), 0o700);
    const temporary = `${copy}.${process.pid}.tmp`;
    writeFileSync(temporary, readFileSync(join(folder, name)), { mode: 0o600 });
    renameSync(temporary, copy);
  }
}

/** When nothing is installed any more. The store stays: what happened is the person's. */
export function removePrograms(stateDirectory: string): void {
  rmSync(programsFolder(stateDirectory), { recursive: true, force: true });
  for (const folder of [join(stateDirectory, 'installs'), stateDirectory]) {
    try {
      rmdirSync(folder);
    } catch {
      // Safe: it holds the store, or is gone.
      return;
    }
  }
}

function programsFolder(stateDirectory: string): string {
  return join(stateDirectory, 'bin');
}

// Installs what a folder of the tests pins, from its own lock file: a host, a registry,
// the frameworks. What cannot be installed stops the run: nothing is skipped.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function installPinned(folder: string): void {
  const pinned = Object.entries(readManifest(folder).dependencies ?? {});
  const isThere = ([name, version]: readonly [string, string]): boolean => {
    const place = join(folder, 'node_modules', name);
    return existsSync(place) && readManifest(place).version === version;
  };
  if (!pinned.every(isThere)) {
    console.log(`Installing what ${relative('', folder)} pins, once …`);
    execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });
  }
  const missing = pinned.find((one) => !isThere(one));
  if (missing !== undefined)
    throw new Error(`${missing.join(' ')} was not installed in ${folder}.`);
}

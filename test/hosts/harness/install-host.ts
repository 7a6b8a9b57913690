// Installs one pinned host beside its tests, from its own lock file. A host that cannot be installed fails the run:
// nothing is skipped.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function hostFolder(host: string): string {
  return fileURLToPath(new URL(`../${host}/`, import.meta.url));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function installHost(host: string): void {
  const folder = hostFolder(host);
  const pinned = Object.entries(readManifest(folder).dependencies ?? {});
  const isThere = ([name, version]: readonly [string, string]): boolean => {
    const place = join(folder, 'node_modules', name);
    return existsSync(place) && readManifest(place).version === version;
  };
  if (!pinned.every(isThere)) execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });
  const missing = pinned.find((one) => !isThere(one));
  if (missing !== undefined) throw new Error(`${missing.join(' ')} was not installed in ${folder}.`);
}

// Installs what a folder of the host tests pins, a host or the registry, from its own lock file. What cannot be
// installed fails the run: nothing is skipped.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function hostFolder(host: string): string {
  return fileURLToPath(new URL(`../${host}/`, import.meta.url));
}

/** A program of a host: of the pinned package, or of the newest one that `--latest` has just installed. */
export function hostProgram(host: string, program: string): string {
  const folder = process.env['UNTILDONE_LATEST_HOST'] ?? hostFolder(host);
  return join(folder, 'node_modules', '.bin', program);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

export function installHost(host: string): void {
  installPinned(hostFolder(host));
}

/** The registry out of which tests install our own package. */
export function installRegistry(): void {
  installPinned(hostFolder('registry'));
}

function installPinned(folder: string): void {
  const pinned = Object.entries(readManifest(folder).dependencies ?? {});
  const isThere = ([name, version]: readonly [string, string]): boolean => {
    const place = join(folder, 'node_modules', name);
    return existsSync(place) && readManifest(place).version === version;
  };
  if (!pinned.every(isThere)) execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });
  const missing = pinned.find((one) => !isThere(one));
  if (missing !== undefined) throw new Error(`${missing.join(' ')} was not installed in ${folder}.`);
}

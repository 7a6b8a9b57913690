// Installs what a folder of the host tests pins, a host or the registry, from its own
// lock file. What cannot be installed fails the run: nothing is skipped.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPinned, readManifest } from '../../../scripts/package/install-pinned.ts';

function hostFolder(host: string): string {
  return fileURLToPath(new URL(`../${host}/`, import.meta.url));
}

/**
 * A program of a host: of the pinned package, or of the newest one that `--latest` has
 * just installed.
 */
export function hostProgram(host: string, program: string): string {
  const folder = process.env['UNTILDONE_LATEST_HOST'] ?? hostFolder(host);
  return join(folder, 'node_modules', '.bin', program);
}

export function installHost(host: string): void {
  installPinned(hostFolder(host));
}

/** The registry out of which tests install our own package. */
export function installRegistry(): void {
  installPinned(hostFolder('registry'));
}

/** Of the package that the folder names first. */
export function pinnedVersion(host: string): string {
  return Object.values(readManifest(hostFolder(host)).dependencies ?? {})[0] ?? '';
}

/**
 * The newest published packages of a host, with the pinned ones' leave to run scripts.
 */
export function installLatest(
  host: string,
  folder: string,
): { readonly folder: string; readonly version: string } {
  const manifest = readManifest(hostFolder(host));
  const names = Object.keys(manifest.dependencies ?? {});
  const dependencies = Object.fromEntries(names.map((name) => [name, 'latest']));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, dependencies }),
  );
  const { status } = spawnSync('npm', ['install', '--no-fund', '--no-audit'], {
    cwd: folder,
    stdio: 'inherit',
  });
  // A registry of one's own may have the newest package and not all that it needs.
  if (status !== 0)
    throw new Error(
      `The newest ${names.join(', ')} cannot be installed from this registry.`,
    );
  const { version = 'unknown' } = readManifest(
    join(folder, 'node_modules', names[0] ?? ''),
  );
  return { folder, version };
}

// Installs a package into a temporary folder, as a host's loader would: without scripts,
// with all that it depends on. It runs nothing of what it installed.
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Installed {
  /** The file that a host loads. */
  readonly entry: string;
  readonly bytes: number;
  remove(): void;
}

/** @param source a package of the registry, or a folder that is packed first */
export function installInto(source: string, name: string, entry: string): Installed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-size-')));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const isFolder = source.startsWith('/');
  const packed = isFolder
    ? join(
        folder,
        execFileSync(
          'npm',
          ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
          {
            cwd: source,
            encoding: 'utf8',
          },
        ).trim(),
      )
    : source;
  execFileSync(
    'npm',
    ['install', '--silent', '--no-fund', '--no-audit', '--ignore-scripts', packed],
    {
      cwd: folder,
    },
  );
  return {
    entry: join(folder, 'node_modules', name, entry),
    bytes: sizeOf(join(folder, 'node_modules')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function sizeOf(path: string): number {
  const about = lstatSync(path);
  if (!about.isDirectory()) return about.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

// Packs the built package and publishes the tarball, as a release would. It builds
// nothing: what it finds in `dist/` is what users of that registry get.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Registry } from './start-registry.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/**
 * @param folder for the tarball and for a home with a token that means nothing: npm
 * publishes nothing without one
 */
export async function publishPackage(
  registry: Registry,
  folder: string,
  path: string,
): Promise<void> {
  mkdirSync(folder);
  const { host } = new URL(registry.url);
  writeFileSync(
    join(folder, '.npmrc'),
    `registry=${registry.url}\n//${host}/:_authToken=dummy\n`,
  );
  const env = { PATH: path, HOME: folder };
  // Without scripts: those of a release build and check, which has been done.
  const pack = ['pack', root, '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: folder, env });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
  if (packed === undefined) throw new Error(`npm packed nothing: ${stdout}`);
  await run('npm', ['publish', join(folder, packed.filename), '--ignore-scripts'], {
    cwd: folder,
    env,
  });
}

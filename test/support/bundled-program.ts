import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundledPackages } from '../../scripts/build/bundled-packages.ts';

/**
 * The program as it is shipped, from the sources as they are now: it starts three times
 * as fast as those.
 */
export async function bundleProgram(outdir: string): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/bin.ts'],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.13',
    external: ['bun:sqlite'],
    ...bundledPackages(root),
    logLevel: 'error',
  });
  return join(outdir, 'bin.mjs');
}

/**
 * The same one for all files of one run of the tests, whose temporary folder it goes with
 * (temporary-root.ts). Whoever needs it first makes it.
 */
export async function sharedProgram(): Promise<string> {
  const folder = join(tmpdir(), 'program');
  if (!existsSync(folder)) {
    const own = mkdtempSync(join(tmpdir(), 'program-'));
    await bundleProgram(own);
    try {
      renameSync(own, folder);
    } catch {
      // Safe: another process was quicker, and both are alike.
      rmSync(own, { recursive: true, force: true });
    }
  }
  return join(folder, 'bin.mjs');
}

// Runs the store contract over the SQLite store under Bun, where it stands on bun:sqlite
// instead of node:sqlite:
//   node test/bun-store-smoke.ts PATH-TO-BUN
// Bun's own test runner stands in for vitest. It installs nothing: the caller brings the
// program.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [bun] = process.argv.slice(2);
if (bun === undefined) {
  console.error('Say which Bun to use: node test/bun-store-smoke.ts PATH-TO-BUN');
  process.exit(2);
}

const directory = mkdtempSync(join(tmpdir(), 'untildone-bun-'));
try {
  const outfile = join(directory, 'sqlite-contract.test.js');
  await build({
    entryPoints: [
      fileURLToPath(
        new URL('../src/store/sqlite/sqlite-contract.test.ts', import.meta.url),
      ),
    ],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { vitest: 'bun:test' },
    external: ['bun:*'],
    logLevel: 'error',
  });
  const { status } = spawnSync(bun, ['test', outfile], {
    cwd: directory,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(directory, { recursive: true });
}

// What the live view costs while it is busy (busy-view.ts): CPU milliseconds per second
// in a real terminal (tmux), as it is bundled for people. Must hold: 150 at 80×24, 300 at
// 200×60. Usage: npm run bench -- view [SECONDS]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundledPackages } from '../../scripts/build/bundled-packages.ts';
import { openTerminal } from '../../test/view/terminal.ts';

const seconds = process.argv[2] ?? '10';
const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'untildone-view-'));
const program = join(scratch, 'busy-view.mjs');
await build({
  entryPoints: [join(root, 'bench/view/busy-view.ts')],
  outfile: program,
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  minify: true,
  ...bundledPackages(root),
});
try {
  for (const [columns, rows, most] of [
    [80, 24, 150],
    [200, 60, 300],
  ] as const) {
    const result = join(scratch, `${columns}`);
    const environment = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' };
    const terminal = openTerminal({ columns, rows, directory: scratch, environment });
    try {
      terminal.run(process.execPath, program, seconds, result);
      await terminal.ended((Number(seconds) + 30) * 1000);
    } finally {
      terminal.close();
    }
    const cost = Number(readFileSync(result, 'utf8'));
    const size = `${columns}×${rows}`;
    process.stdout.write(
      `${size}: ${cost.toFixed(0)} ms of CPU a second (must hold: ${most})\n`,
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

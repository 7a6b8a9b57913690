// Makes docs/demo.svg from a real run of the demo on a pseudo-terminal: what stands there was printed by the program.
// Usage: npm run build && npm run record:demo
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawTerminal } from './terminal-picture.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const columns = 100;
const recorded = spawnSync(
  'script',
  ['-qec', `stty cols ${columns} rows 50; exec ${process.execPath} dist/bin.js demo`, '/dev/null'],
  {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
  },
);
if (recorded.status !== 0) throw new Error(`the demo ended with ${recorded.status}: ${recorded.stdout}`);
const { svg, lines } = drawTerminal('untildone demo', columns, recorded.stdout);
writeFileSync(join(root, 'docs/demo.svg'), svg);
process.stdout.write(`docs/demo.svg: ${lines} lines\n`);

// Makes docs/demo.svg from a real run of the demo in a real terminal (tmux): what it plays was on the screen, when it
// was there. Usage: npm run build && npm run record:demo
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTerminal } from '../test/view/terminal.ts';
import { drawFilm, type Shot } from './terminal-film.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const columns = 80;
const rows = 24;
/** More often than this nobody sees a difference, and the file grows. */
const shotMs = 250;
const longestMs = 120_000;

const terminal = openTerminal({
  columns,
  rows,
  directory: root,
  environment: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', LC_ALL: 'C.UTF-8' },
});
const shots: Shot[] = [];
const ended = /\s*ended-1=(\d+)[\s\S]*$/u;
const deadline = Date.now() + longestMs;
try {
  terminal.run(process.execPath, join(root, 'dist/bin.js'), 'demo');
  await terminal.sees('everything else is real');
  for (let code: string | undefined; code === undefined; await sleep(shotMs)) {
    const picture = terminal.picture();
    code = ended.exec(picture)?.[1];
    if (code !== undefined && code !== '0') throw new Error(`the demo ended with ${code}: ${picture}`);
    if (Date.now() > deadline) throw new Error(`the demo did not end: ${picture}`);
    const text = picture.replace(ended, '');
    if (text !== shots.at(-1)?.text) shots.push({ at: Date.now(), text });
  }
} finally {
  terminal.close();
}
const svg = drawFilm({ title: 'untildone demo', columns, rows, shots, restMs: 6000 });
writeFileSync(join(root, 'docs/demo.svg'), svg);
const seconds = Math.round(((shots.at(-1)?.at ?? 0) - (shots[0]?.at ?? 0)) / 1000);
process.stdout.write(
  `docs/demo.svg: ${shots.length} screens, ${seconds} s, ${Math.round(svg.length / 1000)} kB\n`,
);

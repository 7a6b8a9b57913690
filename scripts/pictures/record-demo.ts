// Makes docs/demo.svg from a real run of the demo in a real terminal (tmux): what it
// plays was on the screen, when it was there. And docs/demo-still.svg, its most telling
// screen, for whoever wants nothing to move.
// Usage: npm run chores -- record-demo
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { openTerminal } from '../../test/view/terminal.ts';
import { drawFilm, type Shot } from './terminal-film.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const columns = 80;
const rows = 24;
/** More often than this nobody sees a difference, and the file grows. */
const shotMs = 250;
const longestMs = 120_000;

/**
 * What the screens show, in the order of the story. The last whose words have been on the
 * screen is the caption.
 */
const captions: readonly (readonly [seen: string, caption: string])[] = [
  ['', 'An agent with bad habits gets a plan, and a test that must pass.'],
  ['"All done!" refused', '1. It says "All done!" with todos open: refused, it goes on.'],
  ['permission: ', 'A worker wants to run a command: you are asked.'],
  ['presses Ctrl-C', 'Ctrl-C: it ends after the step, and nothing is lost.'],
  ['resumed:', 'The same session, taken up again.'],
  ['refused: it left', '2. It drops a todo from the list: refused.'],
  ['refused: it asked', '3. It asks "Shall I go on?": refused.'],
  ['refused: check', '4. It says "Finished" while the test fails: refused.'],
  ['What you just saw', 'The test passes and nothing is open: now it may stop.'],
];
let chapter = 0;
function captionOf(screen: string): string {
  const later = captions.findLastIndex(([seen]) => screen.includes(seen));
  chapter = Math.max(chapter, later);
  return captions[chapter]?.[1] ?? '';
}

const terminal = openTerminal({
  columns,
  rows,
  directory: root,
  environment: {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
  },
});
const shots: Shot[] = [];
const ended = /\s*ended-1=(\d+)[\s\S]*$/u;
const deadline = Date.now() + longestMs;
try {
  terminal.run(process.execPath, join(root, 'dist/bin.js'), 'demo');
  // Before there is a plan the screen is almost empty.
  await terminal.sees('Write the greeting');
  for (let code: string | undefined; code === undefined; await sleep(shotMs)) {
    const picture = terminal.picture();
    code = ended.exec(picture)?.[1];
    if (code !== undefined && code !== '0')
      throw new Error(`the demo ended with ${code}: ${picture}`);
    if (Date.now() > deadline) throw new Error(`the demo did not end: ${picture}`);
    const text = picture.replace(ended, '');
    const caption = captionOf(stripVTControlCharacters(text));
    if (text !== shots.at(-1)?.text) shots.push({ at: Date.now(), text, caption });
  }
} finally {
  terminal.close();
}
const film = { title: 'untildone demo', columns, rows, restMs: 6000 };
const svg = drawFilm({ ...film, shots });
writeFileSync(join(root, 'docs/demo.svg'), svg);
const telling = shots.findLast(({ caption }) => caption.startsWith('4.')) ?? shots.at(-1);
if (telling !== undefined)
  writeFileSync(
    join(root, 'docs/demo-still.svg'),
    drawFilm({ ...film, shots: [telling] }),
  );
const seconds = Math.round(((shots.at(-1)?.at ?? 0) - (shots[0]?.at ?? 0)) / 1000);
process.stdout.write(
  `docs/demo.svg: ${shots.length} screens, ${seconds} s, ${Math.round(svg.length / 1000)} kB\n`,
);

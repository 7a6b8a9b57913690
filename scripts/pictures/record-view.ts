// Makes the pictures in docs/view from the live view in a real terminal (tmux): one for
// each scene of its tests.
// Usage: npm run chores -- record-view [SCENE…]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Scene, scenes } from '../../test/view/scenes.ts';
import { openTerminal } from '../../test/view/terminal.ts';
import { drawTerminal } from './terminal-picture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs/view');
const wanted = process.argv.slice(2);

async function record(scene: Scene): Promise<void> {
  const { columns = 80, rows = 24 } = scene;
  const terminal = openTerminal({
    columns,
    rows,
    directory: root,
    environment: {
      PATH: process.env['PATH'] ?? '',
      LC_ALL: 'C.UTF-8',
      ...scene.environment,
    },
  });
  try {
    terminal.run(
      process.execPath,
      '--no-warnings',
      join(root, 'test/view/stage.ts'),
      scene.name,
    );
    await terminal.sees(scene.shows[0] ?? '');
    // Long enough for a question to take keys, and for something to have run for a
    // moment.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    if (scene.keys !== undefined) terminal.press(...scene.keys);
    if (scene.types !== undefined) terminal.type(scene.types);
    for (const shown of scene.shows.slice(1)) await terminal.sees(shown);
    const { svg } = drawTerminal(
      scene.title,
      columns,
      withoutShell(terminal.picture()),
      scene.light ? 'light' : 'dark',
    );
    writeFileSync(join(folder, `${scene.name}.svg`), svg);
  } finally {
    terminal.close();
  }
}

/** What the shell says after the program has ended is not part of it. */
function withoutShell(picture: string): string {
  return picture.replace(/\s*ended-\d+=[\s\S]*$/u, '');
}

mkdirSync(folder, { recursive: true });
for (const scene of scenes) {
  if (wanted.length === 0 || wanted.includes(scene.name)) await record(scene);
}

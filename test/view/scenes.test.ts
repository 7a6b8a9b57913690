// Every state of the live view in a real terminal: what is drawn, and that the terminal
// is clean afterwards.
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Scene, scenes } from './scenes.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stage = fileURLToPath(new URL('stage.ts', import.meta.url));

function open(
  scene: Scene,
  environment: Readonly<Record<string, string>> = {},
): Terminal {
  const { columns = 80, rows = 24 } = scene;
  const terminal = openTerminal({
    columns,
    rows,
    directory: root,
    environment: {
      PATH: process.env['PATH'] ?? '',
      LC_ALL: 'C.UTF-8',
      ...scene.environment,
      ...environment,
    },
  });
  onTestFinished(() => terminal.close());
  return terminal;
}

function scene(name: string): Scene {
  return scenes.find((each) => each.name === name)!;
}

async function play(scene: Scene, ...words: string[]): Promise<Terminal> {
  const terminal = open(scene);
  terminal.run(process.execPath, '--no-warnings', stage, scene.name, ...words);
  await terminal.sees(scene.shows[0] ?? '');
  return terminal;
}

const clean = { echo: true, lines: true, cursor: true };

describe('the live view in a real terminal', () => {
  it.each(scenes.map((each) => [each.name, each] as const))(
    'C3: shows %s',
    async (_name, each) => {
      const terminal = await play(each);
      if (each.keys !== undefined) terminal.press(...each.keys);
      if (each.types !== undefined) terminal.type(each.types);
      for (const wanted of each.shows.slice(1)) await terminal.sees(wanted);
      for (const unwanted of each.hides ?? [])
        expect(terminal.screen()).not.toContain(unwanted);
      const wide = terminal.screen().split('\n').length;
      expect(wide).toBeLessThanOrEqual(each.rows ?? 24);
      if (each.name !== 'ended') terminal.press('C-c');
      expect(await terminal.ended()).toBe(0);
      expect(await terminal.modes()).toEqual(clean);
    },
  );

  const sizes = [60, 80, 200].flatMap((columns) =>
    ['continuation', 'checks', 'diff', 'markdown', 'permission', 'ended'].map(
      (name) => [name, columns] as const,
    ),
  );
  it.each(sizes)(
    'Must hold 2: %s fits %i columns, says the same, and leaves a clean terminal',
    async (name, columns) => {
      const each = { ...scene(name), columns, rows: 50 };
      const terminal = await play(each);
      if (each.keys !== undefined) terminal.press(...each.keys);
      const words = (text: string): string => text.replace(/\s+/gu, '');
      for (const wanted of each.shows)
        if (typeof wanted === 'string') await terminal.sees(wanted.slice(0, 24));
      const seen = terminal.screen();
      expect(
        Math.max(...seen.split('\n').map((line) => line.length)),
      ).toBeLessThanOrEqual(columns);
      expect(words(seen)).toContain(name === 'ended' ? '4todos:' : '1/4,1blocked');
      if (name !== 'ended') terminal.press('C-c');
      expect(await terminal.ended()).toBe(0);
      expect(await terminal.modes()).toEqual(clean);
    },
  );

  it('C3: what was shown stays above; the living part is gone at the end', async () => {
    const terminal = await play(scene('checks'));
    terminal.press('C-c');
    await terminal.ended();
    const text = terminal.scrollback();
    expect(text).toContain('» goal: migrate the tests to vitest');
    expect(text).toContain(
      '✗ check "npm test" failed (840 ms): Exit code 1 instead of 0.',
    );
    expect(text).not.toContain('plan [');
    expect(text).not.toContain('Ctrl-C stops');
    expect(text.match(/goal: migrate/gu)).toHaveLength(1);
  });

  it('C3: follows the size of the terminal, down to 40 columns and up again, without a second picture', async () => {
    const terminal = await play(scene('working'));
    for (const [columns, rows] of [
      [40, 24],
      [100, 30],
      [60, 12],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      // Both in one look: a terminal that is looked at twice may be in the middle of a
      // drawing the second time.
      const rule = new RegExp(`^─{${columns - 1}}\nplan \\[`, 'mu');
      const lines = (await terminal.sees(rule)).split('\n');
      expect(lines.filter((line) => line.startsWith('plan ['))).toHaveLength(1);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
    terminal.press('C-c');
    await terminal.ended();
    expect(await terminal.modes()).toEqual(clean);
  });

  it('C3: a plan of 500 todos scrolls by keys and goes back to the current one', async () => {
    const terminal = await play(scene('long-plan'));
    terminal.press('Home');
    await terminal.sees('todos 1-8 of 500, Tab goes back');
    terminal.press('PageDown');
    await terminal.sees('todos 9-16 of 500');
    terminal.press('Down');
    await terminal.sees('todos 10-17 of 500');
    terminal.press('Up', 'PageUp');
    await terminal.sees('todos 1-8 of 500');
    terminal.press('Tab');
    await terminal.sees(/todos 249-256 of 500(?!,)/u);
  });

  it('S7: a letter and Enter answer a permission; a word that begins with such a letter is a message', async () => {
    const terminal = await play(scene('permission'));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const letter of 'stop') terminal.type(letter);
    await terminal.sees('› stop▏');
    expect(terminal.screen()).not.toContain('asked for');
    terminal.press('Escape');
    await terminal.sees('type to steer');
    terminal.type('s');
    terminal.press('Enter');
    await terminal.sees(
      'asked for {"act":"answer","requestId":"r1","remembered":"session"}',
    );
  });

  it('C3: text that is pasted, with line breaks and escapes, is one message and sends nothing by itself', async () => {
    const terminal = await play(scene('working'));
    terminal.paste('one\ntwo \u001b[2Jthree');
    await terminal.sees('› one two');
    expect(terminal.screen()).toContain('plan [');
    expect(terminal.screen()).not.toContain('asked for');
    terminal.press('Enter');
    await terminal.sees('asked for {"act":"say","text":"one');
  });

  it('C3: any key stops the countdown of a host, and q leaves it running', async () => {
    const terminal = await play(scene('countdown'));
    terminal.press('Space');
    await terminal.sees('asked for {"act":"stop"}');
    terminal.type('q');
    expect(await terminal.ended()).toBe(0);
  });

  it('C3: NO_COLOR takes the colours and leaves the view', async () => {
    const each = scene('checks');
    const terminal = open(each, { NO_COLOR: '1' });
    terminal.run(process.execPath, '--no-warnings', stage, each.name);
    await terminal.sees('✗ check');
    expect(terminal.picture()).not.toContain('\u001b[3');
    terminal.press('C-c');
    await terminal.ended();
  });

  it('C3: a view that breaks leaves a clean terminal, and whoever opened it goes on', async () => {
    const terminal = await play(scene('working'), '--breaks');
    await terminal.sees('the view broke: planted; going on');
    expect(await terminal.ended()).toBe(3);
    expect(terminal.scrollback()).not.toContain('at drawLiving');
    expect(await terminal.modes()).toEqual(clean);
  });
});

// The demo in a real terminal of 80 by 24: it plays by itself, and a person who is there
// may take part in it (C3).
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCommandLine } from '../stories/command-line.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const clean = { echo: true, lines: true, cursor: true };

async function open(...argv: string[]): Promise<Terminal> {
  const line = await openCommandLine({ steps: [] });
  const environment = { ...line.environment, LC_ALL: 'C.UTF-8' };
  const terminal = openTerminal({ directory: line.project, environment });
  onTestFinished(() => terminal.close());
  terminal.run(...line.words('demo', ...argv));
  return terminal;
}

describe('untildone demo in a terminal', () => {
  it('C3: plays by itself to its end', async () => {
    const terminal = await open();
    await terminal.sees('[y] once');
    expect(terminal.screen()).toContain(
      'The script says yes in 6 s, unless you answer first.',
    );
    await terminal.sees('allowed once (answered elsewhere)');
    await terminal.sees('stopping after this step');
    await terminal.sees('as `untildone run --resume` does');
    expect(await terminal.ended(60_000)).toBe(0);
    const text = terminal.scrollback();
    expect(text).toMatch(/\n\noutcome: done/u);
    // First-use 12: what was proved, and what to type now.
    for (const said of [
      'It quit early',
      'It dropped a todo',
      'It asked',
      'while the test failed',
    ])
      expect(text).toContain(said);
    expect(text).toContain('untildone init claude-code --check "npm test"');
    expect(await terminal.modes()).toEqual(clean);
  });

  it.each([['in the view'], ['in lines', '--plain']])(
    'first-use 4: what is typed at any moment is answered, %s, and the story ends as written',
    async (_where, ...argv) => {
      const terminal = await open(...argv);
      await terminal.sees('Write the greeting');
      terminal.type('also add a license');
      terminal.press('Enter');
      await terminal.sees('Noted: "also add a license".');
      await terminal.sees(/topping after this step/u);
      await terminal.sees('as `untildone run --resume` does');
      terminal.type('use tabs');
      terminal.press('Enter');
      await terminal.sees('Noted: "use tabs".');
      await terminal.sees('The list is finished now.');
      terminal.type('and in part two');
      terminal.press('Enter');
      await terminal.sees('Noted: "and in part two".');
      expect(await terminal.ended(60_000)).toBe(0);
      const text = terminal.scrollback();
      expect(text).toMatch(/\n\noutcome: done/u);
      expect(text).toContain('It was sent back each time');
      expect(await terminal.modes()).toEqual(clean);
    },
  );

  it('first-use 4: Ctrl-C while one reads how the first part ended ends the demo', async () => {
    const terminal = await open();
    await terminal.sees('outcome: aborted', 60_000);
    terminal.press('C-c');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.scrollback()).toContain('You ended the demo');
    expect(await terminal.modes()).toEqual(clean);
  });

  it('S7: a person may answer first, and a no is taken as one', async () => {
    const terminal = await open();
    await terminal.sees('[y] once');
    // An answer counts once the question can have been seen.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    terminal.press('n', 'Enter');
    await terminal.sees('not allowed');
    expect(await terminal.ended(60_000)).toBe(0);
    const text = terminal.scrollback();
    expect(text).toContain('I could not run greet.mjs, so I have not tried it out.');
    expect(text, 'what was not tried out is not done').toMatch(/\n\noutcome: blocked/u);
    expect(text).toContain('You said no, so one todo is blocked');
  });

  it.each([['in the view'], ['in lines', '--plain']])(
    'C3: a person may stop it with Ctrl-C, %s, and it is not resumed',
    async (_where, ...argv) => {
      const terminal = await open(...argv);
      await terminal.sees('The script says yes');
      terminal.press('C-c');
      expect(await terminal.ended()).toBe(130);
      const text = terminal.scrollback();
      expect(text).toContain('outcome: aborted');
      expect(text).toContain('You ended the demo; nothing of it is left.');
      expect(text).not.toContain('takes the session up again');
      expect(await terminal.modes()).toEqual(clean);
    },
  );
});

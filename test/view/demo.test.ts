// The demo in a real terminal of 80 by 24: it plays by itself, and a person who is there may take part in it (C3).
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
    await terminal.sees('? permission: shell');
    expect(terminal.screen()).toContain('The script says yes in 6 s, unless you answer first.');
    await terminal.sees('allowed once (answered elsewhere)');
    await terminal.sees('stopping after this step');
    await terminal.sees('as `untildone run --resume` does');
    expect(await terminal.ended(60_000)).toBe(0);
    expect(terminal.scrollback()).toMatch(/\n\noutcome: done/u);
    expect(await terminal.modes()).toEqual(clean);
  });

  it('S7: a person may answer first, and a no is taken as one', async () => {
    const terminal = await open();
    await terminal.sees('? permission: shell');
    // Keys count once nobody can have meant them for something else.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    terminal.press('n');
    await terminal.sees('not allowed');
    expect(await terminal.ended(60_000)).toBe(0);
    const text = terminal.scrollback();
    expect(text).toContain('I could not run greet.mjs, so I have not tried it out.');
    expect(text, 'what was not tried out is not done').toMatch(/\n\noutcome: blocked/u);
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
      expect(text).not.toContain('takes the session up again');
      expect(await terminal.modes()).toEqual(clean);
    },
  );
});

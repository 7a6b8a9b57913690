// The program as a human has it: `untildone run` and `untildone attach` in a real
// terminal, with a scripted model, and the terminal clean after every way of ending (C3).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  complete,
  plan,
  rateLimit,
  runCommand,
  type Step,
  say,
  stall,
  withText,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { type CommandLine, openCommandLine } from '../stories/command-line.ts';
import { openTerminal, type Terminal } from './terminal.ts';

const clean = { echo: true, lines: true, cursor: true };
const run = ['run', 'Do the work.', '--auto', '--model', 'openai/story'];
const alpha = [
  writeFile('alpha.txt', 'a'),
  complete('Write alpha'),
  say('It is written.'),
];

interface Stage {
  readonly line: CommandLine;
  readonly terminal: Terminal;
  another(): Terminal;
}

async function open(
  steps: readonly Step[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const line = await openCommandLine({ steps });
  const another = (): Terminal => {
    const terminal = openTerminal({
      directory: line.project,
      environment: { ...line.environment, LC_ALL: 'C.UTF-8', ...environment },
    });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  return { line, terminal: another(), another };
}

describe('untildone run in a terminal', () => {
  it('V10 P40 V1: asks about the file of the project, runs its check after a yes alone, and shows how it stands', async () => {
    const steps = [writeFile('alpha.txt', 'a'), say('It is written.')];
    const file = {
      checks: { written: { command: 'test -f alpha.txt' } },
      goal: ['written'],
    };
    const ask = async (answer: readonly string[]) => {
      const { line, terminal } = await open(steps);
      writeFileSync(join(line.project, 'untildone.json'), JSON.stringify(file));
      terminal.run(...line.words(...run, '--plain'));
      await terminal.sees('+ checks.written: {"command":"test -f alpha.txt"}');
      await terminal.sees('Accept? [y: yes; Enter: leave it as it is]');
      terminal.press(...answer, 'Enter');
      const code = await terminal.ended();
      return { code, text: terminal.scrollback() };
    };
    const refused = await ask([]);
    expect(refused.code).toBe(3);
    expect(refused.text).not.toContain('before the work:');
    const accepted = await ask(['y']);
    expect(accepted.code).toBe(0);
    expect(accepted.text).toContain('before the work: check "written" fails');
  });

  it('C3: draws the view while it works and leaves its lines and the summary', async () => {
    const { line, terminal } = await open([
      withText('I plan first.', plan('Write alpha', 'Write beta')),
      runCommand('sleep 2'),
      writeFile('alpha.txt', 'a'),
      complete('Write alpha'),
      say('All done!'),
      writeFile('beta.txt', 'b'),
      complete('Write beta'),
      say('Both files are written.'),
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees('plan [░░░░░░░░] 0/2');
    await terminal.sees(/\S shell .* sleep 2/u);
    expect(terminal.screen()).toContain('› ▏');
    expect(await terminal.ended()).toBe(3);
    const text = terminal.scrollback();
    expect(text).toContain('│ I plan first.');
    expect(text).toMatch(/✋ "All done!" refused: \d of 2 todos open/u);
    expect(text).toContain('│ Both files are written.');
    expect(text).toMatch(/\n\noutcome: claimed/u);
    expect(text).not.toContain('› ▏');
    expect(text).not.toMatch(/^plan \[/mu);
    expect(await terminal.modes()).toEqual(clean);
  });

  it('C3: Ctrl-C stops after the step and says so, a second one at once', async () => {
    const { line, terminal } = await open([
      plan('Write alpha'),
      runCommand('sleep 60'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\S shell .* sleep 60/u);
    terminal.press('C-c');
    await terminal.sees('stopping after this step; Ctrl-C again stops at once');
    terminal.press('C-c');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.scrollback()).toContain('outcome: aborted');
    expect(await terminal.modes()).toEqual(clean);
    expect((await line.session()).latch).toMatchObject({ how: 'Ctrl-C' });
  });

  it('C3: SIGTERM ends it like Ctrl-C, and the terminal is clean', async () => {
    const { line, terminal } = await open([
      plan('Write alpha'),
      runCommand('sleep 1'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\S shell .* sleep 1/u);
    process.kill(terminal.program(), 'SIGTERM');
    expect(await terminal.ended()).toBe(130);
    expect(await terminal.modes()).toEqual(clean);
  });

  it('C3: a store that breaks ends the run with a sentence, and the terminal is clean', async () => {
    const { line, terminal } = await open([
      plan('Write alpha'),
      runCommand('sleep 2'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\S shell .* sleep 2/u);
    const store = readFileSync(line.storePath);
    writeFileSync(line.storePath, store.fill(0x5a));
    expect(await terminal.ended()).not.toBe(0);
    expect(terminal.scrollback()).not.toMatch(/^\s+at .*:\d+:\d+\)?$/mu);
    expect(await terminal.modes()).toEqual(clean);
  });

  it('T3: what is typed joins the turn after the running step', async () => {
    const { line, terminal } = await open([
      plan('Write alpha'),
      runCommand('sleep 2'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\S shell .* sleep 2/u);
    terminal.type('use lower case');
    await terminal.sees('› use lower case▏');
    terminal.press('Enter');
    await terminal.sees('you, after this step: use lower case');
    await terminal.ended();
    expect(JSON.stringify(line.model.requests.at(-1)?.body)).toContain('use lower case');
  });

  it('first-use 22: the last answer is one piece, without an empty line of the view in it', async () => {
    const { line, terminal } = await open([say('The first part.\n\nThe last part.')]);
    terminal.run(...line.words(...run));
    await terminal.ended();
    expect(terminal.scrollback()).toMatch(
      /│ The first part\. *\n│ *\n│ The last part\./u,
    );
  });

  it('S7: a permission is asked for in the view and given by a letter and Enter', async () => {
    const { line, terminal } = await open([
      plan('Write alpha'),
      runCommand('echo yes > made.txt'),
      ...alpha,
    ]);
    terminal.run(...line.words('run', 'Do the work.', '--model', 'openai/story'));
    await terminal.sees('[y] once');
    expect(existsSync(join(line.project, 'made.txt'))).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    terminal.press('y', 'Enter');
    await terminal.gone('[y] once');
    await terminal.sees(/\[y\] once|outcome:/u);
    for (let asked = 0; !/^ended-/mu.test(terminal.screen()); asked += 1) {
      // The file tools ask too, where nothing allows them.
      if (terminal.screen().includes('[y] once')) terminal.press('y', 'Enter');
      await new Promise((resolve) => setTimeout(resolve, 900));
      expect(asked).toBeLessThan(20);
    }
    expect(existsSync(join(line.project, 'made.txt'))).toBe(true);
    expect(terminal.scrollback()).toContain('allowed once');
  });

  it('C3: any key pauses a wait, Enter goes on', async () => {
    const { line, terminal } = await open([plan('Write alpha'), rateLimit(40), ...alpha]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\d+ s press any key to pause/u);
    terminal.press('Space');
    await terminal.sees('Enter goes on, Ctrl-C ends the run');
    expect((await line.session()).pause).toMatchObject({ by: 'human' });
    terminal.press('Enter');
    await terminal.gone('Enter goes on, Ctrl-C ends the run');
    expect((await line.session()).pause).toBeNull();
    await terminal.ended();
    expect(terminal.scrollback()).toContain('It is written.');
  });

  it.each([
    ['--plain', ['--plain'], {}],
    ['TERM=dumb', [], { TERM: 'dumb' }],
    ['the setting liveView', [], { UNTILDONE_LIVE_VIEW: 'false' }],
    ['--json', ['--json'], {}],
  ])('C3: %s prints lines and draws nothing', async (_name, argv, environment) => {
    const { line, terminal } = await open([say('Nothing to do.')], environment);
    terminal.run(...line.words(...run, ...argv));
    expect(await terminal.ended()).toBe(3);
    expect(terminal.scrollback()).not.toContain('type to steer');
    expect(terminal.scrollback()).toContain('Nothing to d');
    expect(await terminal.modes()).toEqual(clean);
  });
});

describe('untildone attach in a terminal', () => {
  it('C3: shows a run of another terminal; p pauses it, r resumes it, q leaves it running', async () => {
    const { line, terminal, another } = await open([
      plan('Write alpha'),
      stall(),
      runCommand('sleep 5'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees('plan [░░░░░░░░] 0/1');
    const other = another();
    other.run(...line.words('attach'));
    await other.sees('[ ] Write alpha');
    await other.sees('running: turn 1');
    other.type('p');
    await other.sees('paused by you');
    await terminal.sees('Enter goes on');
    other.type('r');
    await terminal.sees(/\S shell .* sleep 5/u);
    await other.sees(/\S shell .* sleep 5/u);
    other.type('q');
    expect(await other.ended()).toBe(0);
    expect(await other.modes()).toEqual(clean);
    expect(await terminal.ended()).toBe(3);
  });

  it('C3: x stops the run', async () => {
    const { line, terminal, another } = await open([
      plan('Write alpha'),
      runCommand('sleep 60'),
      ...alpha,
    ]);
    terminal.run(...line.words(...run));
    await terminal.sees(/\S shell .* sleep 60/u);
    const other = another();
    other.run(...line.words('attach'));
    await other.sees(/\S shell .* sleep 60/u);
    other.type('x');
    await other.sees('stopped by you (a key in untildone attach)');
    expect(await terminal.ended()).toBe(130);
    other.press('C-c');
    expect(await other.ended()).toBe(0);
  });
});

// Setting up in a real terminal: what is found is shown and asked for, and a bare Enter
// leaves everything as it is.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCommandLine } from '../stories/command-line.ts';
import { makeOlderStore, olderStoreSentence } from '../support/older-store.ts';
import { openTerminal } from './terminal.ts';

async function open(files: Readonly<Record<string, string>>, columns = 80) {
  const line = await openCommandLine({ steps: [] });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(line.project, name), text);
  const environment = { ...line.environment, LC_ALL: 'C.UTF-8' };
  const terminal = openTerminal({ directory: line.project, environment, columns });
  onTestFinished(() => terminal.close());
  const file = join(line.project, 'untildone.json');
  const goal = () => JSON.parse(readFileSync(file, 'utf8')).goal;
  return {
    line,
    terminal,
    file,
    goal,
    run: (...argv: string[]) => terminal.run(...line.words(...argv)),
  };
}

const scripts =
  '{"scripts":{"test":"\\u001b[31mvitest\\u202e run","lint":"biome check"}}';

describe('untildone config init in a terminal', () => {
  it.each([
    ['y', ['tests', 'lint']],
    ['2', ['lint']],
  ])(
    'first-use 9: shows what it found, and %s writes it as a check that counts',
    async (answer, expected) => {
      const { terminal, goal, run, line } = await open({ 'package.json': scripts });
      run('config', 'init');
      await terminal.sees('leave it as it is]');
      // Whoever says yes sees all that would run, hidden letters too.
      expect(terminal.screen()).toContain(
        '  1  npm test  (package.json: \\x1b[31mvitest\\u202e run)\n  2  npm run lint',
      );
      terminal.type(answer);
      terminal.press('Enter');
      expect(await terminal.ended()).toBe(0);
      expect(goal()).toEqual(expected);
      const { settings, pending } = JSON.parse((await line.run('config', '--json')).out);
      expect({ goal: settings.goal, pending }).toEqual({ goal: expected, pending: null });
    },
  );

  it('Enter leaves it as it is: the settings are written, and no check', async () => {
    const { terminal, goal, run } = await open({ Makefile: 'test:\n' }, 60);
    run('config', 'init');
    await terminal.sees('leave it as it is]');
    terminal.press('Enter');
    expect(await terminal.ended()).toBe(0);
    expect(goal()).toBeUndefined();
  });

  it('where nothing is found it asks for the command', async () => {
    const { terminal, goal, run, file } = await open({});
    run('config', 'init');
    await terminal.sees('Which command tests this project?');
    terminal.type('./prove.sh --all');
    terminal.press('Enter');
    expect(await terminal.ended()).toBe(0);
    expect(goal()).toEqual(['prove-sh-all']);
    expect(existsSync(file)).toBe(true);
  });
});

describe('untildone init over a store that an unpublished version made', () => {
  it.each([
    ['y', 'The store was moved to', false],
    ['', 'The store was left where it is.', true],
  ])('V7: the answer "%s" decides what becomes of it', async (answer, said, stays) => {
    const { terminal, run, line } = await open({}, 300);
    await makeOlderStore(line.storePath);
    run('init', 'claude-code', '--user');
    await terminal.sees('leave it as it is]');
    expect(terminal.screen()).toContain(olderStoreSentence(line.storePath));
    terminal.type(answer);
    terminal.press('Enter');
    await terminal.sees(said);
    await terminal.ended();
    expect(existsSync(line.storePath)).toBe(stays);
  });
});

describe('the check that config init asks for', () => {
  const slow = '{"scripts":{"test":"echo $$ > began; sleep 60"}}';

  it('first-use 14: it asks again after an answer that is none, and says that no check was added', async () => {
    const { terminal, goal, run } = await open({ 'package.json': slow }, 120);
    run('config', 'init');
    await terminal.sees('leave it as it is]');
    terminal.type('maybe');
    terminal.press('Enter');
    await terminal.sees('"maybe" was not understood; answer y, n or Enter.');
    terminal.type('n');
    terminal.press('Enter');
    await terminal.sees('No check was added.');
    expect(await terminal.ended()).toBe(0);
    expect(goal()).toBeUndefined();
  });

  it('first-use: Ctrl-C ends the try of a check, but the check stays accepted, and nothing is half written', async () => {
    const { terminal, goal, run, line } = await open({ 'package.json': slow }, 120);
    run('config', 'init');
    await terminal.sees('leave it as it is]');
    terminal.type('y');
    terminal.press('Enter');
    await terminal.sees('running npm test once (Ctrl-C ends that), 1 s');
    terminal.press('C-c');
    await terminal.sees('You ended the try of npm test after');
    await terminal.sees('shows which settings apply now');
    expect(await terminal.ended()).toBe(0);
    const pid = Number(readFileSync(join(line.project, 'began'), 'utf8'));
    expect(() => process.kill(pid, 0), 'its processes have ended').toThrow('ESRCH');
    const { settings, pending } = JSON.parse((await line.run('config', '--json')).out);
    expect({ goal: goal(), kept: settings.goal, pending }).toEqual({
      goal: ['tests'],
      kept: ['tests'],
      pending: null,
    });
  });
});

describe('what programs start, typed by hand', () => {
  it.each([
    ['mcp', 'Waiting for a client that speaks MCP'],
    ['hook claude-code', 'Waiting for one hook call'],
  ])(
    'first-use, smaller: untildone %s says what it waits for',
    async (command, sentence) => {
      const { terminal, run } = await open({});
      run(...command.split(' '));
      await terminal.sees(sentence);
      // The end of the input.
      terminal.press('C-d');
      expect(await terminal.ended()).toBe(0);
    },
  );
});

// What only Gemini CLI has: models without its todo tool, approval modes that take tools
// away, variables from .env files, and folders that nobody trusted.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  fail,
  plan,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import type { RealHost } from '../harness/real-host.ts';
import { openBench, type Played } from '../harness/real-host-stage.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { neverDone, writeUserConfiguration } from '../harness/user-configuration.ts';
import { geminiCli, geminiWith } from './real-host.ts';

/** With another approval mode, which decides about the tools. */
function inMode(host: RealHost, mode: string, ...more: readonly string[]) {
  const turn: RealHost['turn'] = (message) => ({
    words: [
      ...host.turn(message).words.map((word) => (word === 'yolo' ? mode : word)),
      ...more,
    ],
  });
  return openBench({ ...host, turn });
}

const offeredIn = ({ requests }: Played) =>
  requests[0]?.tools.map(({ name }) => name) ?? [];
const todosOf = ({ session }: Played) =>
  session.todos.map(({ title, status }) => [title, status]);
const allDone = titles.map((title) => [title, 'completed']);
const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

describe('todo tools', () => {
  it('P1: of a model of the third generation are ours alone: 3 of 3, by exactly 2 continuations', async () => {
    const { play } = openBench(geminiWith('gemini-3-pro-preview'));
    const played = await play({ scripts: [quitter('quitter', ...titles)] });
    expect(offeredIn(played)).not.toContain('write_todos');
    expect(offeredIn(played)).toContain('mcp_untildone_create_todo');
    // The host adds two tools of its own if a server has resources.
    expect(offeredIn(played)).not.toContain('list_mcp_resources');
    expect(played.continuations).toHaveLength(2);
    expect(todosOf(played)).toEqual(allDone);
    expect(played.session.outcome).toBe('claimed');
    expect(played.continuations[0], 'the pause is named as the model knows it').toContain(
      'mcp_untildone_todo_pause',
    );
  });

  it.each([
    ['the host’s and then ours', 0],
    ['ours and then the host’s', 1],
  ])('M5: %s, with the same titles, are one plan', async (_which, ours) => {
    const own = callTool('mcp_untildone_create_todo', {
      items: titles.map((title) => ({ title })),
    });
    // Word for word: the scripted model would put our ids into the host's list, which
    // refuses them.
    const list = (status: string) =>
      callTool('write_todos', {
        todos: titles.map((description) => ({ description, status })),
      });
    const both = script('both', [
      ...(ours === 1 ? [own, list('pending')] : [list('pending'), own]),
      ...titles.map((title) => writeFile(`${title}.txt`, title)),
      list('completed'),
      always(say('I am done.')),
    ]);
    const played = await openBench(geminiCli).play({ scripts: [both] });
    expect(todosOf(played)).toEqual(allDone);
    expect(played.continuations).toHaveLength(0);
    expect(played.session.outcome).toBe('claimed');
  });

  it('C1: are allowed headless without --yolo, though the host would refuse its own; nothing else is', async () => {
    const played = await inMode(geminiCli, 'default').play({ scripts: [stubborn] });
    expect(offeredIn(played)).toEqual(
      expect.arrayContaining([
        'write_todos',
        'mcp_untildone_todo_pause',
        'mcp_untildone_create_todo',
      ]),
    );
    expect(offeredIn(played)).not.toContain('run_shell_command');
    expect(played.continuations).toHaveLength(3);
    const control = await inMode(geminiCli, 'default', '--skip-trust').play({
      scripts: [stubborn],
      installed: false,
    });
    expect(offeredIn(control)).not.toContain('write_todos');
  });

  it('P26: are not there in plan mode, so that nothing is continued', async () => {
    const played = await inMode(geminiCli, 'plan').play({ scripts: [stubborn] });
    expect(offeredIn(played).filter((name) => /todo/.test(name))).toEqual([]);
    expect(played.continuations).toHaveLength(0);
    expect(played.session.decisions).toMatchObject([
      { answer: 'let-go', reason: 'no-plan' },
    ]);
  });
});

describe('the folder', () => {
  it('V10: whose .env marks hooks as commands of an agent does not switch us off: the human’s goal check holds, and they are told', async () => {
    const works = script('works', [
      writeFile('parser.txt', 'x'),
      always(say('I am done.')),
    ]);
    const played = await openBench(geminiCli).play({
      scripts: [works],
      prepare({ project }) {
        writeUserConfiguration(project, neverDone);
        project.write('.env', 'GEMINI_CLI=1\n');
      },
    });
    expect(played.continuations).toHaveLength(3);
    expect(played.session.outcome).toBe('stagnant');
    expect(played.messages?.join('\n')).toContain('set GEMINI_CLI: that is ignored');
  });

  it('V10: whose .env switches us off, and whose .gemini/.env does, is not listened to, and the human is told', async () => {
    for (const file of ['.env', '.gemini/.env']) {
      const played = await openBench(geminiCli).play({
        scripts: [quitter('quitter', 'alpha', 'beta')],
        prepare: ({ project }) => project.write(file, 'UNTILDONE_MODE=off\n'),
      });
      expect(played.continuations, file).toHaveLength(1);
      expect(played.session.outcome).toBe('claimed');
      expect(played.messages?.join('\n')).toContain('UNTILDONE_MODE');
    }
  });

  it.each([
    ['and --skip-trust is said: the host runs without us', ['--skip-trust'], {}, 0, 0],
    [
      'and its variable says that it is: we are there',
      [],
      { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
      0,
      3,
    ],
    ['and nothing is said: the host does not start', [], {}, 55, 0],
  ])(
    'nobody trusted it %s',
    async (_what, words, environment, exitCode, continuations) => {
      const played = await inMode(geminiCli, 'yolo', ...words).play({
        scripts: [stubborn],
        environment,
        prepare: ({ project }) =>
          rmSync(join(project.home, '.gemini/trustedFolders.json')),
      });
      expect(played.turns[0]?.exitCode).toBe(exitCode);
      expect(played.continuations).toHaveLength(continuations);
    },
  );
});

describe('trouble', () => {
  it('G9: a request that the provider refuses ends the turn without a word of ours; the next goes on', async () => {
    const story = script('story', [
      plan('parser', 'docs'),
      fail(400),
      always(say('I am done.')),
    ]);
    const played = await openBench(geminiCli).play({
      scripts: [story],
      async drive({ say: tell }) {
        await tell('Do it.');
        await tell('go on');
      },
    });
    expect(played.turns.map(({ exitCode }) => exitCode)).toEqual([144, 0]);
    expect(played.continuations).toHaveLength(3);
    expect(todosOf(played)).toHaveLength(2);
  });
});

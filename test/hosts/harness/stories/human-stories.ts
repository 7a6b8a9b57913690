// The human's word: an interrupt holds until they speak again, an old plan is not forced
// on another question, sessions share nothing, and nothing that the agent writes for
// itself counts as theirs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import {
  always,
  callTool,
  complete,
  plan,
  runCommand,
  say,
  script,
  slowly,
  whenTold,
  writeFile,
} from '../../../../src/scripted-model/index.ts';
import { continuationsIn } from '../continuations.ts';
import { untildone } from '../untildone.ts';
import { waitUntil } from '../wait-until.ts';
import { failure, parserCheck, quitter, type Story } from './story.ts';

const slowMs = 150;
/**
 * No two sentences alike: a host may take repeated ones for a loop and end the turn
 * itself.
 */
const thoughts = Array.from(
  { length: 40 },
  (_, index) => `My slow thought number ${index} is this one. `,
);
const slowAnswer = slowly(slowMs, say(thoughts.join('')));
const program = fileURLToPath(new URL('../../../../dist/bin.js', import.meta.url));
const stopCommand = `"${process.execPath}" "${program}" stop`;
const hostile = JSON.stringify({
  mode: 'off',
  checks: { x: { command: 'touch ran-by-us' } },
  goal: ['x'],
});

export const humanStories: readonly Story[] = [
  {
    id: 'P19',
    name: 'the human interrupts: nothing is sent until they speak, and then only what they want',
    isSample: true,
    async tell({ play }) {
      const thinker = script('thinker', [
        plan('parser', 'docs'),
        say('I am done.'),
        slowAnswer,
        whenTold('capital', say('Paris.')),
        always(say('I am done.')),
      ]);
      const counts: number[] = [];
      const played = await play({
        scripts: [thinker],
        async drive({ start, say: tell, model, continuations }) {
          const { interrupt, ended } = start('Please do it.');
          const isStreaming = () =>
            model.requests.at(-1)?.reply.delays?.perEventMs === slowMs;
          await waitUntil('the answer to the continuation began', isStreaming);
          interrupt();
          const { requests } = await ended;
          expect(
            requests.at(-1)?.reply.delays?.perEventMs,
            'nothing was asked after it',
          ).toBe(slowMs);
          counts.push(continuations().length);
          await tell('What is the capital of France?');
          counts.push(continuations().length);
          await tell('go on');
          counts.push(continuations().length);
        },
      });
      const [interrupted, other, lifted] = counts;
      expect(interrupted, 'the one before the interrupt').toBe(1);
      expect(other, 'another question is answered, and that is all').toBe(1);
      expect(lifted, 'told to go on, the agent is held again').toBeGreaterThan(1);
      expect(played.session.latch, 'lifted').toBeNull();
    },
  },
  {
    id: 'P20',
    name: 'the human says exactly "stop": not one continuation more',
    async tell({ play }) {
      const stubborn = script('stubborn', [
        plan('parser', 'docs'),
        always(say('I am done.')),
      ]);
      const counts: number[] = [];
      const played = await play({
        scripts: [stubborn],
        config: { maxStagnant: 1 },
        async drive({ say: tell, continuations }) {
          await tell('Do it.');
          counts.push(continuations().length);
          await tell('stop');
          counts.push(continuations().length);
        },
      });
      expect(counts).toEqual([1, 1]);
      expect(played.session.latch).not.toBeNull();
      // The human said it after the end, so the outcome stays.
      expect(played.session.outcome).toBe('stagnant');
    },
  },
  {
    id: 'P52',
    name: 'the agent types `untildone stop` in its shell: it has paused itself, and nobody says that the human stopped it',
    isSample: true,
    async tell({ play }) {
      const steps = [
        plan('parser', 'docs'),
        runCommand(stopCommand),
        always(say('I stop here.')),
      ];
      let status = '';
      const played = await play({
        scripts: [script('leaver', steps)],
        async drive({ say: tell, untildone: ours }) {
          await tell('Do it.');
          status = await ours('status');
        },
      });
      expect(played.continuations).toHaveLength(0);
      expect(played.session.latch).toBeNull();
      expect(played.session.outcome).toBe('paused');
      expect(played.session.decisions.at(-1)).toMatchObject({
        reason: 'paused-by-model',
        sentence: 'The agent asked to stop.',
      });
      expect(status).toContain('paused by the agent');
      expect(status).not.toContain('by you');
    },
  },
  {
    id: 'P34',
    name: 'something else is asked while an old plan is open: not forced; told to go on, the agent is held to it',
    async tell({ play }) {
      const story = script('story', [
        plan('parser', 'docs'),
        complete('parser'),
        callTool('todo_pause', { reason: 'I need the key.' }),
        say('I wait for the key.'),
        whenTold('capital', say('Paris.')),
        always(say('I am done.')),
      ]);
      const counts: number[] = [];
      const played = await play({
        scripts: [story],
        async drive({ say: tell, continuations }) {
          for (const text of [
            'Please do it.',
            'What is the capital of France?',
            'go on',
          ]) {
            await tell(text);
            counts.push(continuations().length);
          }
        },
      });
      const [paused, other] = played.session.decisions;
      expect(paused).toMatchObject({
        answer: 'let-go',
        reason: 'paused-by-model',
        outcome: 'paused',
      });
      expect(other).toMatchObject({
        answer: 'let-go',
        reason: 'plan-not-resumed',
        outcome: 'paused',
      });
      expect(counts).toEqual([0, 0, 3]);
    },
  },
  {
    id: 'P24',
    name: 'the host asks or tells twice about one stop, since we are installed twice: one continuation each',
    isSample: true,
    async tell({ play, host }) {
      const { installTwice } = host;
      const played = await play({
        scripts: [quitter('quitter', 'alpha', 'beta', 'gamma')],
        async prepare({ project }) {
          if (installTwice === undefined)
            await untildone(project, 'init', host.name, '--user');
          else await installTwice?.(project);
        },
      });
      expect(played.continuations).toHaveLength(2);
      expect(played.session.todos.map(({ status }) => status)).toEqual(
        Array(3).fill('completed'),
      );
      expect(played.session.outcome).toBe('claimed');
      return installTwice === null ? 'cannot be installed twice' : undefined;
    },
  },
  {
    id: 'P32',
    name: 'two sessions in one project at the same time share neither todos nor counters nor text',
    async tell({ play }) {
      const stubborn = script('stubborn', [
        plan('red one', 'red two'),
        always(say('I am done.')),
      ]);
      const played = await play({
        scripts: [stubborn, quitter('honest', 'blue-one', 'blue-two', 'blue-three')],
        async drive({ start, open, model }) {
          const { ended } = start('[script:stubborn] Do it.');
          // At once, two first starts of OpenCode in a new home make its own database
          // together, and one of them fails.
          await waitUntil('the first is at work', () => model.requests.length > 0);
          await Promise.all([ended, open().say('[script:honest] Do it.')]);
        },
      });
      const requestsOf = (name: string) =>
        played.requests.filter((request) => request.script === name);
      const textOf = (name: string) =>
        JSON.stringify(requestsOf(name).map(({ messages }) => messages));
      expect(continuationsIn(requestsOf('stubborn'))).toHaveLength(3);
      expect(continuationsIn(requestsOf('honest'))).toHaveLength(2);
      expect(textOf('stubborn')).not.toContain('blue');
      expect(textOf('honest')).not.toContain('red one');
      const summary = played.sessions.map(({ outcome, todos }) => [
        outcome,
        todos.map(({ title }) => title),
      ]);
      expect(summary.sort()).toEqual([
        ['claimed', ['blue-one', 'blue-two', 'blue-three']],
        ['stagnant', ['red one', 'red two']],
      ]);
    },
  },
  {
    id: 'P40',
    name: 'the agent writes untildone.json: nothing of it runs or counts, and the human is told',
    isSample: true,
    async tell({ play, row, host }) {
      const editor = script('editor', [
        plan('parser'),
        // Not by a tool for files: some write over none that the model has not read.
        runCommand(`printf %s '${hostile}' > untildone.json`),
        complete('parser'),
        say('Done.'),
        whenTold(failure, writeFile('parser.txt', 'x')),
        always(say('Now it is done.')),
      ]);
      let wasRun = true;
      let doctor = '';
      const played = await play({
        scripts: [editor],
        config: { checks: parserCheck, goal: ['parser'] },
        async drive({ say: tell, project, untildone: ours }) {
          const turn = await tell('Do it.');
          wasRun = existsSync(join(project.directory, 'ran-by-us'));
          // Where the host shows nothing headless, `doctor` says it.
          if (host.messages(turn) === null)
            doctor = await ours('doctor').catch(({ stdout }) => String(stdout));
        },
      });
      expect(played.turns[0]?.requests.length, row.title).toBeGreaterThan(3);
      expect(wasRun).toBe(false);
      expect(played.continuations).toHaveLength(1);
      expect(played.continuations[0]).toContain(failure);
      expect(played.session.outcome).toBe('done');
      expect(played.messages?.join('\n') ?? doctor).toContain('untildone trust');
    },
  },
];

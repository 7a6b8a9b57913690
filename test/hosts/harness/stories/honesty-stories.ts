// Agents that are not honest about their list, or cannot write it: what they drop stays
// on the record, what they claim without work is asked about once, and what cannot be
// read changes nothing.
import { expect } from 'vitest';
import {
  always,
  bulkClaim,
  callTool,
  complete,
  drop,
  plan,
  react,
  runCommand,
  say,
  script,
  writeFile,
} from '../../../../src/scripted-model/index.ts';
import type { Story } from './story.ts';

const four = ['one', 'two', 'three', 'four'];
const claims = [bulkClaim(), always(say('All four are done.'))];

/** In every place where one of the families has its list, something that is none. */
const noTodos = {
  todos: [null, 7, { content: 5 }],
  plan: 'nothing',
  items: [{ title: '' }],
  subject: '',
  description: 7,
};

export const honestyStories: readonly Story[] = [
  {
    id: 'P3',
    name: 'the hard todo is dropped: named once, kept on the record, and the work never ends as done',
    isSample: true,
    async tell({ play }) {
      const dropper = script('dropper', [
        plan('easy', 'the hard one'),
        writeFile('easy.txt', 'x'),
        complete('easy'),
        drop('the hard one'),
        always(say('I am done.')),
      ]);
      // Passes: what holds the work back is the dropped todo alone.
      const config = { checks: { easy: { file: 'easy.txt' } }, goal: ['easy'] };
      const played = await play({ scripts: [dropper], config });
      const named = played.session.decisions.filter(
        ({ textKind }) => textKind === 'dropped-todos',
      );
      expect(named).toHaveLength(1);
      expect(
        played.continuations.filter((text) => text.includes('left out or cancelled')),
      ).toHaveLength(1);
      expect(played.continuations[0]).toContain('the hard one');
      expect(played.session.todos, 'it stays on the record').toHaveLength(2);
      expect(played.session.outcome).not.toBe('done');
      expect(played.session.outcome).not.toBeNull();
    },
  },
  {
    id: 'P2',
    name: 'everything is claimed in one step without work: challenged once, then at best claimed',
    async tell({ play }) {
      const played = await play({
        scripts: [script('claimer', [plan(...four), ...claims])],
      });
      expect(played.continuations).toHaveLength(1);
      expect(played.continuations[0]).toContain(
        '4 todos were marked completed without any other tool call',
      );
      expect(played.session.decisions[0]).toMatchObject({
        answer: 'continue',
        textKind: 'bulk-claim',
      });
      expect(played.session.outcome).toBe('claimed');
    },
  },
  {
    id: 'P38',
    name: 'one echo and four claims: challenged once',
    async tell({ play }) {
      const echoer = script('echoer', [
        plan(...four),
        runCommand('echo done'),
        ...claims,
      ]);
      const played = await play({ scripts: [echoer] });
      expect(played.continuations).toHaveLength(1);
      expect(played.continuations[0]).toContain(
        'after 1 other tool call, and no file changed',
      );
      expect(played.session.outcome).toBe('claimed');
    },
  },
  {
    id: 'P39',
    name: 'worked first and ticked at the end: not challenged',
    async tell({ play }) {
      const worker = script('worker', [
        plan(...four),
        runCommand('echo work > work.txt'),
        ...claims,
      ]);
      const played = await play({ scripts: [worker] });
      expect(played.files).toEqual(['work.txt']);
      expect(played.continuations).toHaveLength(0);
      expect(played.session.outcome).toBe('claimed');
    },
  },
  {
    id: 'P16',
    name: 'malformed todos change nothing: the last good plan holds the agent',
    async tell({ play }) {
      const malformed = react(({ family }) =>
        callTool(family?.mark ?? 'todo_write', noTodos),
      );
      const scribbler = script('scribbler', [
        plan('parser', 'docs'),
        malformed,
        say('I am done.'),
        complete('parser'),
        complete('docs'),
        always(say('Now I am done.')),
      ]);
      const played = await play({ scripts: [scribbler] });
      expect(played.continuations[0]).toContain('parser');
      expect(played.continuations[0]).toContain('0/2 completed, 2 remaining');
      const todos = played.session.todos.map(({ title, status }) => [title, status]);
      expect(todos).toEqual([
        ['parser', 'completed'],
        ['docs', 'completed'],
      ]);
    },
  },
];

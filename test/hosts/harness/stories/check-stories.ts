// Checks: the system's word stands above the agent's, however long it takes to get it.
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  always,
  callTool,
  complete,
  inOrder,
  plan,
  repeat,
  runCommand,
  say,
  script,
  whenTold,
  writeFile,
} from '../../../../src/scripted-model/index.ts';
import { createGate } from '../gate.ts';
import { hasSettled } from '../record.ts';
import { waitUntil } from '../wait-until.ts';
import { failure, parserCheck, type Story } from './story.ts';

const goal = { checks: parserCheck, goal: ['parser'] };
const work = inOrder(
  plan('parser'),
  writeFile('parser.txt', 'x'),
  complete('parser'),
  say('I am done.'),
);
/** Longer than a hook that answers at once, and no longer than any host waits for one. */
const fewSeconds = 'setTimeout(() => {}, 3000)';
const slow = createGate('slow');
const server = createGate('server');
const errand = createGate('errand');

export const checkStories: readonly Story[] = [
  {
    id: 'P31',
    name: 'every todo is claimed and the check of the goal fails: the check overrules, and mended the outcome is done',
    async tell({ play }) {
      const liar = script('liar', [
        plan('Write the parser'),
        complete('Write the parser'),
        say('I am done.'),
        whenTold(failure, writeFile('parser.txt', 'x')),
        always(say('Now I am done.')),
      ]);
      const played = await play({ scripts: [liar], config: goal });
      expect(played.continuations).toHaveLength(1);
      expect(played.continuations[0]).toContain(failure);
      expect(played.files).toEqual(['parser.txt']);
      expect(played.session.decisions.at(-1)).toMatchObject({
        answer: 'let-go',
        outcome: 'done',
      });
      expect(played.status).toContain('done');
    },
  },
  {
    id: 'P31 (todo)',
    name: 'a todo is claimed whose own check fails: the agent is told why, and the claim does not stand',
    async tell({ play, row }) {
      const title = 'Write the parser';
      const liar = script('liar', [
        plan(title),
        complete(title),
        // The list of a host that can refuse a completion still has it open.
        firstWord(failure, writeFile('parser.txt', 'x')),
        complete(title),
        always(say('Now I am done.')),
      ]);
      const todoChecks = [{ title, checks: ['parser'] }];
      const played = await play({
        scripts: [liar],
        config: { checks: parserCheck, todoChecks },
      });
      const results = played.requests.flatMap(({ messages }) =>
        messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)),
      );
      const isInResult = results.some((text) => text.includes(failure));
      const isContinued = played.continuations.some((text) => text.includes(failure));
      expect(isInResult || isContinued, `${row.title} was told`).toBe(true);
      expect(played.session.todos).toMatchObject([
        { status: 'completed', verification: 'passed' },
      ]);
      expect(played.session.outcome).toBe('done');
      expect(played.files).toEqual(['parser.txt']);
    },
  },
  {
    id: 'M8',
    name: 'a check of some seconds is waited for: not one continuation, and the outcome is done',
    isSample: true,
    async tell({ play }) {
      const worker = script('worker', [work, always(say('I am done.'))]);
      const command = [process.execPath, '-e', fewSeconds];
      const played = await play({
        scripts: [worker],
        config: { checks: { slow: { command } }, goal: ['slow'] },
      });
      expect(played.continuations).toHaveLength(0);
      expect(played.session.outcome).toBe('done');
      expect(played.logged).toEqual([]);
    },
  },
  {
    id: 'M8 (limit)',
    name: 'a check takes longer than the hook may: the agent is sent to todo_verify, waits there, and ends as done',
    async tell({ play, host }) {
      const patient = script('patient', [
        work,
        repeat(3, whenTold('todo_verify', callTool('todo_verify', {}))),
        always(say('I am done.')),
      ]);
      const { shortenStop } = host;
      const played = await play({
        scripts: [patient],
        config: { checks: { slow: { command: slow.words } }, goal: ['slow'] },
        prepare: ({ project }) => shortenStop?.(project, 5),
        async drive({ start, model, project }) {
          const { ended } = start('Please do it.');
          const calls = () => model.requests.flatMap(({ reply }) => reply.calls ?? []);
          if (shortenStop !== undefined)
            await waitUntil('the model waits', () =>
              calls().some(({ name }) => name.endsWith('todo_verify')),
            );
          else
            await waitUntil('the model said that it is done', () =>
              model.requests.some(({ reply }) => reply.text === 'I am done.'),
            );
          if (shortenStop === undefined) await setTimeout(6000);
          slow.open(project);
          await ended;
        },
      });
      expect(played.session.outcome).toBe('done');
      if (shortenStop === undefined) {
        expect(played.continuations).toHaveLength(0);
        return 'no limit: waited for';
      }
      expect(played.continuations).toHaveLength(1);
      expect(played.continuations[0]).toMatch(/Call \S*todo_verify/);
      const continued = played.session.decisions.filter(
        ({ answer }) => answer === 'continue',
      );
      expect(continued).toMatchObject([{ textKind: 'checks-running' }]);
      return undefined;
    },
  },
  {
    id: 'P18',
    name: 'the agent stops while a subagent works: nobody sends it on before that has ended, and then it is held',
    async tell({ play, row, host: { subagent } }) {
      expect(subagent !== undefined).toBe(row.seesBackground.includes('subagents'));
      const waits = 'I wait for the scout.';
      const errands =
        subagent === undefined ? [] : [subagent('[script:scout] Look around.')];
      const parent = script('parent', [plan('parser'), ...errands, always(say(waits))]);
      const scout = script('scout', [
        runCommand(errand.command),
        always(say('Nothing there.')),
      ]);
      const played = await play({
        scripts: [parent, scout],
        config: { maxStagnant: 1 },
        async drive({ start, model, continuations, project }) {
          const { ended } = start('Do it.');
          const isAtWork = () =>
            model.requests.some((request) => request.script === 'scout');
          if (subagent !== undefined) {
            await waitUntil('the subagent works', isAtWork);
            // A parent that goes on meanwhile has the time to stop.
            await setTimeout(3000);
            expect(continuations(), 'while the subagent works').toEqual([]);
          }
          errand.open(project);
          await ended;
        },
      });
      expect(played.continuations).toHaveLength(1);
      expect(played.session).toMatchObject({ outcome: 'stagnant', reason: 'stagnant' });
      const isWaitedFor = played.session.decisions.some(
        ({ reason }) => reason === 'subagent-at-work',
      );
      if (isWaitedFor) return undefined;
      return subagent === undefined
        ? 'the host shows none: a stop is a stop'
        : 'it works inside a call';
    },
  },
  {
    id: 'P37',
    name: 'a server is left running: nobody waits for it, the checks run, and the outcome is told',
    async tell({ play, row, host }) {
      const inBackground =
        host.background ?? ((command) => runCommand(`(${command}) >/dev/null 2>&1 &`));
      const story = script('story', [
        plan('parser', 'docs'),
        inBackground(server.command),
        say('The server runs.'),
        complete('docs'),
        complete('parser'),
        say('The server runs, and all is done.'),
        whenTold(failure, writeFile('parser.txt', 'x')),
        always(say('Now it is done.')),
      ]);
      const played = await play({
        scripts: [story],
        config: goal,
        async drive({ start, project }) {
          const { ended } = start('Do it.');
          // Some hosts stay until the job has ended; the turn has not waited for it.
          await waitUntil('the turn has settled', () => hasSettled(project)).finally(() =>
            server.open(project),
          );
          await ended;
        },
      });
      const showsJobs = row.seesBackground.includes('shell jobs');
      if (showsJobs)
        expect(played.continuations[0], 'P18: it is named').toContain('GATE=server');
      expect(played.continuations).toHaveLength(2);
      expect(played.continuations[1]).toContain(failure);
      expect(played.session.outcome).toBe('done');
      expect(played.status).toContain('done');
      return showsJobs ? undefined : 'kept; the host does not show the job';
    },
  },
];

/** Only if it was told so, in the result of a tool or by someone. */
function firstWord(words: string, then: ReturnType<typeof say>) {
  return inOrder(whenTold(words, then), say('I am done.'), whenTold(words, then));
}

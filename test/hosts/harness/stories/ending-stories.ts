// How a turn ends: an agent that quits early goes on, one that is finished is left alone,
// and one that does not move is let go with an honest word.
import { expect } from 'vitest';
import { exitCodes } from '../../../../src/core/decision.ts';
import {
  always,
  complete,
  plan,
  type Script,
  say,
  script,
  toggle,
  untilAllDone,
  writeFile,
} from '../../../../src/scripted-model/index.ts';
import {
  expectTold,
  filesCheck,
  filesOf,
  quitter,
  refusedCalls,
  type Story,
  titles,
  toldTo,
} from './story.ts';

const twelve = Array.from(
  { length: 12 },
  (_, index) => `part-${String(index + 1).padStart(2, '0')}`,
);
const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

export const endingStories: readonly Story[] = [
  {
    id: 'P1',
    name: 'of three todos one is done and the agent says done: 3 of 3, by exactly 2 continuations that name the next',
    isSample: true,
    async tell({ play }) {
      const played = await play({ scripts: [quitter('quitter', ...titles)] });
      expect(played.continuations).toHaveLength(2);
      expect(played.continuations[0]).toContain('1/3 completed, 2 remaining');
      expect(played.continuations[0]).toContain('beta');
      expect(played.continuations[1]).toContain('gamma');
      expect(played.files).toEqual(filesOf(titles));
      const todos = played.session.todos.map(({ title, status }) => [title, status]);
      expect(todos).toEqual(titles.map((title) => [title, 'completed']));
      const answers = played.session.decisions.map(({ answer }) => answer);
      expect(answers).toEqual(['continue', 'continue', 'let-go']);
      expect(played.session.outcome, 'nothing checked the work').toBe('claimed');
      expectTold(played, 'claimed');
      expect(played.turns[0]?.exitCode).toBe(0);
    },
  },
  {
    id: 'control',
    name: 'without us the host lets the agent go after the first todo, and calls that a success',
    async tell({ play, row }) {
      // Without us some hosts have no todo tool: then the agent does not even begin.
      const played = await play({
        scripts: [quitter('quitter', ...titles)],
        installed: false,
      });
      expect(played.continuations).toHaveLength(0);
      expect(filesOf(titles)).not.toEqual(played.files);
      expect(played.files.length).toBeLessThanOrEqual(1);
      expect(played.turns[0]?.exitCode, row.title).toBe(0);
    },
  },
  {
    id: 'P29',
    name: 'the work is truly finished: not one continuation, no refused write, and the outcome is done',
    isSample: true,
    async tell({ play }) {
      const names = ['alpha', 'beta'];
      const work = untilAllDone((title) => [
        writeFile(`${title}.txt`, title),
        complete(title),
      ]);
      const finished = script('finished', [
        plan(...names),
        work,
        always(say('Both files are there.')),
      ]);
      const played = await play({ scripts: [finished], config: filesCheck(names) });
      expect(played.continuations).toHaveLength(0);
      expect(
        played.session.decisions.filter(({ answer }) => answer === 'continue'),
      ).toEqual([]);
      expect(refusedCalls(played)).toEqual([]);
      expect(played.session.outcome).toBe('done');
      expect(played.files).toEqual(filesOf(names));
    },
  },
  {
    id: 'T2',
    name: 'there is no plan and the agent just answers: not one continuation, and nobody is told anything',
    isSample: true,
    async tell({ play }) {
      const played = await play({ scripts: [script('answer', [always(say('42.'))])] });
      expect(played.requests.length).toBeGreaterThan(0);
      expect(played.continuations).toHaveLength(0);
      expect(played.session.decisions).toMatchObject([
        { answer: 'let-go', reason: 'no-plan', outcome: null },
      ]);
      expect(played.messages ?? []).toEqual([]);
    },
  },
  {
    id: 'S8',
    name: 'the agent does not move: maxStagnant continuations, then it may stop as stagnant, with what is open named',
    async tell({ play }) {
      const played = await play({ scripts: [stubborn] });
      expect(played.continuations).toHaveLength(3);
      expect(new Set(played.continuations).size, 'each says something new').toBe(3);
      expect(played.session).toMatchObject({ outcome: 'stagnant', reason: 'stagnant' });
      expectTold(played, 'stagnant');
      expect(toldTo(played)).toContain('parser');
      expect(toldTo(played)).toContain('docs');
      expect(played.turns[0]?.exitCode).toBe(0);
    },
  },
  {
    id: 'C4',
    name: 'one line says how the turn ended, done or not, and `status --exit-code` says the same',
    isSample: true,
    async tell({ play, row }) {
      const work = untilAllDone((title) => [
        writeFile(`${title}.txt`, title),
        complete(title),
        say('Everything is done.'),
      ]);
      const worker = script('worker', [
        plan('alpha', 'beta', 'gamma'),
        work,
        always(say('Done.')),
      ]);
      const ends: readonly (readonly [Script, object, number, RegExp])[] = [
        [
          worker,
          filesCheck(titles),
          exitCodes.done,
          /done: files passed, sent back twice$/u,
        ],
        [
          stubborn,
          {},
          exitCodes.stagnant,
          /not done: 2 of 2 todos open, sent back 3 times \(stagnant\)\. No progress after 3 continuations\. Open: “parser”, “docs”\.$/u,
        ],
      ];
      for (const [story, config, code, line] of ends) {
        const exits: unknown[] = [];
        const played = await play({
          scripts: [story],
          config,
          async drive({ say: says, untildone }) {
            await says('Do it.');
            const words = ['status', '--exit-code'];
            exits.push(
              await untildone(...words).then(
                (stdout) => ({ code: 0, stdout }),
                ({ code: failed, stdout }) => ({ code: failed, stdout }),
              ),
            );
          },
        });
        expect(exits).toEqual([
          { code, stdout: expect.stringMatching(new RegExp(`^${line.source}\n`, 'mu')) },
        ]);
        // If the host shows no line when it runs without a terminal, its row says so.
        if (played.messages === null) expect(row.silentAs.length).toBeGreaterThan(0);
        else expect(played.messages).toEqual([expect.stringMatching(line)]);
      }
    },
  },
  {
    id: 'P30',
    name: 'a plan of twelve, one todo per stop: twelve are done',
    async tell({ play, host: { hardCap } }) {
      const played = await play({
        scripts: [quitter('quitter', ...twelve)],
        config: filesCheck(twelve),
      });
      if (hardCap === undefined) {
        expect(played.continuations).toHaveLength(11);
        expect(played.files).toEqual(filesOf(twelve));
        expect(played.session.todos.map(({ status }) => status)).toEqual(
          twelve.map(() => 'completed'),
        );
        expect(played.session.outcome).toBe('done');
        return;
      }
      expect(played.continuations).toHaveLength(hardCap);
      expect(played.files).toEqual(filesOf(twelve.slice(0, hardCap + 1)));
      expect(played.session).toMatchObject({ outcome: 'exhausted', reason: 'host-cap' });
      expect(played.status).toContain('exhausted');
      expect(toldTo(played)).toContain('exhausted');
      return `to its cap of ${hardCap}, then told`;
    },
  },
  {
    id: 'P5',
    name: 'a status is toggled for ever: bounded, and stagnant',
    async tell({ play, host: { hardCap = 10 } }) {
      const toggler = script('toggler', [
        plan('parser', 'docs'),
        always(toggle('parser'), say('I am done.')),
      ]);
      const played = await play({ scripts: [toggler] });
      expect(played.continuations.length).toBeGreaterThan(0);
      expect(played.continuations.length).toBeLessThanOrEqual(Math.min(hardCap, 10));
      expect(played.session.outcome).toBe('stagnant');
      expectTold(played, 'stagnant');
    },
  },
];

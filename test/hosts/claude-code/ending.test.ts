// How a turn ends when the real Claude Code is asked to stop: an agent that quits early goes on, one that is finished
// is left alone, and one that will not move is let go with an honest word. The control runs show the host without us.
import { describe, expect, it } from 'vitest';
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
} from '../../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { setSwitch } from './settings.ts';

/** Finishes one todo at a time and claims each time that everything is done. */
function quitter(...titles: readonly string[]): Script {
  const perTodo = (title: string) => [
    writeFile(`${title}.txt`, title),
    complete(title),
    say('Everything is done.'),
  ];
  return script('quitter', [plan(...titles), untilAllDone(perTodo)]);
}

function filesOf(titles: readonly string[]): readonly string[] {
  return titles.map((title) => `${title}.txt`).sort();
}

/** A check that looks at the files themselves. */
function filesCheck(titles: readonly string[]): object {
  const program = `process.exit(${JSON.stringify(filesOf(titles))}.every((name)=>require('fs').existsSync(name))?0:1)`;
  return { checks: { files: { command: [process.execPath, '-e', program] } }, goal: ['files'] };
}

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

describe('an agent that stops too early', () => {
  const titles = ['alpha', 'beta', 'gamma'];

  it('P1: goes on until the plan is finished, naming the next todo each time', async () => {
    const played = await play({ prompt: 'Do it.', scripts: [quitter(...titles)] });
    expect(played.continuations).toHaveLength(2);
    expect(played.continuations[0]).toContain('1/3 completed, 2 remaining');
    expect(played.continuations[0]).toContain('beta');
    expect(played.continuations[1]).toContain('gamma');
    expect(played.files).toEqual(filesOf(titles));
    expect(played.session.decisions.map(({ answer }) => answer)).toEqual(['continue', 'continue', 'let-go']);
    expect(played.session.outcome, 'nothing checked the work').toBe('claimed');
    expect(played.messages).toEqual([expect.stringContaining('untildone: claimed.')]);
    expect(played.exitCode).toBe(0);
  });

  it('control: the host alone lets it go after the first todo', async () => {
    const played = await play({ prompt: 'Do it.', scripts: [quitter(...titles)], installed: false });
    expect(played.continuations).toHaveLength(0);
    expect(played.files).toEqual(['alpha.txt']);
    expect(played.exitCode, 'and calls that a success').toBe(0);
    expect(played.lines.at(-1)).toMatchObject({ type: 'result', is_error: false });
  });

  it('G7: works through a plan of twelve, one todo per stop, to the outcome done', async () => {
    const twelve = Array.from({ length: 12 }, (_, index) => `part-${String(index + 1).padStart(2, '0')}`);
    const played = await play({
      prompt: 'Do it.',
      scripts: [quitter(...twelve)],
      config: filesCheck(twelve),
    });
    expect(played.continuations).toHaveLength(11);
    expect(played.files).toEqual(filesOf(twelve));
    expect(played.session.todos.map(({ status }) => status)).toEqual(twelve.map(() => 'completed'));
    expect(played.session.outcome).toBe('done');
  });

  it('control: the host alone lets the plan of twelve go with eleven todos open', async () => {
    const twelve = Array.from({ length: 12 }, (_, index) => `part-${String(index + 1).padStart(2, '0')}`);
    const played = await play({ prompt: 'Do it.', scripts: [quitter(...twelve)], installed: false });
    expect(played.files).toEqual(['part-01.txt']);
  });
});

describe('an agent that may stop', () => {
  it('P29: is truly finished: not one continuation, and the outcome is done', async () => {
    const titles = ['alpha', 'beta'];
    const work = untilAllDone((title) => [writeFile(`${title}.txt`, title), complete(title)]);
    const finished = script('finished', [plan(...titles), work, always(say('Both files are there.'))]);
    const played = await play({ prompt: 'Do it.', scripts: [finished], config: filesCheck(titles) });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.decisions.filter(({ answer }) => answer === 'continue')).toHaveLength(0);
    expect(played.session.outcome).toBe('done');
    expect(played.files).toEqual(filesOf(titles));
  });

  it('T2: has no todos and just answers: not one continuation', async () => {
    const played = await play({ prompt: 'What is 6 × 7?', scripts: [script('answer', [say('42.')])] });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.decisions).toMatchObject([{ answer: 'let-go', reason: 'no-plan', outcome: null }]);
    expect(played.messages, 'nobody is told about an ordinary answer').toEqual([]);
  });

  it('P26: is in plan mode: not one continuation', async () => {
    const played = await play({
      prompt: 'Plan it.',
      scripts: [stubborn],
      words: ['--permission-mode', 'plan'],
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.todos, 'the plan is on the record all the same').toHaveLength(2);
    expect(played.session.decisions).toMatchObject([{ answer: 'let-go', reason: 'read-only-agent' }]);
  });
});

describe('an agent that does not move', () => {
  it('G7: is reminded three times and let go as stagnant, which the human is told', async () => {
    const played = await play({ prompt: 'Do it.', scripts: [stubborn] });
    expect(played.continuations).toHaveLength(3);
    expect(new Set(played.continuations).size, 'each says something new').toBe(3);
    expect(played.session).toMatchObject({ outcome: 'stagnant', reason: 'stagnant' });
    expect(played.messages).toEqual([expect.stringContaining('untildone: stagnant.')]);
    expect(played.lines.at(-1), 'the host itself reports success').toMatchObject({ is_error: false });
    expect(played.exitCode).toBe(0);
  });

  it('G8: a budget of tokens, counted by what its transcript says, ends the turn before that', async () => {
    // Each request has more than 9,000 tokens; the plan and the first stop are within the budget.
    const played = await play({ prompt: 'Do it.', scripts: [stubborn], config: { maxTokens: 25_000 } });
    expect(played.session).toMatchObject({ outcome: 'exhausted', reason: 'token-budget' });
    // The host may write the last answer after it asked about the stop.
    expect([1, 2]).toContain(played.continuations.length);
    expect(played.messages.at(-1)).toContain('The budget of 25000 tokens is spent.');
  });

  it('control: the host alone lets it go at once', async () => {
    const played = await play({ prompt: 'Do it.', scripts: [stubborn], installed: false });
    expect(played.requests.filter(({ isAside }) => !isAside)).toHaveLength(2);
  });

  it('P5: toggles a status for ever: bounded all the same', async () => {
    const toggler = script('toggler', [plan('parser', 'docs'), always(toggle('parser'), say('I am done.'))]);
    const played = await play({ prompt: 'Do it.', scripts: [toggler] });
    expect(played.continuations.length).toBeGreaterThan(0);
    expect(played.continuations.length).toBeLessThanOrEqual(10);
    expect(played.session.outcome).toBe('stagnant');
    expect(played.messages).toEqual([expect.stringContaining('untildone: stagnant.')]);
  });

  it("the host's own cap cuts in: the outcome is on the record and shown, not the host's success", async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [stubborn],
      config: { maxStagnant: 50, maxContinuations: 50 },
      // A person took our switch back: the host's own eight hold here.
      prepare: (project) => setSwitch(project, 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP', '8'),
    });
    expect(played.continuations).toHaveLength(8);
    expect(played.session).toMatchObject({ outcome: 'exhausted', reason: 'host-cap' });
    expect(played.messages.at(-1)).toContain('untildone: exhausted.');
  });
});

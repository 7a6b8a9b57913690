// Checks in the real Claude Code: a claim is refused while its check fails, the outcome
// is done only when the system saw the check pass, and a check that takes longer than the
// hook may is waited for by other means.
import { describe, expect, it } from 'vitest';
import {
  always,
  complete,
  inOrder,
  plan,
  say,
  script,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { createGate } from '../harness/gate.ts';
import { play } from './play.ts';
import { shortenStop } from './settings.ts';

const failure = 'EXPECTED-FILE-IS-MISSING';
const program = `if(!require('fs').existsSync('parser.txt')){console.log('${failure}');process.exit(1)}`;
const parserCheck = { parser: { command: [process.execPath, '-e', program] } };
const forTodo = {
  checks: parserCheck,
  todoChecks: [{ title: 'Write the parser', checks: ['parser'] }],
};

describe('P31: a claim whose check fails', () => {
  const liar = script('liar', [
    plan('Write the parser'),
    complete('Write the parser'),
    say('I am done.'),
    writeFile('parser.txt', 'x'),
    complete('Write the parser'),
    always(say('Now I am done.')),
  ]);

  it('is refused with the tail of the failure; mended, the outcome is done', async () => {
    const played = await play({ prompt: 'Do it.', scripts: [liar], config: forTodo });
    const results = played.requests.flatMap(({ messages }) =>
      messages.flatMap(({ toolResults }) => toolResults),
    );
    expect(results.find(({ text }) => text.includes(failure))?.text).toContain('failed');
    expect(played.continuations).toHaveLength(1);
    expect(played.continuations[0]).toContain(failure);
    expect(played.session.todos).toMatchObject([
      { status: 'completed', verification: 'passed' },
    ]);
    expect(played.session.outcome).toBe('done');
    expect(played.files).toEqual(['parser.txt']);
  });

  it('control: the host alone takes the claim', async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [liar],
      installed: false,
      config: forTodo,
    });
    expect(played.files).toEqual([]);
    expect(JSON.stringify(played.requests.at(-1)?.messages)).toContain(
      'Updated task #1 status',
    );
  });

  it('a check that never passes ends as stagnant or exhausted, never as done', async () => {
    const stubborn = script('stubborn', [
      plan('Write the parser'),
      always(complete('Write the parser'), say('Done.')),
    ]);
    const played = await play({ prompt: 'Do it.', scripts: [stubborn], config: forTodo });
    expect(played.continuations.length).toBeGreaterThan(0);
    expect(played.continuations.length).toBeLessThanOrEqual(10);
    expect(['stagnant', 'exhausted', 'blocked']).toContain(played.session.outcome);
  });
});

describe('M8: a check that takes longer than the hook may', () => {
  const slow = createGate('slow');
  const config = { checks: { slow: { command: slow.words } }, goal: ['slow'] };
  const work = inOrder(
    plan('parser'),
    writeFile('parser.txt', 'x'),
    complete('parser'),
    say('I am done.'),
  );

  it('the host cuts the hook off: the agent is unharmed, and the check runs to its end all the same', async () => {
    const hasty = script('hasty', [work, always(say('I am done.'))]);
    const played = await play({
      scripts: [hasty],
      config,
      prepare: (project) => shortenStop(project, 4, false),
      async drive({ claude, project }) {
        claude.say('Please do it.');
        await claude.waitForResults(1, 60);
        slow.open(project);
        // A second message, after which the result of the first run is at hand.
        claude.say('Is it finished?');
        await claude.waitForResults(2, 60);
      },
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.exitCode).toBe(0);
    expect(played.session.events.map(({ type }) => type)).toContain('check-finished');
  });
});

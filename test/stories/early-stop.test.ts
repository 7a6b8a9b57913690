// Stopping too early, and the honest agents beside it: what the system answers to "done"
// while todos are open, and that it answers nothing where nothing is open.
import { describe, expect, it } from 'vitest';
import {
  blockTodo,
  complete,
  parallel,
  pause,
  plan,
  repeat,
  say,
  theNext,
  untilAllDone,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import {
  continuations,
  continuationText,
  continuedRequests,
  ending,
  shownText,
  statuses,
} from './seen.ts';

describe.each(protocols)('$name', (protocol) => {
  it('P1: "done" with a todo open is continued, and the next todo is named', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'Write beta'),
        writeFile('alpha.txt', 'a'),
        complete('Write alpha'),
        say('Everything is done!'),
        writeFile('beta.txt', 'b'),
        complete('Write beta'),
        say('Both are written.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(statuses(played)).toEqual({
      'Write alpha': 'completed',
      'Write beta': 'completed',
    });
    expect(continuations(played)).toEqual(['standard']);
    expect(continuationText(played, 0)).toContain('“Write beta”');
    expect(continuationText(played, 0)).not.toContain('Write alpha');
    // The request after the early "done" is the one that carries it, and nothing is asked
    // after the end.
    expect(played.requests.indexOf(continuedRequests(played)[0]!)).toBe(4);
    expect(played.requests).toHaveLength(7);
    expect(shownText(played)).toBe('Both are written.');
  });

  it('P29: an agent that is truly finished is not continued', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'Write beta'),
        untilAllDone((title) => [writeFile(`${title}.txt`, title), complete(theNext)]),
        say('Both are written.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual([]);
    expect(played.requests).toHaveLength(6);
    expect(shownText(played)).toBe('Both are written.');
  });

  it('P29, V1: an agent that only answers a question is let go at once; nothing was verified', async () => {
    const played = await play({
      protocol,
      goal: 'What is 2 + 2?',
      steps: [say('Four.')],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'no-plan',
      exitCode: 3,
    });
    expect(played.requests).toHaveLength(1);
    expect(shownText(played)).toBe('Four.');
  });

  it('P33: asked for a part of the plan only, the agent is continued once and may pause', async () => {
    const played = await play({
      protocol,
      goal: 'Plan all three, but do only the first.',
      steps: [
        plan('First', 'Second', 'Third'),
        writeFile('first.txt', '1'),
        complete('First'),
        say('The first one is done, as you asked.'),
        pause('I was asked for the first todo only'),
        say('I stop here.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'paused-by-model',
      exitCode: 7,
    });
    expect(continuations(played)).toEqual(['standard']);
    expect(continuationText(played, 0)).toContain('todo_pause');
    expect(statuses(played)).toEqual({
      First: 'completed',
      Second: 'pending',
      Third: 'pending',
    });
    expect(played.ended.sentence).toContain('I was asked for the first todo only');
    expect(played.session.pause?.by).toBe('model');
  });

  it('P28: an impossible task ends early and honestly, as blocked', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Read the sealed archive'),
        writeFile('attempt.txt', 'tried'),
        blockTodo('Read the sealed archive', 'its password is unknown'),
        say('It cannot be opened without the password.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'blocked',
      reason: 'all-blocked',
      exitCode: 4,
    });
    expect(continuations(played)).toEqual([]);
    expect(played.todos[0]).toMatchObject({
      status: 'blocked',
      reason: 'its password is unknown',
    });
    expect(played.requests).toHaveLength(4);
  });

  it('P28: an agent that pauses at once because only a human can help is let go at once', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Sign the contract'),
        pause('only a human can sign'),
        say('Please sign it.'),
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'paused-by-model',
      exitCode: 7,
    });
    expect(continuations(played)).toEqual([]);
    // M6: honoured at once: the step with the pause is the last one.
    expect(played.requests).toHaveLength(2);
  });
});

describe('a long plan', () => {
  it('P30: an agent that does one todo per stop is sent on through all 100', async () => {
    const titles = Array.from({ length: 100 }, (_, index) => `Part ${index + 1}`);
    const played = await play({
      protocol: oneProtocol,
      steps: [
        plan(...titles),
        repeat(
          100,
          parallel(writeFile('part.txt', 'x'), complete(theNext)),
          say('One more is done.'),
        ),
      ],
      settings: { context: { maxMessages: 30 } },
    });
    expect(played.todos.every(({ status }) => status === 'completed')).toBe(true);
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual(Array.from({ length: 99 }, () => 'standard'));
    continuedRequests(played).forEach((_, index) => {
      expect(continuationText(played, index)).toContain(`“Part ${index + 2}”`);
    });
  });
});

// Agents that ask, refuse or are blocked: the human is asked where a human is needed, and
// nobody is pressed.
import { describe, expect, it } from 'vitest';
import {
  ask,
  blockTodo,
  complete,
  empty,
  filtered,
  plan,
  refuse,
  say,
  thinkOnly,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { play } from './play.ts';
import { oneProtocol, protocols } from './protocols.ts';
import { continuations, continuationText, ending, shownText, statuses } from './seen.ts';

const alpha = [writeFile('alpha.txt', 'a'), complete('Write alpha'), say('Written.')];

describe.each(protocols)('$name', (protocol) => {
  it('P8, G11: a question is answered once by "decide or pause"; asked again, the run waits for the human', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha'),
        ask('Which colour do you want?'),
        ask('Red or blue?'),
        ...alpha,
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'paused',
      reason: 'repeated-question',
      exitCode: 7,
    });
    expect(continuations(played)).toEqual(['text-question']);
    expect(continuationText(played, 0)).toMatch(/todo_pause.*note the assumption/s);
    expect(played.requests).toHaveLength(3);
    // The second question is the answer that the human sees.
    expect(shownText(played)).toBe('Red or blue?');
    expect(statuses(played)).toEqual({ 'Write alpha': 'pending' });
  });

  it('P10: "shall I go on?" is answered by going on', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), ask('Shall I go on?'), ...alpha],
    });
    expect(ending(played)).toEqual({
      outcome: 'claimed',
      reason: 'nothing-open',
      exitCode: 3,
    });
    expect(continuations(played)).toEqual(['text-question']);
    expect(shownText(played)).toBe('Written.');
  });

  it('P11: what is blocked from outside is set aside with its reason, the rest is done, and the run ends blocked', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Deploy it', 'Write alpha'),
        writeFile('deploy.txt', 'tried'),
        blockTodo('Deploy it', 'the server refuses my key'),
        say('I cannot deploy.'),
        ...alpha,
      ],
    });
    expect(ending(played)).toEqual({
      outcome: 'blocked',
      reason: 'all-blocked',
      exitCode: 4,
    });
    expect(continuations(played)).toEqual(['standard']);
    expect(continuationText(played, 0)).toContain('“Write alpha”');
    expect(continuationText(played, 0)).not.toContain('Deploy it');
    expect(statuses(played)).toEqual({
      'Deploy it': 'blocked',
      'Write alpha': 'completed',
    });
    expect(played.todos[0]?.reason).toBe('the server refuses my key');
  });

  it('P15: a refusal is never pressed', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), refuse('I will not do that.'), ...alpha],
    });
    expect(ending(played)).toEqual({ outcome: 'failed', reason: 'refused', exitCode: 1 });
    expect(continuations(played)).toEqual([]);
    expect(played.requests).toHaveLength(2);
  });

  it('P15, G2: an answer that a content filter cut off is never pressed', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), filtered('It'), ...alpha],
    });
    expect(ending(played)).toEqual({ outcome: 'failed', reason: 'refused', exitCode: 1 });
    expect(continuations(played)).toEqual([]);
    expect(played.requests).toHaveLength(2);
  });

  it.each([
    ['empty', empty()],
    ['thinking only', thinkOnly()],
  ])(
    'P14: an answer that is %s gets one retry of its own and the work goes on',
    async (_, nothing) => {
      const played = await play({
        protocol,
        steps: [plan('Write alpha'), nothing, ...alpha],
      });
      expect(ending(played)).toEqual({
        outcome: 'claimed',
        reason: 'nothing-open',
        exitCode: 3,
      });
      expect(continuations(played)).toEqual(['empty-answer']);
      expect(continuationText(played, 0)).toContain('“Write alpha”');
    },
  );

  it('P14: empty answers for ever meet the ordinary limits', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha')],
      afterwards: empty(),
    });
    expect(ending(played)).toEqual({
      outcome: 'stagnant',
      reason: 'stagnant',
      exitCode: 5,
    });
    expect(continuations(played)).toEqual(['empty-answer', 'standard', 'standard']);
  });
});

describe('the honest agents beside them', () => {
  const protocol = oneProtocol;

  it('P8: two questions with work between them are not a question asked twice', async () => {
    const played = await play({
      protocol,
      steps: [
        plan('Write alpha', 'Write beta'),
        ask('Which colour do you want?'),
        writeFile('beta.txt', 'b'),
        complete('Write beta'),
        ask('And which size?'),
        ...alpha,
      ],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual(['text-question', 'text-question']);
  });

  it('P10: a question at the very end, with nothing open, is just an answer', async () => {
    const played = await play({
      protocol,
      steps: [plan('Write alpha'), ...alpha.slice(0, 2), ask('Written. Anything else?')],
    });
    expect(ending(played)).toMatchObject({ outcome: 'claimed' });
    expect(continuations(played)).toEqual([]);
  });
});

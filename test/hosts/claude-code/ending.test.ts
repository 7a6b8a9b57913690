// How a turn ends when the real Claude Code is asked to stop, where that is this host's
// own affair: plan mode, tokens by its transcript, its cap. A control run shows the host
// without us; the rest is in the suite of all hosts.
import { describe, expect, it } from 'vitest';
import { always, plan, say, script } from '../../../src/scripted-model/index.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { play } from './play.ts';
import { setSwitch } from './settings.ts';

const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

describe('an agent that stops too early', () => {
  it('control: the host alone lets it go after the first todo', async () => {
    const played = await play({
      prompt: 'Do it.',
      scripts: [quitter('quitter', ...titles)],
      installed: false,
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.files).toEqual(['alpha.txt']);
    expect(played.exitCode, 'and calls that a success').toBe(0);
    expect(played.lines.at(-1)).toMatchObject({ type: 'result', is_error: false });
  });
});

describe('an agent that may stop', () => {
  it('P26: is in plan mode: not one continuation', async () => {
    const played = await play({
      prompt: 'Plan it.',
      scripts: [stubborn],
      words: ['--permission-mode', 'plan'],
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.todos, 'the plan is on the record all the same').toHaveLength(
      2,
    );
    expect(played.session.decisions).toMatchObject([
      { answer: 'let-go', reason: 'read-only-agent' },
    ]);
  });
});

describe('an agent that does not move', () => {
  it('G8: a budget of tokens, counted by what its transcript says, ends the turn before that', async () => {
    // Each request has more than 9,000 tokens; the plan and the first stop are within the
    // budget.
    const played = await play({
      prompt: 'Do it.',
      scripts: [stubborn],
      config: { maxTokens: 25_000 },
    });
    expect(played.session).toMatchObject({
      outcome: 'exhausted',
      reason: 'token-budget',
    });
    // The host may write the last answer after it asked about the stop.
    expect([1, 2]).toContain(played.continuations.length);
    expect(played.messages.at(-1)).toContain('The budget of 25000 tokens is spent.');
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
    expect(played.messages.at(-1)).toMatch(
      /untildone: not done: 2 of 2 todos open, sent back 8 times \(exhausted\)\./u,
    );
  });
});

// Work that goes on beside the agent in the real Claude Code: shell jobs, subagents in the background and in the
// foreground (P18), and a plan that an earlier turn left open (P34).
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  plan,
  runCommand,
  say,
  script,
  whenTold,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createGate } from '../harness/gate.ts';
import { play } from './play.ts';

const job = createGate('job');

function subagent(more: object = {}) {
  return callTool('Agent', {
    ...{ description: 'sub work', prompt: '[script:helping] Please help.', subagent_type: 'general-purpose' },
    ...more,
  });
}

describe('P18: background work', () => {
  it('P37: a shell job runs and a todo is open: one continuation that names it, then the ordinary ones', async () => {
    const story = script('story', [
      plan('parser', 'docs'),
      runCommand(job.command, { run_in_background: true }),
      say('The job runs.'),
      complete('parser'),
      say('The job still runs.'),
      complete('docs'),
      always(say('I am done.')),
    ]);
    const played = await play({
      scripts: [story],
      async drive({ claude, model, project }) {
        claude.say('Please do it.');
        await claude.waitForResults(1);
        expect(continuationsIn(model.requests), 'nobody waits for the job').toHaveLength(2);
        job.open(project);
      },
    });
    expect(played.continuations[0]).toContain('Background work is running');
    expect(played.continuations[0]).toContain('GATE=job');
    const [first, second, ...rest] = played.session.decisions.map(
      ({ answer, reason }) => `${answer} ${reason}`,
    );
    expect([first, second]).toEqual(['continue continue', 'continue continue']);
    // The host wakes the agent once more if the job ends before it leaves.
    expect([...new Set(rest)]).toEqual(['let-go nothing-open']);
    expect(played.session).toMatchObject({ outcome: 'claimed', latch: null });
    expect(played.messages.join('\n')).toContain('claimed');
  });

  it('P37: a server runs and nothing is open: the check of the goal runs all the same, and the outcome is told', async () => {
    const story = script('story', [
      plan('parser'),
      runCommand(job.command, { run_in_background: true }),
      complete('parser'),
      always(say('The server runs, and all is done.')),
    ]);
    const played = await play({
      scripts: [story],
      config: { checks: { unit: { command: 'echo TWO-TESTS-FAIL; false' } }, goal: ['unit'], maxStagnant: 1 },
      async drive({ claude, project }) {
        claude.say('Please do it.');
        await claude.waitForResults(1);
        job.open(project);
      },
    });
    expect(played.continuations[0]).toContain('TWO-TESTS-FAIL');
    expect(played.session.outcome).toBe('stagnant');
    expect(played.messages.join('\n')).toContain('stagnant');
  });

  it('a subagent in the background is waited for without a continuation', async () => {
    const story = script('story', [
      plan('parser'),
      subagent({ run_in_background: true }),
      say('It works for me.'),
      complete('parser'),
      always(say('I am done.')),
    ]);
    const helping = script('helping', [runCommand(job.command), always(say('I have helped.'))]);
    const played = await play({
      scripts: [story, helping],
      async drive({ claude, model, project }) {
        claude.say('Please do it.');
        await claude.waitForResults(1);
        expect(continuationsIn(model.requests), 'while the subagent works').toHaveLength(0);
        job.open(project);
        await claude.waitForResults(2);
      },
    });
    expect(played.session.decisions[0]).toMatchObject({ answer: 'wait', reason: 'subagent-at-work' });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.outcome).toBe('claimed');
  });

  it("C4: a foreground subagent is never held to its parent's plan", async () => {
    const story = script('story', [
      plan('parser'),
      subagent(),
      complete('parser'),
      always(say('I am done.')),
    ]);
    const helping = script('helping', [runCommand('echo help'), always(say('I have helped.'))]);
    const played = await play({ prompt: 'Do it.', scripts: [story, helping] });
    expect(played.continuations).toHaveLength(0);
    expect(played.sessions.map(({ kind }) => kind)).toEqual(['main', 'subagent']);
    expect(played.sessions[1]?.decisions).toMatchObject([{ answer: 'let-go', reason: 'subagent' }]);
    expect(played.session.outcome).toBe('claimed');
  });
});

describe('a plan of an earlier turn', () => {
  it('P34: something else is asked while it is open: not forced; told to go on: continued again', async () => {
    const story = script('story', [
      plan('parser', 'docs'),
      complete('parser'),
      callTool('mcp__untildone__todo_pause', { reason: 'I need the key.' }),
      say('I wait for the key.'),
      whenTold('capital', say('Paris.')),
      always(say('I am done.')),
    ]);
    const counts: number[] = [];
    const played = await play({
      scripts: [story],
      async drive({ claude, model }) {
        for (const [index, text] of ['Please do it.', 'What is the capital of France?', 'go on'].entries()) {
          claude.say(text);
          await claude.waitForResults(index + 1);
          counts.push(continuationsIn(model.requests).length);
        }
      },
    });
    const [paused, other] = played.session.decisions;
    expect(paused).toMatchObject({ answer: 'let-go', reason: 'paused-by-model', outcome: 'paused' });
    expect(other).toMatchObject({ answer: 'let-go', reason: 'plan-not-resumed', outcome: 'paused' });
    expect(counts.slice(0, 2)).toEqual([0, 0]);
    expect(counts[2], 'the human told the agent to go on').toBe(3);
  });
});

// Work that goes on beside the agent in the real Claude Code: shell jobs (P37) and
// subagents in the foreground. One in the background is told in the suite of all hosts
// (P18).
import { describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  complete,
  plan,
  runCommand,
  say,
  script,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { createGate } from '../harness/gate.ts';
import { play } from './play.ts';

const job = createGate('job');

const subagent = callTool('Agent', {
  description: 'sub work',
  prompt: '[script:helping] Please help.',
  subagent_type: 'general-purpose',
});

describe('work beside the agent', () => {
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
        expect(continuationsIn(model.requests), 'nobody waits for the job').toHaveLength(
          2,
        );
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

  it("C4: a foreground subagent is never held to its parent's plan", async () => {
    const story = script('story', [
      plan('parser'),
      subagent,
      complete('parser'),
      always(say('I am done.')),
    ]);
    const helping = script('helping', [
      runCommand('echo help'),
      always(say('I have helped.')),
    ]);
    const played = await play({ prompt: 'Do it.', scripts: [story, helping] });
    expect(played.continuations).toHaveLength(0);
    expect(played.sessions.map(({ kind }) => kind)).toEqual(['main', 'subagent']);
    expect(played.sessions[1]?.decisions).toMatchObject([
      { answer: 'let-go', reason: 'subagent' },
    ]);
    expect(played.session.outcome).toBe('claimed');
  });
});

// A human interrupts Claude Code while background work is alive. The host tells no hook
// of it, and the end of that work starts the agent again by itself: from then on there
// must not be one continuation, until the human speaks.
import { describe, expect, it } from 'vitest';
import {
  always,
  complete,
  firstOf,
  plan,
  runCommand,
  type Script,
  type Step,
  say,
  script,
  slowly,
  whenTold,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn, toldTexts } from '../harness/continuations.ts';
import { createGate } from '../harness/gate.ts';
import { hasDecided } from '../harness/record.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Play, type Played, play, type Stage } from './play.ts';
import { editSettings } from './settings.ts';

const job = createGate('job');
const held = createGate('held');
/**
 * Slow until somebody interrupts it; when it is woken by the end of the job, it has
 * nothing to add.
 */
const slowAnswer = firstOf(
  whenTold('<task-notification>', say('I am done.')),
  slowly(200, say('I am thinking about this very slowly. '.repeat(60))),
);
const background = runCommand(job.command, { run_in_background: true });

function story(...steps: readonly Step[]): readonly Script[] {
  return [
    script('story', [
      plan('parser', 'docs'),
      background,
      ...steps,
      always(say('I am done.')),
    ]),
  ];
}

interface Interrupted extends Played {
  /**
   * Continuations that the model got after the interrupt, before the human spoke again.
   */
  readonly after: readonly string[];
  /** And after the human had spoken again. */
  readonly lifted: readonly string[];
}

/** @param arrive resolves when the moment for the interrupt has come */
async function interruptAt(
  given: Omit<Play, 'drive'>,
  arrive: (stage: Stage) => Promise<void>,
): Promise<Interrupted> {
  const counts: number[] = [];
  const played = await play({
    ...given,
    async drive(stage) {
      const { claude, model, project } = stage;
      const count = () => counts.push(continuationsIn(model.requests).length);
      claude.say('Please do it.');
      await arrive(stage);
      count();
      const before = model.requests.length;
      claude.interrupt();
      await claude.waitForResults(1);
      job.open(project);
      await waitUntil('the model was told that the job ended', () =>
        toldTexts(model.requests.slice(before)).some((text) =>
          text.includes('<task-notification>'),
        ),
      );
      await claude.waitForResults(2);
      count();
      claude.say('go on');
      await claude.waitForResults(3);
    },
  });
  const [before = 0, woken = 0] = counts;
  return {
    ...played,
    after: played.continuations.slice(before, woken),
    lifted: played.continuations.slice(woken),
  };
}

function expectLatched({ after, lifted, session }: Interrupted): void {
  expect(after, 'continuations after the interrupt').toEqual([]);
  expectAborted(session);
  expect(lifted, 'the human lifted the latch, and the hooks are alive').toHaveLength(3);
}

/** The stop that follows the notification is the only one of its kind. */
function expectAborted({ decisions }: Played['session']): void {
  const aborted = decisions.filter(({ reason }) => reason === 'aborted');
  expect(aborted).toMatchObject([{ answer: 'let-go', outcome: 'aborted' }]);
}

describe('P19: a human interrupts', () => {
  it('while the model streams its answer', async () => {
    const played = await interruptAt({ scripts: story(slowAnswer) }, async (stage) => {
      await waitUntil('the slow answer began', () =>
        stage.model.requests.some(
          ({ reply }) => reply.text?.startsWith('I am thinking') === true,
        ),
      );
    });
    expectLatched(played);
  });

  it('while a tool runs', async () => {
    const played = await interruptAt(
      { scripts: story(runCommand(held.command)) },
      async (stage) => {
        await waitUntil('the tool was called', () =>
          JSON.stringify(stage.claude.lines).includes('.open-held'),
        );
      },
    );
    expectLatched(played);
  });

  it('while the model answers a continuation', async () => {
    const scripts = story(say('I am done.'), slowAnswer);
    const played = await interruptAt({ scripts }, async (stage) => {
      await waitUntil(
        'the continuation arrived',
        () => continuationsIn(stage.model.requests).length === 1,
      );
    });
    expectLatched(played);
  });

  it('while Stop hooks run: ours has answered, another one of the person still thinks', async () => {
    const played = await interruptAt(
      {
        scripts: story(),
        prepare: (project) =>
          editSettings(project, ({ hooks }) => {
            hooks['Stop']!.push({
              hooks: [{ type: 'command', command: held.command, timeout: 60 }],
            });
          }),
      },
      async ({ claude, model, project }) => {
        await waitUntil('the model stopped', () =>
          JSON.stringify(claude.lines).includes('I am done.'),
        );
        await waitUntil('our hook has decided', () => hasDecided(project));
        expect(continuationsIn(model.requests)).toHaveLength(0);
        // Later stops are not held up.
        setTimeout(() => held.open(project), 300);
      },
    );
    expectAborted(played.session);
    const [first, second] = played.session.decisions;
    expect(
      [first?.answer, second?.answer],
      'nothing was continued after the interrupt',
    ).toEqual(['continue', 'let-go']);
    // The host keeps an answer that it had read before the interrupt, and shows it beside
    // the notification.
    expect(played.after.length).toBeLessThanOrEqual(1);
    expect(played.lifted).toHaveLength(3);
  });

  it('while our Stop hook waits for a check: it is told by the signal, and nothing follows', async () => {
    const check = createGate('check');
    const finished = script('finished', [
      plan('parser'),
      runCommand('echo x > x.txt'),
      complete('parser'),
      always(say('I am done.')),
    ]);
    const played = await play({
      scripts: [finished],
      config: { checks: { slow: { command: check.words } }, goal: ['slow'] },
      async drive({ claude, project }) {
        claude.say('Please do it.');
        await waitUntil('our hook waits', () => hasDecided(project));
        claude.interrupt();
        await claude.waitForResults(1);
        check.open(project);
      },
    });
    expect(played.continuations).toHaveLength(0);
    expect(played.session.latch).not.toBeNull();
    expect(played.session.events.map(({ type }) => type)).toContain('human-aborted');
    expect(played.session.outcome).toBe('aborted');
  });

  it('control: without an interrupt the end of the job is followed by continuations', async () => {
    let after = 0;
    await play({
      scripts: story(),
      async drive({ claude, model, project }) {
        claude.say('Please do it.');
        await claude.waitForResults(1);
        const before = model.requests.length;
        job.open(project);
        await claude.waitForResults(2);
        after = continuationsIn(model.requests.slice(before)).length;
      },
    });
    expect(after).toBeGreaterThan(0);
  });
});

describe('nobody interrupts', () => {
  it('G4: a notification in mid-turn is no interrupt: no latch, and the agent is continued', async () => {
    const scripts = story(runCommand(held.command), runCommand('echo between'));
    const played = await play({
      scripts,
      async drive({ claude, model, project }) {
        claude.say('Please do it.');
        await waitUntil('the tool was called', () =>
          JSON.stringify(claude.lines).includes('.open-held'),
        );
        job.open(project);
        await waitUntil('the host knows that the job ended', () =>
          claude.lines.some(({ subtype }) => subtype === 'task_notification'),
        );
        held.open(project);
        await waitUntil('the model was told', () =>
          toldTexts(model.requests).some((text) => text.includes('task-notification')),
        );
        await claude.waitForResults(1);
      },
    });
    expect(played.session.latch).toBeNull();
    expect(played.session.events.map(({ type }) => type)).not.toContain('human-aborted');
    expect(played.continuations).toHaveLength(3);
    expect(played.session.outcome).toBe('stagnant');
  });
});

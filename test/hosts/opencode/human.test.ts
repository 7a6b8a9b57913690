// What a person does while the real OpenCode works or counts down: speaks, aborts, says
// "stop", rejects, asks for something else, deletes the session. From that moment on not
// one continuation may follow against their will.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  always,
  callTool,
  plan,
  runCommand,
  say,
  script,
  slowly,
} from '../../../src/scripted-model/index.ts';
import { quitter, titles } from '../harness/stories/story.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Conversation } from './conversation.ts';
import { hasty, type Stage, startStage } from './stage.ts';
import { stubborn } from './stories.ts';

const question = {
  questions: [
    {
      question: 'Which one?',
      header: 'Pick',
      options: [
        { label: 'A', description: 'the first' },
        { label: 'B', description: 'the second' },
      ],
    },
  ],
};
const slowAnswer = slowly(100, say('I am thinking about this very slowly. '.repeat(20)));

const scripts = [
  stubborn,
  quitter('quitter', ...titles),
  script('thinker', [plan('parser', 'docs'), slowAnswer, always(say('I am done.'))]),
  script('late-thinker', [
    plan('parser', 'docs'),
    say('I am done.'),
    slowAnswer,
    always(say('I am done.')),
  ]),
  script('asking', [
    plan('parser', 'docs'),
    callTool('question', question),
    always(say('I am done.')),
  ]),
  script('shell', [
    plan('parser', 'docs'),
    runCommand('echo hi'),
    always(say('I am done.')),
  ]),
];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(scripts);
}, 60_000);
afterAll(() => stage.close());

/** Long enough to act in. */
const patient = { countdownSeconds: 1.5, minIntervalSeconds: 0 };
/**
 * So long after its countdown a continuation that was not called off would have reached
 * the model.
 */
const quietMs = 2500;

async function countingDown(name = 'stubborn', opencode = {}): Promise<Conversation> {
  const conversation = await stage.open({ config: patient, opencode });
  await conversation.say(`[script:${name}] Do it.`);
  await stage.record.decided(conversation.id, 'not-yet');
  expect(stage.continuations(conversation.id)).toHaveLength(0);
  return conversation;
}

async function expectQuiet(conversation: Conversation, continuations = 0): Promise<void> {
  await sleep(quietMs);
  expect(stage.continuations(conversation.id)).toHaveLength(continuations);
}

describe('E2: during the countdown', () => {
  it('a human message calls it off and is answered first; told to go on, the agent is then held to its plan', async () => {
    const conversation = await countingDown();
    await conversation.say('go on');
    await conversation.waitForTurns(2);
    expect(stage.continuations(conversation.id), 'the human went first').toHaveLength(0);
    await waitUntil(
      'it is continued',
      () => stage.continuations(conversation.id).length === 1,
    );
    const asked =
      stage
        .requests(conversation.id)
        .at(-1)
        ?.messages.filter(({ role }) => role === 'user') ?? [];
    expect(asked.at(-1)?.text).toContain('TODO CONTINUATION');
    expect(asked.at(-2)?.text).toContain('go on');
    await conversation.abort();
  });

  it('P34: a human message about something else calls it off, and the plan is not forced', async () => {
    const conversation = await countingDown();
    await conversation.say('What do you think about tabs?');
    await stage.record.decided(conversation.id, 'plan-not-resumed');
    await expectQuiet(conversation);
  });

  it('an abort calls it off, although the host says nothing but that it is idle (trap 2)', async () => {
    const conversation = await countingDown();
    await conversation.abort();
    await expectQuiet(conversation);
  });

  it('a deleted session is not continued', async () => {
    const conversation = await countingDown();
    await conversation.remove();
    await expectQuiet(conversation);
  });

  it('E4: each idle gives one countdown and one continuation', async () => {
    const conversation = await countingDown('quitter');
    const { decisions } = await stage.record.settled(conversation.id);
    const idles = conversation.events('session.idle').length;
    expect(idles).toBe(3);
    expect(stage.continuations(conversation.id)).toHaveLength(idles - 1);
    expect(decisions.filter(({ reason }) => reason === 'not-yet')).toHaveLength(
      idles - 1,
    );
  });

  it('T3: the late copy of the human message with its old id calls nothing off (trap 3)', async () => {
    // The host sends them when it has written down which files changed.
    const conversation = await countingDown('quitter', { snapshot: true });
    const human = (await conversation.messages())[0]?.info.id;
    await stage.record.settled(conversation.id);
    const copies = conversation
      .events('message.updated')
      .filter(({ properties }) => (properties['info'] as { id: string }).id === human);
    expect(copies.length, 'the host did send copies').toBeGreaterThan(1);
    expect(stage.continuations(conversation.id)).toHaveLength(2);
  });
});

describe('P19: an abort', () => {
  it('while the model streams: latched, although the host tells of idle more than once (trap 1)', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:thinker] Do it.');
    await conversation.waitFor('message.part.delta', 3);
    await conversation.abort();
    await expectQuiet(conversation);
    const kept = await stage.record.read(conversation.id);
    expect(kept?.session.latch).not.toBeNull();
    expect(kept?.session.settled?.outcome).toBe('aborted');
    expect(kept?.decisions.filter(({ answer }) => answer === 'continue')).toEqual([]);
  });

  it('while the model answers a continuation: latched; only a genuine human message lifts it', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:late-thinker] Do it.');
    await waitUntil(
      'it was continued',
      () => stage.continuations(conversation.id).length === 1,
    );
    await conversation.waitFor('message.part.delta', 4);
    await conversation.abort();
    await expectQuiet(conversation, 1);
    await conversation.say('go on');
    await waitUntil(
      'it is continued again',
      () => stage.continuations(conversation.id).length > 1,
    );
    const kept = await stage.record.settled(conversation.id);
    expect(kept.session.latch).toBeNull();
  });

  it('strands a message that was waiting its turn: the latch holds all the same (trap 6)', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:thinker] Do it.');
    await conversation.waitFor('message.part.delta', 3);
    await conversation.say('And then the docs.');
    await conversation.abort();
    await expectQuiet(conversation);
    const last = (await conversation.messages()).at(-1);
    const asked = stage.requests(conversation.id).at(-1);
    if (last?.info.role === 'user')
      expect(JSON.stringify(asked?.messages)).not.toContain('And then the docs.');
    expect((await stage.record.read(conversation.id))?.session.latch).not.toBeNull();
  });

  it('P20: a human who says exactly "stop" is obeyed like an abort', async () => {
    const conversation = await countingDown();
    await conversation.say('stop');
    await conversation.waitForTurns(2);
    await expectQuiet(conversation);
    const kept = await stage.record.read(conversation.id);
    expect(kept?.session.latch).not.toBeNull();
  });
});

describe('P9: a question or a permission', () => {
  it("waits without a timer while a permission is pending; rejected, it is the human's will (trap 7)", async () => {
    const conversation = await stage.open({
      config: hasty,
      opencode: { permission: { '*': 'allow', bash: 'ask' } },
    });
    await conversation.say('[script:shell] Do it.');
    const asked = await conversation.waitFor('permission.asked');
    await expectQuiet(conversation);
    expect((await stage.record.read(conversation.id))?.session.timer).toBeNull();
    await conversation.reply(String(asked.properties['id']), 'reject');
    await expectQuiet(conversation);
    const kept = await stage.record.read(conversation.id);
    expect(kept?.session.pause).toMatchObject({ by: 'rejection' });
  });

  it('a granted permission lets the work and the continuations go on', async () => {
    const conversation = await stage.open({
      config: hasty,
      opencode: { permission: { '*': 'allow', bash: 'ask' } },
    });
    await conversation.say('[script:shell] Do it.');
    const asked = await conversation.waitFor('permission.asked');
    await conversation.reply(String(asked.properties['id']), 'once');
    await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(3);
  });

  it('waits while a question is pending; answered, it goes on', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:asking] Do it.');
    const asked = await conversation.waitFor('question.asked');
    await expectQuiet(conversation);
    await conversation.answerQuestion(String(asked.properties['id']), 'A');
    await stage.record.settled(conversation.id);
    expect(stage.continuations(conversation.id)).toHaveLength(3);
  });

  it('a rejected question pauses: the human did not want it', async () => {
    const conversation = await stage.open();
    await conversation.say('[script:asking] Do it.');
    const asked = await conversation.waitFor('question.asked');
    await conversation.rejectQuestion(String(asked.properties['id']));
    await expectQuiet(conversation);
    expect((await stage.record.read(conversation.id))?.session.pause).toMatchObject({
      by: 'rejection',
    });
  });
});

// Commands that a person types inside the real OpenCode: answered by the plugin, without
// a model and without a shell.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import type { Conversation } from './conversation.ts';
import { type Stage, startStage } from './stage.ts';
import { stubborn } from './stories.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage([stubborn]);
}, 60_000);
afterAll(() => stage.close());

/** Idle, with enough of the countdown left to type in. */
async function countingDown(): Promise<Conversation> {
  const conversation = await stage.open({
    config: { countdownSeconds: 6, minIntervalSeconds: 0 },
  });
  await conversation.say('[script:stubborn] Do it.');
  await stage.record.decided(conversation.id, 'not-yet');
  return conversation;
}

async function answersIn(conversation: Conversation): Promise<readonly string[]> {
  const parts = (await conversation.messages()).flatMap((message) => message.parts);
  return parts.flatMap(({ ignored, text }) => (ignored === true && text ? [text] : []));
}

describe('C3: a command inside OpenCode', () => {
  it('is offered by the host beside its own', async () => {
    const names = await stage.serve.call<readonly { name: string }[]>(
      stage.folder(),
      'GET',
      '/command',
    );
    expect(names.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'untildone-status',
        'untildone-why',
        'untildone-pause',
        'untildone-resume',
      ]),
    );
  });

  it('status and why are shown in the session, and no model is asked', async () => {
    const conversation = await countingDown();
    const asked = stage.requests(conversation.id).length;
    await conversation.command('untildone-pause');
    await conversation.command('untildone-status');
    await conversation.command('untildone-why');
    await waitUntil(
      'the answers are shown',
      async () => (await answersIn(conversation)).length >= 3,
    );
    const [paused, status, why] = await answersIn(conversation);
    expect(paused).toContain('Paused');
    expect(status).toContain('2 todos, 2 open');
    expect(why).toContain('not-yet');
    await sleep(1000);
    expect(stage.requests(conversation.id)).toHaveLength(asked);
    expect(
      stage.model.requests.some(({ body }) =>
        JSON.stringify(body).includes('untildone-status'),
      ),
    ).toBe(false);
  });

  it('pause ends the countdown; resume, typed by the human, takes the work up again', async () => {
    const conversation = await countingDown();
    await conversation.command('untildone-pause', 'lunch');
    await sleep(7500);
    expect(stage.continuations(conversation.id)).toHaveLength(0);
    const kept = await stage.record.read(conversation.id);
    expect(kept?.session.pause).toMatchObject({ by: 'human', reason: 'lunch' });
    await conversation.command('untildone-resume');
    await waitUntil(
      'it is continued',
      () => stage.continuations(conversation.id).length === 1,
    );
    expect((await stage.record.read(conversation.id))?.session.pause).toBeNull();
    await conversation.abort();
  });
});

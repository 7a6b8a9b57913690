// `untildone attach` beside the real OpenCode: the countdown of an idle session, and the
// key that stops it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { attach } from '../harness/attach.ts';
import { startStage } from './stage.ts';
import { stubborn } from './stories.ts';

/** Long enough for a person, or a test on a busy machine, to press a key. */
const countdownSeconds = 20;

it('C3: any key in attach stops the countdown of OpenCode, and nothing is sent', async () => {
  const stage = await startStage([stubborn]);
  onTestFinished(() => stage.close());
  const conversation = await stage.open({
    config: { countdownSeconds, minIntervalSeconds: 0 },
  });
  await conversation.say('[script:stubborn] Do it.');
  await stage.record.decided(conversation.id, 'not-yet');
  const terminal = attach(stage.project, conversation.directory);
  await terminal.sees(/\d+ s press any key to stop/u);
  expect(terminal.screen()).toContain('[ ] docs');
  terminal.press('Space');
  await terminal.sees('stopped by you');
  await sleep(countdownSeconds * 1000);
  expect(stage.continuations(conversation.id)).toHaveLength(0);
  terminal.type('q');
  expect(await terminal.ended()).toBe(0);
});

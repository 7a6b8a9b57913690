// The guard joined to a session: for a stream of any parts, and as a transform of the AI
// SDK.
import { experimental_createSteering, isLoopFinished, streamText } from 'ai';
import { expect, it } from 'vitest';
import {
  createLibraryStage,
  finish,
  planned,
  startModel,
} from '../../test/support/library-stage.ts';
import { complete, plan, say } from '../scripted-model/index.ts';
import { createGuard, sessionGuard, toTransform } from './index.ts';

it('I1, 15: any stream of parts is joined in one line', async () => {
  const session = await createLibraryStage().open({ goal: 'go' });
  const [first, second] = await planned(session, 'a', 'b');
  await finish(session, first);
  const shown: string[] = [];
  const told: string[] = [];
  const guard = createGuard<{ type: string; text?: string; finishReason?: string }>({
    ...sessionGuard(session),
    remind: (text, heldText) => void told.push(heldText, text),
  });
  const answer = async (text: string) => {
    const parts = [
      { type: 'start-step' },
      { type: 'text-delta', text },
      { type: 'finish-step', finishReason: 'stop' },
      { type: 'finish', finishReason: 'stop' },
    ];
    for (const part of parts)
      await guard.take(part, ({ type, text }) => shown.push(text ?? type));
  };
  await answer('All done!');
  expect(told).toEqual([
    'All done!',
    expect.stringContaining('1/2 completed, 1 remaining'),
  ]);
  expect(shown).not.toContain('All done!');
  await finish(session, second);
  await answer('Finished.');
  expect([told.length, session.outcome]).toEqual([2, 'claimed']);
  expect(shown).toContain('Finished.');
});

it('first-use 27: so is a call of the AI SDK', async () => {
  const session = await createLibraryStage().open({ goal: 'go' });
  const { model, requests } = await startModel(
    ...[plan('a', 'b'), complete('a'), say('All done!'), complete('b'), say('Finished.')],
  );
  const steering = experimental_createSteering();
  const result = streamText({
    model,
    tools: session.tools,
    prompt: 'go',
    stopWhen: isLoopFinished(),
    experimental_steering: steering,
    experimental_transform: toTransform({
      ...sessionGuard(session),
      remind(text, heldText) {
        // A model that does not see what it said says it again.
        void steering.steer({ role: 'assistant', content: heldText } as never);
        void steering.steer(text);
      },
    }),
  });
  let shown = '';
  for await (const text of result.textStream) shown += text;
  expect([shown, requests.length, session.outcome]).toEqual(['Finished.', 5, 'claimed']);
});

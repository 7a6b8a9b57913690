// What only the AI SDK's own way has: within one call, and in a stream whose readers are shown no false "done". What holds
// for every framework is in test/conformance.
import { createAnthropic } from '@ai-sdk/anthropic';
import { experimental_createSteering, isLoopFinished, streamText, ToolLoopAgent } from 'ai';
import { describe, expect, it } from 'vitest';
import { createLibraryStage, startModel } from '../../../test/support/library-stage.ts';
import { sessionGuard, toTransform } from '../../guard/index.ts';
import {
  complete,
  cutOff,
  duplicateWrite,
  inOrder,
  plan,
  type Step,
  say,
  withThinking,
} from '../../scripted-model/index.ts';
import type { SessionOptions } from '../../session/session.ts';
import { untilDone } from './index.ts';

async function stage(options: SessionOptions, ...steps: Step[]) {
  const session = await createLibraryStage().open({ goal: 'go', ...options });
  const { model, requests, server } = await startModel(...steps);
  const agent = new ToolLoopAgent({ model, tools: session.tools });
  const messages = () =>
    requests.map(({ body }) => (body as { messages: { role: string; content: unknown }[] }).messages);
  return { session, agent, requests, messages, server };
}

const early = inOrder(plan('a', 'b'), complete('a'), say('All done!'), complete('b'), say('Finished.'));

describe('in a stream', () => {
  it('I1, I7: a premature "done" and the reminder are shown to nobody, and both are in the history', async () => {
    const { session, agent, messages } = await stage({}, early);
    const { stream } = await agent.stream({ prompt: 'go', ...untilDone(session) });
    const shown: string[] = [];
    for await (const part of stream) shown.push(part.type === 'text-delta' ? part.text : part.type);
    expect(shown.join(' ')).toContain('Finished.');
    expect(shown.join(' ')).not.toMatch(/All done|steering-message|CONTINUATION/);
    expect(shown.filter((type) => type === 'finish')).toHaveLength(1);
    const [answer, reminder] = messages()[3]?.slice(-2) ?? [];
    expect(answer).toMatchObject({ role: 'assistant', content: 'All done!' });
    expect(String(reminder?.content)).toContain('1/2 completed, 1 remaining');
    // And it stays there.
    expect(messages()[4]?.slice(0, messages()[3]?.length)).toEqual(messages()[3]);
  });

  it('I1: what the model thought before a held answer stays before it', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    const { server } = await startModel(
      ...[plan('a'), withThinking('Is it done? Yes.', say('All done!')), complete('a'), say('Finished.')],
    );
    const model = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'any' })('story');
    const agent = new ToolLoopAgent({ model, tools: session.tools });
    expect(await (await agent.stream({ prompt: 'go', ...untilDone(session) })).text).toBe('Finished.');
    const told = server.requests[2]?.body as { messages: object[] } | undefined;
    expect(told?.messages.at(-2)).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Is it done? Yes.' },
        { type: 'text', text: 'All done!' },
      ],
    });
  });

  it('P13: an answer that the output limit cut off is taken up in the same call', async () => {
    const { session, agent, requests } = await stage(
      {},
      plan('a'),
      cutOff(),
      complete('a'),
      say('Finished.'),
    );
    expect(await (await agent.stream({ prompt: 'go', ...untilDone(session) })).text).toBe('Finished.');
    expect([requests.length, session.outcome]).toEqual([4, 'claimed']);
  });

  it('I5: a step with nothing but a todo_write that changes nothing is a stop attempt', async () => {
    const story = [plan('a'), duplicateWrite(), complete('a'), say('Finished.')];
    const { session, agent } = await stage({}, ...story);
    await (await agent.stream({ prompt: 'go', ...untilDone(session) })).text;
    expect(session.outcome).toBe('claimed');
    expect((await session.why())?.inputs).toMatchObject({ open: 0 });
  });

  it('G6: the limits of the session end it, not the SDK’s own twenty steps', async () => {
    const todos = Array.from({ length: 30 }, (_, index) => `todo ${index}`);
    const { session, agent, requests } = await stage(
      {},
      ...[plan(...todos), ...todos.map((title) => complete(title)), say('Finished.')],
    );
    await (await agent.stream({ prompt: 'go', ...untilDone(session) })).text;
    expect([requests.length, session.outcome]).toEqual([32, 'claimed']);
    const lazy = await stage(
      {},
      plan('a'),
      ...Array.from({ length: 9 }, (_, index) => say(`Done ${index}!`)),
    );
    const { text } = await lazy.agent.stream({ prompt: 'go', ...untilDone(lazy.session) });
    expect(await text).toBe('Done 3!');
    expect([lazy.requests.length, lazy.session.outcome]).toEqual([5, 'stagnant']);
  });
});

describe('without a stream', () => {
  it('15: the answer is the last one, and tokens are counted', async () => {
    const { session, agent } = await stage({ settings: { maxTokens: 1 } }, early);
    const { text } = await agent.generate({ prompt: 'go', ...untilDone(session) });
    expect(text).toBe('All done!');
    expect(session.outcome).toBe('exhausted');
  });
});

describe('the guard alone', () => {
  it('first-use 27: is joined to a session in one line', async () => {
    const { session, requests } = await stage({}, early);
    const { model } = await startModel(plan('a', 'b'), complete('a'), complete('b'), say('Finished.'));
    const steering = experimental_createSteering();
    const result = streamText({
      model,
      tools: session.tools,
      prompt: 'go',
      stopWhen: isLoopFinished(),
      experimental_steering: steering,
      experimental_transform: toTransform({
        ...sessionGuard(session),
        remind: (text) => void steering.steer(text),
      }),
    });
    expect(await result.text).toBe('Finished.');
    expect([requests.length, session.outcome]).toEqual([0, 'claimed']);
  });
});

// What `hold` reads from the answers of agents.
import { describe, expect, it } from 'vitest';
import { createLibraryStage } from '../../test/support/library-stage.ts';
import { readReply } from './reply.ts';

const call = (toolCallId: string) => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId }],
});
const result = (toolCallId: string) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId }],
});

describe('an answer', () => {
  it.each([
    [
      'the AI SDK 7',
      {
        text: 'Hi',
        responseMessages: [call('a'), result('a')],
        response: { messages: [] },
      },
      2,
      false,
    ],
    [
      'the AI SDK before it',
      { text: 'Hi', response: { messages: [call('a'), result('a')] } },
      2,
      false,
    ],
    [
      'a program',
      { text: 'Hi', messages: [{ role: 'assistant', content: 'Hi' }] },
      1,
      false,
    ],
    [
      'one that streams',
      { text: Promise.resolve('Hi'), responseMessages: Promise.resolve([]) },
      0,
      false,
    ],
    ['a text alone', 'Hi', 1, false],
    [
      'a call that nobody answered',
      { text: 'Hi', responseMessages: [call('a'), result('a'), call('b')] },
      3,
      true,
    ],
    ['a framework that asks', { text: 'Hi', asks: true }, 1, true],
  ])('15: of %s', async (_what, given, messages, asks) => {
    const reply = await readReply(given);
    expect(reply).toMatchObject({ text: 'Hi', end: 'normal', asks });
    expect(reply.messages).toHaveLength(messages);
  });

  it.each([
    ['length', 'length'],
    ['content-filter', 'content-filter'],
    ['error', 'error'],
    ['interrupted', 'cancelled'],
    ['tool-calls', 'iteration-budget'],
    ['other', 'normal'],
  ])('G2: that ended with %s ended as %s', async (finishReason, end) => {
    expect(await readReply({ text: 'Hi', finishReason })).toMatchObject({ end });
  });

  it('P14: without a word is empty, whatever it says about its end', async () => {
    expect(await readReply({ text: '', finishReason: 'stop' })).toMatchObject({
      end: 'empty',
    });
  });

  it('G8: tokens count where both are known', async () => {
    const totalUsage = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
    expect((await readReply({ text: 'Hi', totalUsage })).usage).toEqual({
      inputTokens: 5,
      outputTokens: 2,
    });
    expect((await readReply({ text: 'Hi', usage: { inputTokens: 5 } })).usage).toBeNull();
  });
});

describe('an agent that waits for the human', () => {
  it('S7: is not spoken to, and goes on with the answer', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await session.tools.create_todo.execute({ items: [{ title: 'a' }] });
    const told: unknown[][] = [];
    const asks = (messages: unknown[]) => {
      told.push(messages);
      return { text: '', messages: [call('a')] };
    };
    await session.hold(asks);
    expect([told.length, session.outcome]).toEqual([1, 'paused']);
    await session.hold(async (messages: unknown[]) => {
      told.push(messages);
      for (const { id } of session.plan)
        await session.tools.complete_todo.execute({ todoId: id, outcome: 'approved' });
      return {
        text: 'Done.',
        messages: [result('a'), { role: 'assistant', content: 'Done.' }],
      };
    });
    expect([told.length, session.outcome]).toEqual([2, 'claimed']);
  });
});

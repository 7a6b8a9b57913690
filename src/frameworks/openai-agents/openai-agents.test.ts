// What is special to the OpenAI Agents SDK: handoffs, its own sessions, streams.
// test/frameworks has the tests of every framework.
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  OpenAIChatCompletionsModel,
  run,
  setTracingDisabled,
} from '@openai/agents';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { createLibraryStage, startModel } from '../../../test/support/library-stage.ts';
import { callTool, complete, plan, type Step, say } from '../../scripted-model/index.ts';
import { todoTools, untilDone } from './index.ts';

setTracingDisabled(true);

async function stage(...steps: Step[]) {
  const session = await createLibraryStage().open({ goal: 'go' });
  const { server, requests } = await startModel(...steps);
  const client = new OpenAI({
    baseURL: `${server.url}/v1`,
    apiKey: 'any',
    maxRetries: 0,
  });
  const model = new OpenAIChatCompletionsModel(client, 'story');
  const worker = new Agent({
    name: 'worker',
    instructions: 'You work.',
    model,
    tools: todoTools(session),
  });
  const messages = () =>
    requests.map(
      ({ body }) => (body as { messages: { role: string; content: unknown }[] }).messages,
    );
  return { session, model, worker, messages };
}

const early = [
  plan('a', 'b'),
  complete('a'),
  say('All done!'),
  complete('b'),
  say('Finished.'),
];

it('15: the agent that was handed over to is the one that goes on', async () => {
  const { session, model, worker, messages } = await stage(
    callTool('transfer_to_worker', {}),
    ...early,
  );
  const desk = new Agent({
    name: 'desk',
    instructions: 'You hand over.',
    model,
    handoffs: [worker],
  });
  const { lastAgent, finalOutput } = await untilDone(session, desk);
  expect([lastAgent?.name, finalOutput, session.outcome]).toEqual([
    'worker',
    'Finished.',
    'claimed',
  ]);
  const instructions = messages().map(([first]) => first?.content);
  expect(instructions).toEqual(['You hand over.', ...Array(5).fill('You work.')]);
});

it('15: with a session of the SDK every message is sent once', async () => {
  const { session, worker, messages } = await stage(...early);
  const memory = new MemorySession();
  const { finalOutput } = await untilDone(session, worker, { session: memory });
  expect([finalOutput, session.outcome]).toEqual(['Finished.', 'claimed']);
  const users = messages().map((all) => all.filter(({ role }) => role === 'user').length);
  expect(users).toEqual([1, 1, 1, 2, 2]);
  expect(JSON.stringify(messages()[3]?.at(-2))).toContain('All done!');
  expect((await memory.getItems()).length).toBeGreaterThan(5);
});

it('15: a stream is refused in one sentence, and is held by session.hold', async () => {
  const { session, worker } = await stage(...early);
  await expect(untilDone(session, worker, { stream: true } as never)).rejects.toThrow(
    'untilDone: stream: cannot be true; run it with session.hold instead.',
  );
  let events = 0;
  await session.hold(async (messages: AgentInputItem[]) => {
    const result = await run(worker, messages, { stream: true });
    for await (const _event of result) events += 1;
    return {
      text: String(result.finalOutput),
      messages: result.history.slice(messages.length),
    };
  });
  expect(events).toBeGreaterThan(5);
  expect(session.outcome).toBe('claimed');
});

// What is special to the middleware for LangChain: its options. test/frameworks has the
// tests of every framework.
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, todoListMiddleware, tool } from 'langchain';
import { expect, it } from 'vitest';
import { createLibraryStage, startModel } from '../../../test/support/library-stage.ts';
import { bulkClaim, callTool, plan, say } from '../../scripted-model/index.ts';
import { type MiddlewareOptions, untilDone } from './index.ts';

async function stage(
  options: MiddlewareOptions,
  ...steps: Parameters<typeof startModel>
) {
  const session = await createLibraryStage().open({ goal: 'go' });
  const { server, requests } = await startModel(...steps);
  const model = new ChatOpenAI({
    model: 'story',
    apiKey: 'any',
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: `${server.url}/v1` },
  });
  const book = tool(async () => 'booked', {
    name: 'book',
    description: 'Books.',
    schema: { type: 'object' },
  });
  const held = untilDone(session, options);
  // Its types are no match for strict optional properties.
  const theirs = todoListMiddleware() as unknown as typeof held;
  const agent =
    options.list === 'theirs'
      ? createAgent({ model, tools: [book], middleware: [theirs, held] })
      : createAgent({ model, tools: [book], middleware: [held] });
  const messages = [{ role: 'user', content: 'go' }];
  const { messages: said } = await agent.invoke({ messages }, { recursionLimit: 1000 });
  const offered = requests[0]?.tools.map(({ name }) => name) ?? [];
  return { session, requests, said, offered };
}

const write = (...statuses: string[]) =>
  callTool('write_todos', {
    todos: statuses.map((status, index) => ({ content: `todo ${index}`, status })),
  });

it('15: an option that does not exist, or a session that was not awaited, gets one sentence', async () => {
  const session = await createLibraryStage().open({ goal: 'go' });
  const wrong =
    (options: object, given: unknown = session) =>
    () =>
      untilDone(given as never, options);
  expect(wrong({ list: 'their' })).toThrow(
    'untilDone: list: Invalid option: expected one of "ours"|"theirs"',
  );
  expect(wrong({ lists: 'theirs' })).toThrow('untilDone: Unrecognized key: "lists"');
  expect(wrong({}, Promise.resolve(session))).toThrow(
    'untilDone: session: must be what `await openSession(…)` gives',
  );
});

it('15: the list of todoListMiddleware is a plan that the agent is held to', async () => {
  const { session, requests, said, offered } = await stage(
    { list: 'theirs' },
    ...[write('in_progress', 'pending'), write('completed', 'pending'), say('All done!')],
    ...[write('completed', 'completed'), say('Finished.')],
  );
  expect(offered.toSorted()).toEqual([
    'book',
    'list_todo',
    'todo_pause',
    'todo_verify',
    'write_todos',
  ]);
  expect(session.plan.map(({ title, status }) => `${title} ${status}`)).toEqual([
    'todo 0 completed',
    'todo 1 completed',
  ]);
  expect(JSON.stringify(requests[3]?.body)).toContain('1/2 completed, 1 remaining');
  expect([requests.length, session.outcome, said.at(-1)?.text]).toEqual([
    5,
    'claimed',
    'Finished.',
  ]);
});

it('V4: with `watch` the calls of other tools tell work from talk', async () => {
  const claims = [plan('a', 'b', 'c'), bulkClaim(), say('Done.'), say('I checked them.')];
  const talk = await stage({ watch: true }, ...claims);
  expect(JSON.stringify(talk.requests[3]?.body)).toContain(
    '3 todos were marked completed',
  );
  const calls = [callTool('book', {}), callTool('book', {}), callTool('book', {})];
  const work = await stage(
    { watch: true },
    plan('a', 'b', 'c'),
    ...calls,
    bulkClaim(),
    say('Done.'),
  );
  expect([work.requests.length, work.session.outcome]).toEqual([6, 'claimed']);
});

it('V4: so they do with the list of theirs', async () => {
  const claims = [
    write('pending', 'pending', 'pending'),
    write('completed', 'completed', 'completed'),
  ];
  const options = { list: 'theirs', watch: true } as const;
  const talk = await stage(options, ...claims, say('Done.'), say('I checked them.'));
  expect(JSON.stringify(talk.requests[3]?.body)).toContain(
    '3 todos were marked completed',
  );
});

// LangChain and deepagents: agents with our middleware, which brings our todo tools or
// reads the list of theirs.
import { ChatOpenAI } from '@langchain/openai';
import { createDeepAgent } from 'deepagents';
import { createAgent, todoListMiddleware, tool } from 'langchain';
import { untilDone } from '../../src/frameworks/langchain/index.ts';
import type { FrameworkDriver, FrameworkWork } from './conformance.ts';

function parts({ url, tools }: FrameworkWork) {
  const model = new ChatOpenAI({
    model: 'story',
    apiKey: 'any',
    maxRetries: 0,
    useResponsesApi: false,
    configuration: { baseURL: `${url}/v1` },
  });
  const others = Object.entries(tools).map(
    ([name, { description, inputSchema, execute }]) =>
      tool(async (input: unknown) => JSON.stringify(await execute(input)), {
        name,
        description,
        schema: { ...inputSchema, type: 'object' } as const,
      }),
  );
  return { model, tools: others };
}

const said = ({ goal }: FrameworkWork) => ({
  messages: [{ role: 'user', content: goal }],
});
// Its types are no match for strict optional properties.
const theirList = () => todoListMiddleware() as unknown as ReturnType<typeof untilDone>;

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'LangChain: createAgent',
    async run(session, work) {
      const agent = createAgent({ ...parts(work), middleware: [untilDone(session)] });
      return agent.invoke(said(work), { signal: work.signal, recursionLimit: 1000 });
    },
  },
  {
    name: 'LangChain: createAgent, its own todo list',
    async run(session, work) {
      const middleware = [theirList(), untilDone(session, { list: 'theirs' })];
      const agent = createAgent({ ...parts(work), middleware });
      return agent.invoke(said(work), { signal: work.signal, recursionLimit: 1000 });
    },
  },
  {
    name: 'deepagents: createDeepAgent',
    async run(session, work) {
      const agent = createDeepAgent({ ...parts(work), middleware: [untilDone(session)] });
      return agent.invoke(said(work), { signal: work.signal });
    },
  },
  {
    name: 'deepagents: createDeepAgent, its own todo list',
    async run(session, work) {
      const middleware = [theirList(), untilDone(session, { list: 'theirs' })] as const;
      const agent = createDeepAgent({ ...parts(work), middleware });
      return agent.invoke(said(work), { signal: work.signal });
    },
  },
];

// LangChain: an agent with our middleware.
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { untilDone } from '../../src/frameworks/langchain/index.ts';
import type { FrameworkDriver } from './framework-conformance.ts';

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'LangChain: createAgent',
    async run(session, { url, goal, tools, signal }) {
      const model = new ChatOpenAI({
        ...{ model: 'story', apiKey: 'any', maxRetries: 0, useResponsesApi: false },
        configuration: { baseURL: `${url}/v1` },
      });
      const others = Object.entries(tools)
        .filter(([name]) => !Object.hasOwn(session.tools, name))
        .map(([name, { description, inputSchema, execute }]) =>
          tool(async (input: unknown) => JSON.stringify(await execute(input)), {
            ...{ name, description, schema: { ...inputSchema, type: 'object' } as const },
          }),
        );
      const agent = createAgent({ model, tools: others, middleware: [untilDone(session)] });
      const messages = [{ role: 'user', content: goal }];
      return agent.invoke({ messages }, { signal, recursionLimit: 1000 });
    },
  },
];

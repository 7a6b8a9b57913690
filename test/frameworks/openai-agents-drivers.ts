// The OpenAI Agents SDK: runs one after the other.
import {
  Agent,
  OpenAIChatCompletionsModel,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { todoTools, untilDone } from '../../src/frameworks/openai-agents/index.ts';
import type { FrameworkDriver } from './conformance.ts';

// It would send traces to the vendor.
setTracingDisabled(true);

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'OpenAI Agents: run',
    async run(session, { url, tools, signal }) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 });
      const others = Object.entries(tools).map(
        ([name, { description, inputSchema, execute }]) =>
          tool({
            name,
            description,
            strict: false,
            parameters: { ...inputSchema, additionalProperties: true } as never,
            execute: (input: unknown) => execute(input),
          }),
      );
      const model = new OpenAIChatCompletionsModel(client, 'story');
      const agent = new Agent({
        name: 'worker',
        model,
        tools: [...todoTools(session), ...others],
      });
      return untilDone(session, agent, { signal });
    },
  },
];

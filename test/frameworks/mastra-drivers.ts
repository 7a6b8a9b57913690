// Mastra: calls one after the other.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { todoTools, untilDone } from '../../src/frameworks/mastra/index.ts';
import type { FrameworkDriver } from './conformance.ts';

// It would tell its vendor what is used.
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'Mastra: generate',
    run(session, { url, tools, signal }) {
      const others = Object.entries(tools).map(
        ([id, { description, inputSchema, execute }]) => [
          id,
          createTool({
            id,
            description,
            inputSchema,
            execute: (input: unknown) => execute(input),
          }),
        ],
      );
      const agent = new Agent({
        id: 'worker',
        name: 'worker',
        instructions: 'Work.',
        model: { id: 'scripted/story', url: `${url}/v1`, apiKey: 'any' },
        tools: { ...todoTools(session), ...Object.fromEntries(others) },
      });
      return untilDone(session, agent, { abortSignal: signal });
    },
  },
];

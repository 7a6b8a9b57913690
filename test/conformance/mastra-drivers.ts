// Mastra: calls one after the other.
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { untilDone } from '../../src/frameworks/mastra/index.ts';
import type { FrameworkDriver } from './framework-conformance.ts';

// It would tell its vendor what is used.
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'Mastra: generate',
    run(session, { url, tools, signal }) {
      const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat('story');
      const agent = new Agent({
        ...{ id: 'worker', name: 'worker', instructions: 'Work.', tools: { ...tools } as never },
        // Its types are no match for those of the SDK's newest providers.
        model: model as never,
      });
      return untilDone(session, agent, { abortSignal: signal });
    },
  },
];

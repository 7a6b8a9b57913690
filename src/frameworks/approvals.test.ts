// Frameworks whose runs end when a call waits for the human's approval: the outcome says
// so, and nothing is sent to the agent.
import { Agent as MastraAgent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import {
  Agent,
  OpenAIChatCompletionsModel,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { createLibraryStage, startModel } from '../../test/support/library-stage.ts';
import { callTool, plan, say } from '../scripted-model/index.ts';
import { todoTools as mastraTools, untilDone as untilMastra } from './mastra/index.ts';
import { todoTools, untilDone as untilOpenAi } from './openai-agents/index.ts';

setTracingDisabled(true);
process.env['MASTRA_TELEMETRY_DISABLED'] = '1';
const story = [plan('a'), callTool('publish', {}), say('Published.')] as const;

it('S7: OpenAI Agents', async () => {
  const session = await createLibraryStage().open({ goal: 'go' });
  const { server, requests } = await startModel(...story);
  const client = new OpenAI({
    baseURL: `${server.url}/v1`,
    apiKey: 'any',
    maxRetries: 0,
  });
  const publish = tool({
    name: 'publish',
    description: 'Publishes.',
    needsApproval: true,
    strict: false,
    parameters: {
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: true,
    },
    execute: async () => 'published',
  });
  const model = new OpenAIChatCompletionsModel(client, 'story');
  const agent = new Agent({
    name: 'worker',
    model,
    tools: [...todoTools(session), publish],
  });
  const { interruptions } = await untilOpenAi(session, agent);
  expect([interruptions.length, requests.length, session.outcome]).toEqual([
    1,
    2,
    'paused',
  ]);
});

it('S7: Mastra', async () => {
  const session = await createLibraryStage().open({ goal: 'go' });
  const { server, requests } = await startModel(...story);
  const model = { id: 'scripted/story', url: `${server.url}/v1`, apiKey: 'any' } as const;
  const publish = createTool({
    id: 'publish',
    description: 'Publishes.',
    requireApproval: true,
    execute: async () => 'published',
  });
  const tools = { ...mastraTools(session), publish };
  const agent = new MastraAgent({
    id: 'a',
    name: 'a',
    instructions: 'Work.',
    model,
    tools,
  });
  const { finishReason } = await untilMastra(session, agent);
  expect([finishReason, requests.length, session.outcome]).toEqual([
    'suspended',
    2,
    'paused',
  ]);
});

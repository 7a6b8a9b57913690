// 08: an agent of the OpenAI Agents SDK, run again with the whole history until it may
// stop. After npm run build, npm run examples installs the SDK and runs it.
import { Agent, OpenAIChatCompletionsModel, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { openSession } from 'untildone';
import { todoTools, untilDone } from 'untildone/openai-agents';
import {
  complete,
  plan,
  say,
  script,
  startScriptedModel,
} from 'untildone/scripted-model';

const story = [
  plan('Move the tests', 'Run them'),
  complete('Move the tests'),
  say('All done!'),
];
const later = [complete('Run them'), say('Both todos are finished.')];
const server = await startScriptedModel({
  scripts: [script('example', [...story, ...later])],
});
setTracingDisabled(true);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any' });
const model = new OpenAIChatCompletionsModel(client, 'example');

const session = await openSession({ goal: 'migrate the tests', store: ':memory:' });
const agent = new Agent({ name: 'worker', model, tools: todoTools(session) });
const { finalOutput } = await untilDone(session, agent);
console.log(`${server.requests.length} calls of the model, then: ${finalOutput}`);
console.log(`${session.outcome}: ${(await session.why())?.sentence}`);
await session.close();
await server.close();

// 07: an agent of LangChain. The middleware brings the todo tools and sends the agent
// back until it may stop. After npm run build, npm run examples installs LangChain and
// runs it.
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { openSession } from 'untildone';
import { untilDone } from 'untildone/langchain';
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
const configuration = { baseURL: `${server.url}/v1` };
const model = new ChatOpenAI({
  model: 'example',
  apiKey: 'any',
  configuration,
  useResponsesApi: false,
});

const session = await openSession({ goal: 'migrate the tests', store: ':memory:' });
const agent = createAgent({ model, tools: [], middleware: [untilDone(session)] });
const messages = [{ role: 'user', content: 'migrate the tests' }];
const { messages: said } = await agent.invoke({ messages }, { recursionLimit: 1000 });
console.log(`${server.requests.length} calls of the model, then: ${said.at(-1)?.text}`);
console.log(`${session.outcome}: ${(await session.why())?.sentence}`);
await session.close();
await server.close();

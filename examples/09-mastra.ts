// 09: an agent of Mastra, called again with the whole history until it may stop. After
// npm run build, npm run examples installs Mastra and runs it.
import { Agent } from '@mastra/core/agent';
import { openSession } from 'untildone';
import { todoTools, untilDone } from 'untildone/mastra';
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
const model = { id: 'scripted/example', url: `${server.url}/v1`, apiKey: 'any' } as const;

const session = await openSession({ goal: 'migrate the tests', store: ':memory:' });
const tools = todoTools(session);
const agent = new Agent({ id: 'a', name: 'a', instructions: 'Work.', model, tools });
const { text } = await untilDone(session, agent);
console.log(`${server.requests.length} calls of the model, then: ${text}`);
console.log(`${session.outcome}: ${(await session.why())?.sentence}`);
await session.close();
await server.close();

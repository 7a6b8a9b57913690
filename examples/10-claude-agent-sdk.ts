// 10: a query of the Claude Agent SDK. The todo tools and the Stop hook are in this
// process; Claude Code itself is not changed. Run it where @anthropic-ai/claude-agent-sdk
// is installed too; npm run test:hosts -- claude-agent-sdk does.
import * as sdk from '@anthropic-ai/claude-agent-sdk';
import { openSession } from 'untildone';
import { untilDone } from 'untildone/claude-agent-sdk';
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
const env = { ...process.env, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'any' };

const session = await openSession({ goal: 'migrate the tests', store: ':memory:' });
const options = { ...untilDone(session, sdk), model: 'example', settingSources: [], env };
for await (const message of sdk.query({ prompt: 'migrate the tests', options }))
  if (message.type === 'result' && message.subtype === 'success')
    console.log(message.result);
console.log(`${session.outcome}: ${(await session.why())?.sentence}`);
await session.close();
await server.close();

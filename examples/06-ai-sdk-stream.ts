// 06: an agent of the AI SDK that streams. It says "All done!" too early; nobody sees
// that, and it goes on in the same call. Run it, after npm run build, with:
// node_modules/.bin/node examples/06-ai-sdk-stream.ts (or npm run examples)
import { createOpenAI } from '@ai-sdk/openai';
import { ToolLoopAgent } from 'ai';
import { openSession } from 'untildone';
import { untilDone } from 'untildone/ai-sdk';
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
const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any' }).chat(
  'example',
);

const session = await openSession({ goal: 'migrate the tests', store: ':memory:' });
const agent = new ToolLoopAgent({ model, tools: session.tools });
const { textStream } = await untilDone(session, agent).stream({
  prompt: 'migrate the tests',
});
for await (const text of textStream) process.stdout.write(text);
console.log(`\n${server.requests.length} calls of the model. ${session.outcome}`);
await session.close();
await server.close();

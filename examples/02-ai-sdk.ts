// 02: an agent of the AI SDK. It says that all is done, but the check fails; it is sent
// back, and then it is done. Run it, after npm run build, with: node_modules/.bin/node
// examples/02-ai-sdk.ts (or npm run examples)
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, ToolLoopAgent, tool } from 'ai';
import { openSession } from 'untildone';
import {
  callTool,
  complete,
  plan,
  say,
  script,
  startScriptedModel,
} from 'untildone/scripted-model';

const story = [plan('Move the tests'), complete('Move the tests'), say('All done!')];
const later = [callTool('move_tests'), say('Now they are moved.')];
const server = await startScriptedModel({
  scripts: [script('example', [...story, ...later])],
});
const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any' }).chat(
  'example',
);

const directory = mkdtempSync('/tmp/untildone-example-');
const execute = async () => writeFileSync(`${directory}/moved`, '');
const own = {
  move_tests: tool({ inputSchema: jsonSchema({ type: 'object' }), execute }),
};
const options = { checks: ['ls moved'], directory, store: ':memory:' };
const session = await openSession({ goal: 'move the tests', ...options });
const agent = new ToolLoopAgent({
  model,
  tools: { ...session.tools, ...session.watch(own) },
});
const { text } = await session.hold((messages) => agent.generate({ messages }));
console.log(
  `${server.requests.length} calls of the model, then: ${text}\n${session.outcome}`,
);
await session.close();
await server.close();
rmSync(directory, { recursive: true });

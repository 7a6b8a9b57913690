// As with-peers.ts, for packages whose own declarations do not pass without
// `skipLibCheck`.
import { Agent } from '@mastra/core/agent';
import { createAgent } from 'langchain';
import type { Session } from 'untildone';
import * as langchain from 'untildone/langchain';
import * as mastra from 'untildone/mastra';

type IsAny<T> = 0 extends 1 & T ? true : false;
export const lostTypes: [
  IsAny<typeof langchain.untilDone>,
  IsAny<ReturnType<typeof langchain.untilDone>>,
] = [false, false];

declare const session: Session;

const middleware = [langchain.untilDone(session, { watch: true })];
const graph = createAgent({ model: 'openai:any', tools: [], middleware });
await graph.invoke({ messages: 'migrate the tests' }, { recursionLimit: 1000 });
// @ts-expect-error: the session is missing
langchain.untilDone({ watch: true });
// @ts-expect-error: `ours` or `theirs`
langchain.untilDone(session, { list: 'mine' });

const about = {
  id: 'worker',
  name: 'worker',
  instructions: 'Work.',
  model: 'openai/any',
};
const agent = new Agent({ ...about, tools: mastra.todoTools(session) });
export const { text }: { text: string } = await mastra.untilDone(session, agent, {
  maxSteps: 20,
});
// @ts-expect-error: the session is missing
await mastra.untilDone(agent);

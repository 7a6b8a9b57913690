// Type-checked with the real packages beside ours, every declaration looked at. It is
// never run: the examples are.
import { Agent } from '@openai/agents';
import { type ModelMessage, streamText, ToolLoopAgent } from 'ai';
import type { Session } from 'untildone';
import * as aiSdk from 'untildone/ai-sdk';
import * as guard from 'untildone/guard';
import * as openai from 'untildone/openai-agents';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Exported<Entry> = Entry[keyof Entry];

export const lostTypes: [
  IsAny<Exported<typeof aiSdk>>,
  IsAny<Exported<typeof guard>>,
  IsAny<Exported<typeof openai>>,
] = [false, false, false];

declare const session: Session;

const agent = new ToolLoopAgent({ model: 'any', tools: session.tools });
export const { text }: { text: string } = await session.hold((messages) =>
  agent.generate({ messages }),
);
await session.hold((messages: ModelMessage[]) =>
  streamText({ model: 'any', messages, tools: session.tools }),
);
// @ts-expect-error: it never hears what is missing
await session.hold(() => agent.generate({ prompt: 'migrate the tests' }));
// @ts-expect-error: the stream, which says nothing about the end
await session.hold((messages) => streamText({ model: 'any', messages }).textStream);

const held = await aiSdk
  .untilDone(session, agent)
  .stream({ prompt: 'migrate the tests' });
export const said: PromiseLike<string> = held.text;
aiSdk.untilDone(session, streamText)({ model: 'any', prompt: 'x', tools: session.tools });
// @ts-expect-error: the agent is missing
aiSdk.untilDone(session);
// @ts-expect-error: a call that was made already cannot be held
aiSdk.untilDone(session, agent.generate({ prompt: 'x' }));

const remind = (reminder: string) => void reminder.length;
export const transform = guard.toTransform({ ...guard.sessionGuard(session), remind });
streamText({ model: 'any', prompt: 'x', experimental_transform: transform });
const own = guard.createGuard<{ type: string; text?: string }>({
  remind,
  hasOpenTodos: () => true,
  ask: async ({ attempt }) => ({ answer: 'retry', reminder: `Go on (${attempt}).` }),
});
await own.take({ type: 'text-delta', text: 'Done.' }, (part) => part.text?.length);
// @ts-expect-error: nobody hears the reminder
guard.createGuard(guard.sessionGuard(session));
const wrong = { answer: 'continue' } as const;
// @ts-expect-error: no such answer
guard.createGuard({ remind, hasOpenTodos: () => true, ask: async () => wrong });

const worker = new Agent({ name: 'worker', tools: openai.todoTools(session) });
export const final: string | undefined = (await openai.untilDone(session, worker))
  .finalOutput;
// @ts-expect-error: the session is missing
await openai.untilDone(worker);

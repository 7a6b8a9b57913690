// The AI SDK in each of its ways: held from outside (`session.hold`), and within one call
// (`untildone/ai-sdk`).
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isLoopFinished, streamText, ToolLoopAgent } from 'ai';
import { untilDone } from '../../src/frameworks/ai-sdk/index.ts';
import type { Session } from '../../src/session/session.ts';
import type { FrameworkDriver, FrameworkWork } from './conformance.ts';

// The SDK would print a warning for each model whose name it does not know.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

function parts(
  session: Session,
  { url, tools: others, signal: abortSignal }: FrameworkWork,
) {
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat('story');
  const tools = { ...session.tools, ...others };
  return { model, tools, abortSignal, agent: new ToolLoopAgent({ model, tools }) };
}

const onError = () => {};

export const drivers: readonly FrameworkDriver[] = [
  {
    name: 'AI SDK: hold, ToolLoopAgent',
    run(session, work) {
      const { agent, abortSignal } = parts(session, work);
      return session.hold((messages) => agent.generate({ messages, abortSignal }));
    },
  },
  {
    name: 'AI SDK: hold, streamText',
    run(session, work) {
      const { agent: _, ...call } = parts(session, work);
      return session.hold((messages) =>
        streamText({ ...call, messages, stopWhen: isLoopFinished(), onError }),
      );
    },
  },
  {
    name: 'AI SDK: untilDone, ToolLoopAgent.generate',
    run(session, work) {
      const { agent, abortSignal } = parts(session, work);
      return untilDone(session, agent).generate({ prompt: work.goal, abortSignal });
    },
  },
  {
    name: 'AI SDK: untilDone, ToolLoopAgent.stream',
    async run(session, work) {
      const { agent, abortSignal } = parts(session, work);
      const result = await untilDone(session, agent).stream({
        prompt: work.goal,
        abortSignal,
      });
      return result.text;
    },
  },
  {
    name: 'AI SDK: untilDone, streamText',
    async run(session, work) {
      const { agent: _, ...call } = parts(session, work);
      return untilDone(session, streamText)({ ...call, prompt: work.goal, onError }).text;
    },
  },
  {
    name: 'AI SDK: untilDone, generateText',
    run(session, work) {
      const { agent: _, ...call } = parts(session, work);
      return untilDone(session, generateText)({ ...call, prompt: work.goal });
    },
  },
];

// `untildone/ai-sdk`: goes on within one call of the AI SDK 7, streamed or not, until the session lets the agent stop. In a
// stream a premature "done" is not shown. `ai` is the user's own; what it calls experimental may change with it.
import {
  experimental_createSteering as createSteering,
  isLoopFinished,
  type ModelMessage,
  type StepResult,
  type StreamTextTransform,
  type ToolSet,
} from 'ai';
import { toTransform } from '../../guard/guard-transform.ts';
import { sessionGuard } from '../../guard/session-guard.ts';
import { endOf, usageOf } from '../../session/reply.ts';
import type { Session } from '../../session/session.ts';

type Step = Pick<StepResult<ToolSet>, 'text' | 'finishReason' | 'toolCalls' | 'usage'>;

/**
 * To be spread into one call: `agent.stream({ prompt, ...untilDone(session) })`, and so for `generate`, `streamText` and
 * `generateText`. The agent has `session.tools`. Only the limits of the session bound its steps.
 */
export function untilDone(session: Session) {
  const experimental_steering = createSteering();
  let isStreamed = false;
  /** What was held back before the last reminder: the SDK has not seen it. */
  let held = '';
  const remind = (reminder: string, heldText = '') => {
    held = heldText;
    void experimental_steering.steer(reminder);
  };
  function experimental_transform<Tools extends ToolSet>(
    ...given: Parameters<StreamTextTransform<Tools>>
  ): ReturnType<StreamTextTransform<Tools>> {
    isStreamed = true;
    return toTransform<Tools>({ ...sessionGuard(session), remind })(...given);
  }

  async function onStepEnd({ text, finishReason, toolCalls, usage }: Step): Promise<void> {
    const used = usageOf(usage);
    if (used !== null) await session.tell({ type: 'usage-reported', ...used });
    // In a stream the guard has asked already, before anything was shown.
    if (isStreamed || toolCalls.length > 0) return;
    const answer = await session.stop({ text, end: endOf(finishReason, text) });
    if (answer.text !== null) remind(answer.text);
  }

  function prepareStep({ messages }: { readonly messages: ModelMessage[] }) {
    const text = held;
    held = '';
    return text === '' ? {} : { messages: putBack(messages, text) };
  }

  const stopWhen = isLoopFinished();
  return { experimental_steering, experimental_transform, onStepEnd, prepareStep, stopWhen };
}

/** In front of the reminder, which is the last: a model that does not see what it said says it again (I1). */
function putBack(messages: readonly ModelMessage[], text: string): ModelMessage[] {
  const before = messages.slice(0, -1);
  const last = before.at(-1);
  // What else the answer had, such as its thinking, is there.
  const isBegun = last?.role === 'assistant' && Array.isArray(last.content);
  const content = [...(isBegun ? last.content : []), { type: 'text' as const, text }];
  const answer: ModelMessage = { role: 'assistant', content: content as never };
  return [...(isBegun ? before.slice(0, -1) : before), answer, ...messages.slice(-1)];
}

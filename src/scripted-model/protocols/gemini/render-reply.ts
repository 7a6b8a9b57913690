// Gemini, outgoing: candidates with parts, whole or as a list of partial answers of which the last has the finish.
import type { Finish, ModelReply } from '../../model-reply.ts';
import { inPieces, type RenderContext, type WireEvent } from '../../wire.ts';
import { writeSignature } from './call-signature.ts';

const FINISH_REASON: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  // Gemini has no word for calls: it stops.
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
};

function callParts(reply: ModelReply, context: RenderContext) {
  return (reply.calls ?? []).map((call, index) => {
    const id = context.callIds[index] ?? '';
    return {
      functionCall: { id, name: call.name, args: call.input },
      // The real API signs only the first call of a reply; one is enough to know the reply again.
      ...(index === 0 ? { thoughtSignature: writeSignature(id) } : {}),
    };
  });
}

function answer(parts: readonly unknown[], finish: string | undefined, context: RenderContext) {
  const { usage } = context;
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finish === undefined ? {} : { finishReason: finish }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: usage.inputTokens,
      candidatesTokenCount: usage.outputTokens - usage.thinkingTokens,
      totalTokenCount: usage.inputTokens + usage.outputTokens,
      ...(usage.cachedTokens > 0 ? { cachedContentTokenCount: usage.cachedTokens } : {}),
      ...(usage.thinkingTokens > 0 ? { thoughtsTokenCount: usage.thinkingTokens } : {}),
    },
    modelVersion: context.request.model,
    responseId: context.replyId,
  };
}

export function wholeGeminiReply(reply: ModelReply, context: RenderContext): unknown {
  const parts = [
    ...(reply.thinking === undefined ? [] : [{ text: reply.thinking, thought: true }]),
    ...(reply.text === undefined ? [] : [{ text: reply.text }]),
    ...callParts(reply, context),
  ];
  return answer(parts, FINISH_REASON[reply.finish], context);
}

export function streamGeminiReply(reply: ModelReply, context: RenderContext): readonly WireEvent[] {
  const calls = callParts(reply, context);
  const steps: readonly (readonly unknown[])[] = [
    ...inPieces(reply.thinking ?? '').map((text) => [{ text, thought: true }]),
    ...inPieces(reply.text ?? '').map((text) => [{ text }]),
    ...(calls.length > 0 ? [calls] : []),
  ];
  const partial = steps.map((parts) => ({ data: answer(parts, undefined, context) }));
  return [...partial, { data: answer([{ text: '' }], FINISH_REASON[reply.finish], context) }];
}

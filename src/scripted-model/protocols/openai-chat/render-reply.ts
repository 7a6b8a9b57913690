// Chat completions, outgoing: one object, or chunks that end with a finish reason, usage on request, and [DONE].
// Thinking goes out as `reasoning_content`, the field that OpenAI-compatible servers use.
import type { Finish, ModelReply } from '../../model-reply.ts';
import { inPieces, type RenderContext, type WireEvent } from '../../wire.ts';

const FINISH: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  // OpenAI reports a refusal as an ordinary stop whose message has `refusal` instead of `content`.
  refusal: 'stop',
};

function usageOf({ usage }: RenderContext) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.thinkingTokens },
  };
}

function frame(context: RenderContext, object: string) {
  return {
    id: `chatcmpl-${context.replyId}`,
    object,
    created: context.createdAtSeconds,
    model: context.request.model,
    system_fingerprint: 'fp_scripted',
  };
}

export function wholeChatReply(reply: ModelReply, context: RenderContext): unknown {
  const refused = reply.finish === 'refusal';
  const calls = (reply.calls ?? []).map((call, index) => ({
    id: context.callIds[index],
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  }));
  const answer = {
    role: 'assistant',
    content: refused ? null : (reply.text ?? null),
    refusal: refused ? (reply.text ?? '') : null,
    ...(reply.thinking === undefined ? {} : { reasoning_content: reply.thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    ...frame(context, 'chat.completion'),
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: FINISH[reply.finish] }],
    usage: usageOf(context),
  };
}

export function streamChatReply(reply: ModelReply, context: RenderContext): readonly WireEvent[] {
  const base = frame(context, 'chat.completion.chunk');
  const chunk = (delta: unknown, finish: string | null = null): WireEvent => ({
    data: { ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  });
  const textField = reply.finish === 'refusal' ? 'refusal' : 'content';
  const calls = (reply.calls ?? []).flatMap((call, index) => [
    chunk({
      tool_calls: [
        { index, id: context.callIds[index], type: 'function', function: { name: call.name, arguments: '' } },
      ],
    }),
    ...inPieces(JSON.stringify(call.input)).map((piece) =>
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ]);
  return [
    chunk({ role: 'assistant', content: calls.length > 0 && !reply.text ? null : '' }),
    ...inPieces(reply.thinking ?? '').map((piece) => chunk({ reasoning_content: piece })),
    ...inPieces(reply.text ?? '').map((piece) => chunk({ [textField]: piece })),
    ...calls,
    chunk({}, FINISH[reply.finish]),
    ...(context.request.wantsUsage ? [{ data: { ...base, choices: [], usage: usageOf(context) } }] : []),
    { data: '[DONE]' },
  ];
}

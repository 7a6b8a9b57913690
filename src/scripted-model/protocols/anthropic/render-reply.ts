// Anthropic Messages, outgoing: content blocks, whole or as start, delta and stop events.
import type { Finish, ModelReply, Usage } from '../../model-reply.ts';
import { inPieces, type RenderContext, type WireEvent } from '../../wire.ts';

const STOP_REASON: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  // Anthropic has one word for an answer that its classifiers stopped and one that the model declined.
  'content-filter': 'refusal',
  refusal: 'refusal',
};

type Block = Readonly<Record<string, unknown>> & { readonly type: string };
interface StreamedBlock {
  readonly whole: Block;
  readonly empty: Block;
  readonly deltas: readonly Block[];
}

function thinkingBlock(thinking: string, context: RenderContext): StreamedBlock {
  const signature = Buffer.from(`signed ${context.replyId}`).toString('base64');
  return {
    whole: { type: 'thinking', thinking, signature },
    empty: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...inPieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  };
}

function blocksOf(reply: ModelReply, context: RenderContext): readonly StreamedBlock[] {
  const thinking = reply.thinking === undefined ? [] : [thinkingBlock(reply.thinking, context)];
  const text =
    reply.text === undefined
      ? []
      : [
          {
            whole: { type: 'text', text: reply.text },
            empty: { type: 'text', text: '' },
            deltas: inPieces(reply.text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ];
  const calls = (reply.calls ?? []).map((call, index) => {
    const head = { type: 'tool_use', id: context.callIds[index], name: call.name };
    const json = ['', ...inPieces(JSON.stringify(call.input))];
    return {
      whole: { ...head, input: call.input },
      empty: { ...head, input: {} },
      deltas: json.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    };
  });
  return [...thinking, ...text, ...calls];
}

function inputUsage(usage: Usage, marksCache: boolean) {
  const read = marksCache ? usage.cachedTokens : 0;
  // Anthropic counts input in three parts that exclude each other; what a marked request did not read it writes.
  const written = marksCache ? usage.inputTokens - read : 0;
  return {
    input_tokens: usage.inputTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  };
}

function frame(context: RenderContext) {
  return {
    id: `msg_${context.replyId}`,
    type: 'message',
    role: 'assistant',
    model: context.request.model,
  };
}

export function wholeAnthropicReply(reply: ModelReply, context: RenderContext): unknown {
  return {
    ...frame(context),
    content: blocksOf(reply, context).map((block) => block.whole),
    stop_reason: STOP_REASON[reply.finish],
    stop_sequence: null,
    usage: {
      ...inputUsage(context.usage, context.request.marksCache),
      output_tokens: context.usage.outputTokens,
    },
  };
}

export function streamAnthropicReply(reply: ModelReply, context: RenderContext): readonly WireEvent[] {
  const usage = inputUsage(context.usage, context.request.marksCache);
  const started = {
    ...frame(context),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const events: readonly Block[] = [
    { type: 'message_start', message: started },
    { type: 'ping' },
    ...blocksOf(reply, context).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block.empty },
      ...block.deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASON[reply.finish], stop_sequence: null },
      usage: { ...usage, output_tokens: context.usage.outputTokens },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => ({ event: event.type, data: event }));
}

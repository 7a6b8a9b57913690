// Anthropic Messages: what Claude Code and the AI SDK's Anthropic models speak. Results of tools come inside user
// messages: they are split off, so that a text after them counts as a message of its own.
import {
  type Finish,
  inPieces,
  type ModelMessage,
  mergeNeighbours,
  message,
  type Part,
  partsOf,
  type RenderContext,
  requestOf,
  type Wire,
} from './model.ts';
import { contentText, type JsonRecord, recordOf, recordsOf, textOf } from './values.ts';

export const anthropicWire: Wire = {
  protocol: 'anthropic',

  parseRequest(body) {
    const { system, output_config, output_format } = recordOf(body);
    const format = recordOf(recordOf(output_config)['format'] ?? output_format);
    return requestOf('anthropic', body, {
      system: contentText(system),
      messages: mergeNeighbours(recordsOf(body, 'messages').flatMap(messagesOf), 'tool'),
      tools: recordsOf(body, 'tools').map((tool) => ({
        name: textOf(tool, 'name') || textOf(tool, 'type'),
        schema: tool['input_schema'],
      })),
      conversation: textOf(body, 'metadata', 'user_id') || undefined,
      wantsJson: format['type'] === 'json_schema' ? { schema: format['schema'] } : undefined,
      marksCache: JSON.stringify(body ?? null).includes('"cache_control"'),
    });
  },

  wholeReply: (reply, context) => ({
    ...frame(context),
    content: partsOf(reply, context).map((part) => blockOf(part, context).whole),
    stop_reason: stopReasons[reply.finish],
    stop_sequence: null,
    usage: usageOf(context),
  }),

  streamReply(reply, context) {
    const usage = usageOf(context);
    const open = { stop_reason: null, stop_sequence: null };
    const started = { ...frame(context), content: [], ...open, usage: { ...usage, output_tokens: 1 } };
    const events = [
      { type: 'message_start', message: started },
      { type: 'ping' },
      ...partsOf(reply, context).flatMap((part, index) => {
        const { empty, deltas } = blockOf(part, context);
        return [
          { type: 'content_block_start', index, content_block: empty },
          ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
          { type: 'content_block_stop', index },
        ];
      }),
      { type: 'message_delta', delta: { ...open, stop_reason: stopReasons[reply.finish] }, usage },
      { type: 'message_stop' },
    ];
    return events.map((event) => ({ event: event.type, data: event }));
  },
};

function messagesOf({ role, content }: JsonRecord): readonly ModelMessage[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : recordsOf(content);
  const ofType = (wanted: string) => blocks.filter(({ type }: JsonRecord) => type === wanted) as JsonRecord[];
  const text = contentText(ofType('text'));
  if (role === 'assistant') {
    const toolCalls = ofType('tool_use').map((block) => ({
      id: textOf(block, 'id'),
      name: textOf(block, 'name'),
      input: block['input'],
    }));
    return [message('assistant', { text, toolCalls })];
  }
  const toolResults = ofType('tool_result').map((block) => ({
    id: textOf(block, 'tool_use_id'),
    text: contentText(block['content']),
    isError: block['is_error'] === true,
  }));
  const results = toolResults.length > 0 ? [message('tool', { toolResults })] : [];
  if (text === '' && results.length > 0) return results;
  return [...results, message(role === 'system' ? 'system' : 'user', { text })];
}

const stopReasons: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  // Anthropic has one word for an answer that its classifiers stopped and one that the model declined.
  'content-filter': 'refusal',
  refusal: 'refusal',
};

/** A part of the reply in one piece, as the stream begins it, and as the stream fills it. */
function blockOf({ kind, text, id, name, input }: Part, { replyId }: RenderContext) {
  const deltas = (type: string, field: string, pieces = inPieces(text)) =>
    pieces.map((piece) => ({ type, [field]: piece }));
  if (kind === 'text') {
    const whole = { type: kind, text };
    return { whole, empty: { ...whole, text: '' }, deltas: deltas('text_delta', 'text') };
  }
  if (kind === 'call') {
    const whole = { type: 'tool_use', id, name, input };
    const json = deltas('input_json_delta', 'partial_json', ['', ...inPieces(text)]);
    return { whole, empty: { ...whole, input: {} }, deltas: json };
  }
  const signature = Buffer.from(`signed ${replyId}`).toString('base64');
  const whole = { type: kind, thinking: text, signature };
  const signed = { type: 'signature_delta', signature };
  return {
    whole,
    empty: { ...whole, thinking: '', signature: '' },
    deltas: [...deltas('thinking_delta', 'thinking'), signed],
  };
}

/** Anthropic counts input in three parts that exclude each other; what a marked request did not read it writes. */
function usageOf({ usage, request }: RenderContext) {
  const read = request.marksCache ? usage.cachedTokens : 0;
  const written = request.marksCache ? usage.inputTokens - read : 0;
  return {
    input_tokens: usage.inputTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: usage.outputTokens,
  };
}

function frame({ replyId, request }: RenderContext) {
  return { id: `msg_${replyId}`, type: 'message', role: 'assistant', model: request.model };
}

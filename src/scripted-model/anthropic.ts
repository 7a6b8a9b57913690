// Anthropic Messages. Tool results come inside user messages: they are split off, so a
// text after them stands alone.
import type {
  Finish,
  ModelMessage,
  Part,
  RenderContext,
  ToolOffer,
  Wire,
} from './model.ts';
import {
  inPieces,
  mergeNeighbours,
  message,
  partsOf,
  requestOf,
  splitResults,
} from './model.ts';
import { contentText, type JsonRecord, recordOf, recordsOf, textOf } from './values.ts';

export const anthropicWire: Wire = {
  protocol: 'anthropic',

  parseRequest(body) {
    const { system, output_config, output_format } = recordOf(body);
    const format = recordOf(recordOf(output_config)['format'] ?? output_format);
    const messages = mergeNeighbours(
      recordsOf(body, 'messages').flatMap(messagesOf),
      'tool',
    );
    const tools = recordsOf(body, 'tools').map(({ name, type, input_schema: schema }) => {
      return { name: textOf(name) || textOf(type), schema };
    });
    return requestOf('anthropic', body, {
      system: contentText(system),
      messages,
      tools: [...tools, ...deferredTools(messages, tools)],
      conversation: textOf(body, 'metadata', 'user_id') || undefined,
      wantsJson:
        format['type'] === 'json_schema' ? { schema: format['schema'] } : undefined,
      marksCache: JSON.stringify(body ?? null).includes('"cache_control"'),
    });
  },

  render(reply, context) {
    const { replyId, request } = context;
    const usage = usageOf(context);
    const blocks = partsOf(reply, context).map((part) => blockOf(part, replyId));
    const ending = { stop_reason: stopReasons[reply.finish], stop_sequence: null };
    const frame = {
      id: `msg_${replyId}`,
      type: 'message',
      role: 'assistant',
      model: request.model,
    };
    const begun = {
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    };
    const events = [
      { type: 'message_start', message: { ...frame, content: [], ...begun } },
      { type: 'ping' },
      ...blocks.flatMap(({ empty, deltas }, index) => [
        { type: 'content_block_start', index, content_block: empty },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: ending, usage },
      { type: 'message_stop' },
    ];
    return {
      whole: { ...frame, content: blocks.map(({ whole }) => whole), ...ending, usage },
      events: events.map((event) => ({ event: event.type, data: event })),
    };
  },
};

const deferredListing =
  /deferred tools are now available via (\w+)\.[^\n]*\n((?:[\w.:-]+(?:\n|$))+)/gu;

/**
 * Claude Code lists the names of deferred tools in a system message. After a search for
 * one it stands among the tools.
 */
function deferredTools(
  messages: readonly ModelMessage[],
  tools: readonly ToolOffer[],
): ToolOffer[] {
  const texts = messages.flatMap(({ role, text }) => (role === 'system' ? text : []));
  const listed = texts.flatMap((text) =>
    Array.from(text.matchAll(deferredListing), ([, foundBy = '', names = '']) =>
      names.split('\n').map((name) => [name, foundBy] as const),
    ).flat(),
  );
  return Array.from(new Map(listed), ([name, foundBy]) => ({
    name,
    schema: undefined,
    foundBy,
  })).filter(({ name }) => name !== '' && !tools.some((tool) => tool.name === name));
}

function messagesOf({ role, content }: JsonRecord): readonly ModelMessage[] {
  const blocks = recordsOf(
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  );
  const ofType = (wanted: string) => blocks.filter(({ type }) => type === wanted);
  const text = contentText(ofType('text'));
  if (role === 'assistant') {
    const toolCalls = ofType('tool_use').map(({ id, name, input }) => {
      return { id: textOf(id), name: textOf(name), input };
    });
    return [message(role, { text, toolCalls })];
  }
  const toolResults = ofType('tool_result').map(
    ({ tool_use_id: id, content: told, is_error }) => {
      return { id: textOf(id), text: contentText(told), isError: is_error === true };
    },
  );
  return splitResults(toolResults, text, role === 'system' ? role : 'user');
}

const stopReasons: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  // One word for what classifiers stopped and what the model declined.
  'content-filter': 'refusal',
  refusal: 'refusal',
};

/** In one piece, as the stream begins it, and as the stream fills it. */
function blockOf({ kind, text, id, name, input }: Part, replyId: string) {
  const deltas = (type: string, field: string): readonly object[] =>
    inPieces(text).map((piece) => ({ type, [field]: piece }));
  if (kind === 'text')
    return {
      whole: { type: kind, text },
      empty: { type: kind, text: '' },
      deltas: deltas('text_delta', kind),
    };
  if (kind === 'call') {
    const whole = { type: 'tool_use', id, name, input };
    const first = { type: 'input_json_delta', partial_json: '' };
    return {
      whole,
      empty: { ...whole, input: {} },
      deltas: [first, ...deltas(first.type, 'partial_json')],
    };
  }
  const signature = Buffer.from(`signed ${replyId}`).toString('base64');
  const whole = { type: kind, thinking: text, signature };
  const filled = [
    ...deltas('thinking_delta', kind),
    { type: 'signature_delta', signature },
  ];
  return { whole, empty: { ...whole, thinking: '', signature: '' }, deltas: filled };
}

/** Three parts that exclude each other; a marked request writes what it did not read. */
function usageOf({ usage, request: { marksCache } }: RenderContext) {
  const { inputTokens, cachedTokens, outputTokens } = usage;
  return {
    input_tokens: marksCache ? 0 : inputTokens,
    cache_creation_input_tokens: marksCache ? inputTokens - cachedTokens : 0,
    cache_read_input_tokens: marksCache ? cachedTokens : 0,
    output_tokens: outputTokens,
  };
}

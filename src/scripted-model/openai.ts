// OpenAI's two protocols. Chat completions: also what Ollama, LM Studio, vLLM, OpenCode, Qwen Code, Copilot CLI and pi
// speak; thinking goes out as `reasoning_content`, the field that compatible servers use. Responses: what Codex and the
// AI SDK's default OpenAI models speak; a flat list of items, of which those between two human or tool entries are one
// reply. That API remembers what it said, and clients send references back: `createStoredItems` is that memory.
import {
  type Finish,
  inPieces,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  mergeNeighbours,
  message,
  type Part,
  partsOf,
  type RenderContext,
  requestOf,
  type ToolCall,
  type ToolOffer,
  type ToolResult,
  type Wire,
  type WireEvent,
} from './model.ts';
import {
  contentText,
  isRecord,
  type JsonRecord,
  joinTexts,
  keepNewest,
  parseJson,
  recordOf,
  recordsOf,
  textOf,
} from './values.ts';

/** Leading system messages are lifted out of the history. */
function liftSystem(messages: readonly ModelMessage[]): Pick<ModelRequest, 'system' | 'messages'> {
  const found = messages.findIndex(({ role }) => role !== 'system');
  const first = found < 0 ? messages.length : found;
  const leading = messages.slice(0, first).map(({ text }) => text);
  return { system: leading.join('\n'), messages: messages.slice(first) };
}

/** `within`: where the format keeps its schema, if not in itself. */
function jsonWish(format: JsonRecord, ...within: readonly string[]): ModelRequest['wantsJson'] {
  if (format['type'] === 'json_object') return { schema: undefined };
  return format['type'] === 'json_schema' ? { schema: recordOf(format, ...within)['schema'] } : undefined;
}

function said(role: unknown, text: string, toolCalls: readonly ToolCall[] = []): ModelMessage {
  if (role === 'assistant') return message(role, { text, toolCalls });
  return message(role === 'system' || role === 'developer' ? 'system' : 'user', { text });
}

/** These protocols carry no mark on a failed result: its first word has to do. */
function resultOf(id: string, text: string, isFailed = false): ToolResult {
  return { id, text, isError: isFailed || /^\W*error\b/i.test(text) };
}

export const openaiChatWire: Wire = {
  protocol: 'openai-chat',

  parseRequest: (body) =>
    requestOf('openai-chat', body, {
      ...liftSystem(mergeNeighbours(recordsOf(body, 'messages').map(chatMessage), 'tool')),
      tools: recordsOf(body, 'tools').map((tool) => ({
        name: textOf(tool, 'function', 'name'),
        schema: recordOf(tool, 'function')['parameters'],
      })),
      conversation: textOf(body, 'prompt_cache_key') || undefined,
      wantsJson: jsonWish(recordOf(body, 'response_format'), 'json_schema'),
      wantsUsage: recordOf(body, 'stream_options')['include_usage'] === true,
    }),

  wholeReply(reply, context) {
    const { text = null, thinking, finish } = reply;
    const isRefused = finish === 'refusal';
    const toolCalls = partsOf(reply, context).flatMap(({ kind, id, name, text: json }) =>
      kind === 'call' ? [{ id, type: 'function', function: { name, arguments: json } }] : [],
    );
    const answer = {
      role: 'assistant',
      content: isRefused ? null : text,
      refusal: isRefused ? (text ?? '') : null,
      ...(thinking !== undefined && { reasoning_content: thinking }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    return {
      ...chatFrame(context, 'chat.completion'),
      choices: [{ index: 0, message: answer, logprobs: null, finish_reason: finishReasons[finish] }],
      usage: chatUsage(context),
    };
  },

  /** Chunks that end with a finish reason, usage on request, and [DONE]. */
  streamReply(reply, context) {
    const base = chatFrame(context, 'chat.completion.chunk');
    const chunk = (delta: unknown, finish: string | null = null): WireEvent => ({
      data: { ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
    });
    const textField = reply.finish === 'refusal' ? 'refusal' : 'content';
    const deltas = partsOf(reply, context).flatMap(({ kind, text, id, name, index }): readonly object[] => {
      const pieces = inPieces(text);
      if (kind !== 'call')
        return pieces.map((piece) => ({ [kind === 'text' ? textField : 'reasoning_content']: piece }));
      const head = { index, id, type: 'function', function: { name, arguments: '' } };
      const rest = pieces.map((piece) => ({ index, function: { arguments: piece } }));
      return [head, ...rest].map((call) => ({ tool_calls: [call] }));
    });
    const isMute = (reply.calls ?? []).length > 0 && !reply.text;
    return [
      chunk({ role: 'assistant', content: isMute ? null : '' }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, finishReasons[reply.finish]),
      ...(context.request.wantsUsage ? [{ data: { ...base, choices: [], usage: chatUsage(context) } }] : []),
      { data: '[DONE]' },
    ];
  },
};

function chatMessage(entry: JsonRecord): ModelMessage {
  const text = contentText(entry['content']);
  if (entry['role'] === 'tool')
    return message('tool', { toolResults: [resultOf(textOf(entry, 'tool_call_id'), text)] });
  const toolCalls = recordsOf(entry, 'tool_calls').map((call) => ({
    id: textOf(call, 'id'),
    name: textOf(call, 'function', 'name'),
    input: parseJson(textOf(call, 'function', 'arguments')) ?? {},
  }));
  return said(entry['role'], text || textOf(entry, 'refusal'), toolCalls);
}

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  // OpenAI reports a refusal as an ordinary stop whose message has `refusal` instead of `content`.
  refusal: 'stop',
};

function chatUsage({ usage }: RenderContext) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.thinkingTokens },
  };
}

function chatFrame({ replyId, createdAtSeconds, request }: RenderContext, object: string) {
  const about = { created: createdAtSeconds, model: request.model, system_fingerprint: 'fp_scripted' };
  return { id: `chatcmpl-${replyId}`, object, ...about };
}

export const openaiResponsesWire: Wire = {
  protocol: 'openai-responses',

  parseRequest(body) {
    const items = recordsOf(inputOf(body));
    const { system, messages } = liftSystem(mergeNeighbours(items.flatMap(itemMessage), 'tool', 'assistant'));
    // Codex sends the tools of code mode as an item of the conversation.
    const holders = [recordOf(body), ...items.filter(({ type }) => type === 'additional_tools')];
    return requestOf('openai-responses', body, {
      system: joinTexts([textOf(body, 'instructions'), system]),
      messages,
      tools: holders.flatMap((holder) => recordsOf(holder, 'tools')).flatMap(offersOf),
      conversation: textOf(body, 'prompt_cache_key') || undefined,
      wantsJson: jsonWish(recordOf(body, 'text', 'format')),
    });
  },

  wholeReply: (reply, context) => {
    const items = partsOf(reply, context).map((part) => outputOf(part, reply, context).item);
    return responseObject(items, reply, context);
  },

  /** Every output item is added, filled by deltas and done; each event is numbered. */
  streamReply(reply, context) {
    const outputs = partsOf(reply, context).map((part) => outputOf(part, reply, context));
    const finished = responseObject(
      outputs.map(({ item }) => item),
      reply,
      context,
    );
    const unfinished = { status: 'in_progress', incomplete_details: null, output: [], usage: null };
    const begun = { ...finished, ...unfinished };
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...outputs.flatMap(({ item, empty, name, field, text, at, more, holder, part }, output_index) => {
        const place = { item_id: item.id, output_index, ...at };
        const opened = { type: `response.${holder}.added`, ...place, part: { ...part, [field]: '' } };
        return [
          { type: 'response.output_item.added', output_index, item: { ...item, ...empty } },
          ...(part ? [opened] : []),
          ...inPieces(text).map((delta) => ({ type: `response.${name}.delta`, ...place, ...more, delta })),
          { type: `response.${name}.done`, ...place, [field]: text, ...more },
          ...(part ? [{ type: `response.${holder}.done`, ...place, part }] : []),
          { type: 'response.output_item.done', output_index, item },
        ];
      }),
      { type: `response.${finished.status}`, response: finished },
    ];
    return events.map((event, number) => ({
      event: event.type,
      data: { ...event, sequence_number: number },
    }));
  },
};

/** A text instead of a list is one message of the human. */
function inputOf(body: unknown): readonly unknown[] {
  const { input } = recordOf(body);
  return Array.isArray(input) ? input : [{ role: 'user', content: textOf(input) }];
}

function itemMessage(item: JsonRecord): readonly ModelMessage[] {
  const { type, role, content, output } = item;
  const id = textOf(item, 'call_id');
  if (type === 'function_call') {
    const input = parseJson(textOf(item, 'arguments')) ?? {};
    return [message('assistant', { toolCalls: [{ id, name: textOf(item, 'name'), input }] })];
  }
  if (type === 'custom_tool_call') return [message('assistant', { toolCalls: [readCodeCall(item)] })];
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const text = contentText(isRecord(output) ? output['content'] : output);
    const result = resultOf(id, text, recordOf(output)['success'] === false);
    return [message('tool', { toolResults: [result] })];
  }
  if (type !== 'message' && type !== undefined) return [];
  const refusals = recordsOf(content).map((part) => textOf(part, 'refusal'));
  return [said(role, joinTexts([contentText(content), ...refusals]))];
}

function offersOf(tool: JsonRecord): readonly ToolOffer[] {
  const { type, parameters: schema } = tool;
  const name = textOf(tool, 'name');
  if (type === 'namespace')
    return recordsOf(tool, 'tools')
      .flatMap(offersOf)
      .map((offer) => ({ ...offer, namespace: name }));
  if (type !== 'custom' || name !== 'exec') return [{ name: name || textOf(type), schema }];
  const declared = Array.from(textOf(tool, 'description').matchAll(declaredTool), ([, found = '']) => found);
  return declared.map((found) => ({ name: found, schema: undefined, throughCode: name }));
}

/**
 * Codex's code mode: instead of offering its tools one by one it offers `exec`, whose description declares them, and the
 * model calls them from JavaScript. We write one such line and read the same line back; nothing is ever run here.
 */
const declaredTool = /declare const tools: \{ (\w+)/g;
const writtenCall = /^const result = await tools\.(\w+)\((.*)\); text\(result\);$/s;

function readCodeCall(item: JsonRecord): ToolCall {
  const code = textOf(item, 'input');
  const id = textOf(item, 'call_id');
  const [, name, input = ''] = writtenCall.exec(code) ?? [];
  if (name === undefined) return { id, name: textOf(item, 'name'), input: code };
  return { id, name, input: recordOf(parseJson(input)) };
}

/**
 * An output item; what is different (`empty`) before anything has been streamed into it; and how it is filled: events
 * `name` write `text` into `field`, `at` a place, around them events `holder` of the `part` that holds it, if any.
 */
type Output = Readonly<Record<'name' | 'field' | 'text', string>> & {
  readonly item: { readonly id: string };
  readonly empty: object;
} & Partial<Readonly<Record<'at' | 'more' | 'part', object> & { holder: string }>>;

function outputOf(said: Part, { finish }: ModelReply, context: RenderContext): Output {
  const { kind, text, id, name, index } = said;
  const { replyId, request } = context;
  if (kind === 'thinking') {
    const part = { type: 'summary_text', text };
    const item = { id: `rs_${replyId}`, type: 'reasoning', summary: [part] };
    const filling = { name: 'reasoning_summary_text', field: 'text', at: { summary_index: 0 } };
    return { item, empty: { summary: [] }, text, ...filling, holder: 'reasoning_summary_part', part };
  }
  const empty = { status: 'in_progress' };
  if (kind === 'text') {
    const isRefused = finish === 'refusal';
    const part = isRefused
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [] };
    const status = finish === 'length' ? 'incomplete' : 'completed';
    const item = { id: `msg_${replyId}`, type: 'message', role: 'assistant', status, content: [part] };
    const filling = { name: part.type, field: isRefused ? 'refusal' : 'text', at: { content_index: 0 } };
    const more = isRefused ? {} : { logprobs: [] };
    return { item, empty: { ...empty, content: [] }, text, ...filling, more, holder: 'content_part', part };
  }
  const { throughCode, namespace } = request.tools.find((tool) => tool.name === name) ?? {};
  const shared = { call_id: id, status: 'completed' };
  if (throughCode !== undefined) {
    const input = `const result = await tools.${name}(${text}); text(result);`;
    const call = { type: 'custom_tool_call', ...shared, name: throughCode, input };
    const item = { id: `ctc_${replyId}_${index}`, ...call };
    return {
      item,
      empty: { ...empty, input: '' },
      text: input,
      name: 'custom_tool_call_input',
      field: 'input',
    };
  }
  const call = { name, ...(namespace !== undefined && { namespace }), arguments: text };
  const item = { id: `fc_${replyId}_${index}`, type: 'function_call', ...shared, ...call };
  return {
    item,
    empty: { ...empty, arguments: '' },
    text,
    name: 'function_call_arguments',
    field: 'arguments',
  };
}

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function responseObject(output: readonly object[], { finish }: ModelReply, context: RenderContext) {
  const { replyId, createdAtSeconds, request, usage } = context;
  const reason = incompleteReasons[finish];
  return {
    id: `resp_${replyId}`,
    object: 'response',
    created_at: createdAtSeconds,
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: request.model,
    output,
    parallel_tool_calls: true,
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cachedTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.thinkingTokens },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}

const mostItems = 20_000;
const mostResponses = 200;

/** Bounded, forgetting the oldest first. It never invents an item: an unknown reference is reported. */
export function createStoredItems() {
  const items = new Map<string, unknown>();
  const conversations = new Map<string, readonly unknown[]>();
  const unknown = (what: string) => ({ kind: 'unknown-reference' as const, message: `${what} not found.` });

  return {
    /** The body with its references and its `previous_response_id` replaced by the items they stand for. */
    expand(body: unknown) {
      const previous = textOf(body, 'previous_response_id');
      const before = previous === '' ? [] : conversations.get(previous);
      if (!before) return unknown(`Previous response with id '${previous}'`);
      const input: unknown[] = [...before];
      for (const item of inputOf(body)) {
        const isReference = recordOf(item)['type'] === 'item_reference';
        const id = textOf(item, 'id');
        if (isReference && !items.has(id)) return unknown(`Item with id '${id}'`);
        input.push(isReference ? items.get(id) : item);
      }
      return { kind: 'expanded' as const, body: { ...recordOf(body), input } };
    },

    remember(expandedBody: unknown, response: unknown): void {
      const output = recordsOf(response, 'output');
      for (const item of output) keepNewest(items, textOf(item, 'id'), item, mostItems);
      const conversation = [...inputOf(expandedBody), ...output];
      keepNewest(conversations, textOf(response, 'id'), conversation, mostResponses);
    },
  };
}

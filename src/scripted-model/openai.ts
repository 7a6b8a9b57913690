// OpenAI's two protocols. Chat completions, thinking as `reasoning_content`, as
// compatible servers do it. Responses: a flat list of items, and a memory on the server
// (`createStoredItems`) that clients refer to.
import type {
  Finish,
  ModelMessage,
  ModelReply,
  ModelRequest,
  Part,
  RenderContext,
  Wire,
} from './model.ts';
import { inPieces, mergeNeighbours, message, partsOf, requestOf } from './model.ts';
import type { JsonRecord } from './values.ts';
import {
  contentText,
  joinTexts,
  keepNewest,
  parseJson,
  recordOf,
  recordsOf,
  textOf,
} from './values.ts';

function liftSystem(messages: readonly ModelMessage[]) {
  const found = messages.findIndex(({ role }) => role !== 'system');
  const first = found < 0 ? messages.length : found;
  const leading = messages.slice(0, first).map(({ text }) => text);
  return { system: leading.join('\n'), messages: messages.slice(first) };
}

/** `within`: where the format keeps its schema. */
function jsonWish(
  format: JsonRecord,
  ...within: readonly string[]
): ModelRequest['wantsJson'] {
  if (format['type'] === 'json_object') return { schema: undefined };
  return format['type'] === 'json_schema'
    ? { schema: recordOf(format, ...within)['schema'] }
    : undefined;
}

function said(
  role: unknown,
  text: string,
  toolCalls: ModelMessage['toolCalls'] = [],
): ModelMessage {
  if (role === 'assistant') return message(role, { text, toolCalls });
  return message(role === 'system' || role === 'developer' ? 'system' : 'user', { text });
}

/**
 * No mark on a failed result here: its first word has to do, or how hosts say that a call
 * was cut off.
 */
const failed =
  /^\W*error\b|^.{0,80}\b(?:aborted|interrupted|cancelled by user|result was not recorded|no result provided)\b/is;

function resultMessage(id: string, text: string, isFailed = false): ModelMessage {
  return message('tool', {
    toolResults: [{ id, text, isError: isFailed || failed.test(text) }],
  });
}

export const openaiChatWire: Wire = {
  protocol: 'openai-chat',

  parseRequest: (body) =>
    requestOf('openai-chat', body, {
      ...liftSystem(
        mergeNeighbours(recordsOf(body, 'messages').map(chatMessage), 'tool'),
      ),
      tools: recordsOf(body, 'tools').map(({ function: offer }) => {
        return { name: textOf(offer, 'name'), schema: recordOf(offer)['parameters'] };
      }),
      conversation: textOf(body, 'prompt_cache_key') || undefined,
      wantsJson: jsonWish(recordOf(body, 'response_format'), 'json_schema'),
      wantsUsage: recordOf(body, 'stream_options')['include_usage'] === true,
    }),

  render(reply, context) {
    const { text = null, thinking, finish } = reply;
    const { replyId, createdAtSeconds: created, request, usage: used } = context;
    const frame = (object: string, ...choices: object[]) => ({
      id: `chatcmpl-${replyId}`,
      object,
      created,
      model: request.model,
      system_fingerprint: 'fp_scripted',
      choices,
    });
    const usage = {
      prompt_tokens: used.inputTokens,
      completion_tokens: used.outputTokens,
      total_tokens: used.inputTokens + used.outputTokens,
      prompt_tokens_details: { cached_tokens: used.cachedTokens },
      completion_tokens_details: { reasoning_tokens: used.thinkingTokens },
    };
    const isRefused = finish === 'refusal';
    const parts = partsOf(reply, context);
    const calls = parts.filter(({ kind }) => kind === 'call');
    const toolCalls = calls.map(({ id, name, text: json }) => {
      return { id, type: 'function', function: { name, arguments: json } };
    });
    const answer = {
      role: 'assistant',
      content: isRefused ? null : text,
      refusal: isRefused ? (text ?? '') : null,
      reasoning_content: thinking,
      tool_calls: calls.length > 0 ? toolCalls : undefined,
    };
    const choice = (
      said: object,
      finish_reason: string | null = finishReasons[finish],
    ) => {
      return { index: 0, ...said, logprobs: null, finish_reason };
    };
    const whole = { ...frame('chat.completion', choice({ message: answer })), usage };

    const fields = {
      thinking: 'reasoning_content',
      text: isRefused ? 'refusal' : 'content',
    };
    const deltas = parts.flatMap(
      ({ kind, text: said, id, name, index }): readonly object[] => {
        const pieces = inPieces(said);
        if (kind !== 'call') return pieces.map((piece) => ({ [fields[kind]]: piece }));
        const head = { index, id, type: 'function', function: { name, arguments: '' } };
        const rest = pieces.map((piece) => ({ index, function: { arguments: piece } }));
        return [head, ...rest].map((call) => ({ tool_calls: [call] }));
      },
    );
    const first = { role: 'assistant', content: calls.length > 0 && !text ? null : '' };
    const chunk = (...choices: object[]) => frame('chat.completion.chunk', ...choices);
    const events = [
      ...[first, ...deltas].map((delta) => chunk(choice({ delta }, null))),
      chunk(choice({ delta: {} })),
      ...(request.wantsUsage ? [{ ...chunk(), usage }] : []),
      '[DONE]',
    ];
    return { whole, events: events.map((data) => ({ data })) };
  },
};

function chatMessage(entry: JsonRecord): ModelMessage {
  const text = contentText(entry['content']);
  if (entry['role'] === 'tool') return resultMessage(textOf(entry, 'tool_call_id'), text);
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
  // The message has `refusal` instead of `content`.
  refusal: 'stop',
};

export const openaiResponsesWire: Wire = {
  protocol: 'openai-responses',

  parseRequest(body) {
    const items = recordsOf(inputOf(body));
    const { system, messages } = liftSystem(
      mergeNeighbours(items.flatMap(itemMessage), 'tool', 'assistant'),
    );
    // Codex sends the tools of code mode as an item.
    const holders = [
      recordOf(body),
      ...items.filter(({ type }) => type === 'additional_tools'),
    ];
    return requestOf('openai-responses', body, {
      system: joinTexts([textOf(body, 'instructions'), system]),
      messages,
      tools: holders.flatMap((holder) => recordsOf(holder, 'tools')).flatMap(offersOf),
      conversation: textOf(body, 'prompt_cache_key') || undefined,
      wantsJson: jsonWish(recordOf(body, 'text', 'format')),
    });
  },

  /** Every item is added, filled by deltas and done; events are numbered. */
  render(reply, context) {
    const outputs = partsOf(reply, context).map((part) => outputOf(part, reply, context));
    const items = outputs.map(({ item }) => item);
    const whole = responseObject(items, reply, context);
    const begun = {
      ...whole,
      status: 'in_progress',
      incomplete_details: null,
      output: [],
      usage: null,
    };
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...outputs.flatMap(
        ({ item, empty, name, field, text, at, more, holder, part }, output_index) => {
          const place = { item_id: item.id, output_index, ...at };
          const opened = {
            type: `response.${holder}.added`,
            ...place,
            part: { ...part, [field]: '' },
          };
          return [
            {
              type: 'response.output_item.added',
              output_index,
              item: { ...item, ...empty },
            },
            ...(part ? [opened] : []),
            ...inPieces(text).map((delta) => ({
              type: `response.${name}.delta`,
              ...place,
              ...more,
              delta,
            })),
            { type: `response.${name}.done`, ...place, [field]: text, ...more },
            ...(part ? [{ type: `response.${holder}.done`, ...place, part }] : []),
            { type: 'response.output_item.done', output_index, item },
          ];
        },
      ),
      { type: `response.${whole.status}`, response: whole },
    ].map((event, sequence_number) => ({
      event: event.type,
      data: { ...event, sequence_number },
    }));
    return { whole, events };
  },
};

/** A text instead of a list is a human's message. */
function inputOf(body: unknown): readonly unknown[] {
  const { input } = recordOf(body);
  return Array.isArray(input) ? input : [{ role: 'user', content: textOf(input) }];
}

function itemMessage(item: JsonRecord): readonly ModelMessage[] {
  const { type, role, content, output } = item;
  const id = textOf(item, 'call_id');
  const called = (input: unknown, name = textOf(item, 'name')) => [
    message('assistant', { toolCalls: [{ id, name, input }] }),
  ];
  if (type === 'function_call') return called(parseJson(textOf(item, 'arguments')) ?? {});
  if (type === 'custom_tool_call') {
    const code = textOf(item, 'input');
    const [, name, input = ''] = writtenCall.exec(code) ?? [];
    return name === undefined ? called(code) : called(recordOf(parseJson(input)), name);
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const { content: told = output, success } = recordOf(output);
    return [resultMessage(id, contentText(told), success === false)];
  }
  if (type !== 'message' && type !== undefined) return [];
  const refusals = recordsOf(content).map((part) => textOf(part, 'refusal'));
  return [said(role, joinTexts([contentText(content), ...refusals]))];
}

function offersOf(tool: JsonRecord): ModelRequest['tools'] {
  const { type, parameters: schema } = tool;
  const name = textOf(tool, 'name');
  if (type === 'namespace')
    return recordsOf(tool, 'tools')
      .flatMap(offersOf)
      .map((offer) => ({ ...offer, namespace: name }));
  if (type !== 'custom' || name !== 'exec')
    return [{ name: name || textOf(type), schema }];
  const declared = Array.from(
    textOf(tool, 'description').matchAll(declaredTool),
    ([, found = '']) => found,
  );
  return declared.map((found) => ({ name: found, schema: undefined, throughCode: name }));
}

/**
 * Codex's code mode: the description of `exec` declares the tools; we write and read one
 * line of code for it.
 */
const declaredTool = /declare const tools: \{ (\w+)/g;
const writtenCall = /^const result = await tools\.(\w+)\((.*)\); text\(result\);$/s;

/**
 * An item begins as `empty`; events `name` write `text` into `field` of `part`, which
 * `holder` holds, or of the item.
 */
function outputOf(
  said: Part,
  { finish }: ModelReply,
  { replyId, request }: RenderContext,
) {
  const { kind, text, id, name, index } = said;
  if (kind === 'thinking') {
    const part = { type: 'summary_text', text };
    const item = { id: `rs_${replyId}`, type: 'reasoning', summary: [part] };
    const filling = {
      name: 'reasoning_summary_text',
      field: 'text',
      text,
      at: { summary_index: 0 },
    };
    return {
      item,
      empty: { summary: [] },
      ...filling,
      more: {},
      holder: 'reasoning_summary_part',
      part,
    };
  }
  const status = 'in_progress';
  if (kind === 'text') {
    const isRefused = finish === 'refusal';
    const part = isRefused
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [] };
    const ended = {
      status: finish === 'length' ? 'incomplete' : 'completed',
      content: [part],
    };
    const item = { id: `msg_${replyId}`, type: 'message', role: 'assistant', ...ended };
    const filling = {
      name: part.type,
      field: isRefused ? 'refusal' : 'text',
      text,
      at: { content_index: 0 },
    };
    const more = isRefused ? {} : { logprobs: [] };
    return {
      item,
      empty: { status, content: [] },
      ...filling,
      more,
      holder: 'content_part',
      part,
    };
  }
  const { throughCode, namespace } =
    request.tools.find((tool) => tool.name === name) ?? {};
  const isCode = throughCode !== undefined;
  const [prefix, type, field] = isCode
    ? ['ctc', 'custom_tool_call', 'input']
    : ['fc', 'function_call', 'arguments'];
  const input = isCode
    ? `const result = await tools.${name}(${text}); text(result);`
    : text;
  const called = {
    call_id: id,
    status: 'completed',
    name: throughCode ?? name,
    namespace,
    [field]: input,
  };
  const item = { id: `${prefix}_${replyId}_${index}`, type, ...called };
  const filling = { name: `${type}_${field}`, field, text: input, at: {} };
  return {
    item,
    empty: { status, [field]: '' },
    ...filling,
    more: {},
    holder: '',
    part: undefined,
  };
}

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function responseObject(
  output: readonly object[],
  { finish }: ModelReply,
  context: RenderContext,
) {
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

/** Forgets the oldest first. An unknown reference is reported, never invented. */
export function createStoredItems() {
  const items = new Map<string, unknown>();
  const conversations = new Map<string, readonly unknown[]>();
  return {
    /** With the items that its references and `previous_response_id` stand for. */
    expand(body: unknown) {
      const previous = textOf(body, 'previous_response_id');
      const before = previous === '' ? [] : conversations.get(previous);
      if (!before)
        return { problem: `Previous response with id '${previous}' not found.` };
      const input: unknown[] = [...before];
      for (const item of inputOf(body)) {
        const isReference = recordOf(item)['type'] === 'item_reference';
        const id = textOf(item, 'id');
        if (isReference && !items.has(id))
          return { problem: `Item with id '${id}' not found.` };
        input.push(isReference ? items.get(id) : item);
      }
      return { body: { ...recordOf(body), input } };
    },

    remember(expandedBody: unknown, response: unknown): void {
      const output = recordsOf(response, 'output');
      for (const item of output) keepNewest(items, textOf(item, 'id'), item, mostItems);
      const conversation = [...inputOf(expandedBody), ...output];
      keepNewest(conversations, textOf(response, 'id'), conversation, mostResponses);
    },
  };
}

// Responses, incoming: a flat list of items becomes neutral messages; items between two human or tool entries are
// one reply. References to stored items must have been replaced by the items before (see stored-items.ts).
import {
  contentText,
  isRecord,
  type JsonRecord,
  parseJson,
  recordOf,
  recordsOf,
  textOf,
} from '../../json-value.ts';
import { type ModelMessage, type ModelRequest, message, type ToolOffer } from '../../model-request.ts';
import { liftSystem, looksLikeError, mergeReplies } from '../neutral-history.ts';
import { offersThroughCode, readCodeCall } from './code-mode.ts';

function roleOf(item: JsonRecord): ModelMessage['role'] {
  if (item['role'] === 'assistant') return 'assistant';
  return item['role'] === 'system' || item['role'] === 'developer' ? 'system' : 'user';
}

function spokenText(content: unknown): string {
  const refusals = recordsOf(content).map((part) => textOf(part['refusal']));
  return [contentText(content), ...refusals].filter((text) => text !== '').join('\n');
}

function messageOf(item: JsonRecord): readonly ModelMessage[] {
  switch (item['type']) {
    case 'function_call': {
      const input = parseJson(textOf(item['arguments'])) ?? {};
      return [
        message('assistant', {
          toolCalls: [{ id: textOf(item['call_id']), name: textOf(item['name']), input }],
        }),
      ];
    }
    case 'custom_tool_call':
      return [message('assistant', { toolCalls: [readCodeCall(item)] })];
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output = item['output'];
      const text = isRecord(output) ? contentText(output['content']) : contentText(output);
      const isError = (isRecord(output) && output['success'] === false) || looksLikeError(text);
      return [message('tool', { toolResults: [{ id: textOf(item['call_id']), text, isError }] })];
    }
    case 'message':
    case undefined:
      return [message(roleOf(item), { text: spokenText(item['content']) })];
    default:
      return [];
  }
}

function offersOf(tool: JsonRecord): readonly ToolOffer[] {
  if (tool['type'] === 'namespace') {
    const namespace = textOf(tool['name']);
    return recordsOf(tool['tools']).map((inner) => ({
      name: textOf(inner['name']),
      schema: inner['parameters'],
      namespace,
    }));
  }
  if (tool['type'] === 'custom' && tool['name'] === 'exec') return offersThroughCode(tool);
  return [{ name: textOf(tool['name']) || textOf(tool['type']), schema: tool['parameters'] }];
}

function jsonWish(body: JsonRecord): Pick<ModelRequest, 'wantsJson'> {
  const format = recordOf(recordOf(body['text'])['format']);
  if (format['type'] === 'json_object') return { wantsJson: { schema: undefined } };
  return format['type'] === 'json_schema' ? { wantsJson: { schema: format['schema'] } } : {};
}

export function parseResponsesRequest(raw: unknown): ModelRequest {
  const body = recordOf(raw);
  const input = body['input'];
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : recordsOf(input);
  const lifted = liftSystem(mergeReplies(items.flatMap(messageOf)));
  // Codex sends the tools of code mode as an item of the conversation.
  const added = items.filter((item) => recordOf(item)['type'] === 'additional_tools');
  const tools = [...recordsOf(body['tools']), ...added.flatMap((item) => recordsOf(recordOf(item)['tools']))];
  const key = textOf(body['prompt_cache_key']);
  return {
    protocol: 'openai-responses',
    model: textOf(body['model']),
    system: [textOf(body['instructions']), lifted.system].filter((text) => text !== '').join('\n'),
    messages: lifted.messages,
    tools: tools.flatMap(offersOf),
    stream: body['stream'] === true,
    wantsUsage: true,
    marksCache: true,
    ...(key === '' ? {} : { conversation: key }),
    ...jsonWish(body),
  };
}

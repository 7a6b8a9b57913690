// Chat completions, incoming: `messages` with `tool_calls` and `tool` messages become neutral messages.
import { contentText, type JsonRecord, parseJson, recordOf, recordsOf, textOf } from '../../json-value.ts';
import {
  type ModelMessage,
  type ModelRequest,
  message,
  type ToolCall,
  type ToolOffer,
} from '../../model-request.ts';
import { liftSystem, looksLikeError, mergeToolMessages } from '../neutral-history.ts';

function toolCallOf(call: JsonRecord): ToolCall {
  const target = recordOf(call['function']);
  return {
    id: textOf(call['id']),
    name: textOf(target['name']),
    input: parseJson(textOf(target['arguments'])) ?? {},
  };
}

function messageOf(entry: JsonRecord): ModelMessage {
  const text = contentText(entry['content']);
  switch (entry['role']) {
    case 'assistant':
      return message('assistant', {
        text: text || textOf(entry['refusal']),
        toolCalls: recordsOf(entry['tool_calls']).map(toolCallOf),
      });
    case 'tool':
      return message('tool', {
        toolResults: [{ id: textOf(entry['tool_call_id']), text, isError: looksLikeError(text) }],
      });
    case 'system':
    case 'developer':
      return message('system', { text });
    default:
      return message('user', { text });
  }
}

function offersOf(tools: unknown): readonly ToolOffer[] {
  return recordsOf(tools).map((tool) => {
    const target = recordOf(tool['function']);
    return { name: textOf(target['name']), schema: target['parameters'] };
  });
}

function jsonWish(body: JsonRecord): Pick<ModelRequest, 'wantsJson'> {
  const format = recordOf(body['response_format']);
  if (format['type'] === 'json_object') return { wantsJson: { schema: undefined } };
  if (format['type'] !== 'json_schema') return {};
  return { wantsJson: { schema: recordOf(format['json_schema'])['schema'] } };
}

export function parseChatRequest(raw: unknown): ModelRequest {
  const body = recordOf(raw);
  const history = liftSystem(mergeToolMessages(recordsOf(body['messages']).map(messageOf)));
  const key = textOf(body['prompt_cache_key']);
  return {
    protocol: 'openai-chat',
    model: textOf(body['model']),
    ...history,
    tools: offersOf(body['tools']),
    stream: body['stream'] === true,
    wantsUsage: recordOf(body['stream_options'])['include_usage'] === true,
    marksCache: true,
    ...(key === '' ? {} : { conversation: key }),
    ...jsonWish(body),
  };
}

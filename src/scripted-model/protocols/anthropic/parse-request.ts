// Anthropic Messages, incoming: content blocks become neutral messages. Results of tools come inside user messages:
// they are split off, so that a text after them counts as a message of its own.
import { contentText, type JsonRecord, recordOf, recordsOf, textOf } from '../../json-value.ts';
import { type ModelMessage, type ModelRequest, message, type ToolResult } from '../../model-request.ts';
import { mergeToolMessages } from '../neutral-history.ts';

function blocksOf(content: unknown): readonly JsonRecord[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : recordsOf(content);
}

function resultOf(block: JsonRecord): ToolResult {
  return {
    id: textOf(block['tool_use_id']),
    text: contentText(block['content']),
    isError: block['is_error'] === true,
  };
}

function messagesOf(entry: JsonRecord): readonly ModelMessage[] {
  const blocks = blocksOf(entry['content']);
  const text = contentText(blocks.filter((block) => block['type'] === 'text'));
  if (entry['role'] === 'assistant') {
    const toolCalls = blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({ id: textOf(block['id']), name: textOf(block['name']), input: block['input'] }));
    return [message('assistant', { text, toolCalls })];
  }
  const toolResults = blocks.filter((block) => block['type'] === 'tool_result').map(resultOf);
  const results = toolResults.length > 0 ? [message('tool', { toolResults })] : [];
  const role = entry['role'] === 'system' ? 'system' : 'user';
  return text === '' && results.length > 0 ? results : [...results, message(role, { text })];
}

function jsonWish(body: JsonRecord): Pick<ModelRequest, 'wantsJson'> {
  const named = recordOf(recordOf(body['output_config'])['format'] ?? body['output_format']);
  return named['type'] === 'json_schema' ? { wantsJson: { schema: named['schema'] } } : {};
}

export function parseAnthropicRequest(raw: unknown): ModelRequest {
  const body = recordOf(raw);
  const conversation = textOf(recordOf(body['metadata'])['user_id']);
  return {
    protocol: 'anthropic',
    model: textOf(body['model']),
    system: contentText(body['system']),
    messages: mergeToolMessages(recordsOf(body['messages']).flatMap(messagesOf)),
    tools: recordsOf(body['tools']).map((tool) => ({
      name: textOf(tool['name']) || textOf(tool['type']),
      schema: tool['input_schema'],
    })),
    stream: body['stream'] === true,
    wantsUsage: true,
    marksCache: JSON.stringify(raw ?? null).includes('"cache_control"'),
    ...(conversation === '' ? {} : { conversation }),
    ...jsonWish(body),
  };
}

// Gemini, incoming: `contents` with parts become neutral messages. Calls may come back without ids, so results are
// paired with calls by name, in order.
import { isRecord, type JsonRecord, recordOf, recordsOf, textOf } from '../../json-value.ts';
import {
  type ModelMessage,
  type ModelRequest,
  message,
  type ToolCall,
  type ToolResult,
} from '../../model-request.ts';
import type { ParseContext } from '../../wire.ts';
import { mergeReplies } from '../neutral-history.ts';
import { readSignature } from './call-signature.ts';

type Waiting = Map<string, ToolCall[]>;

function spoken(parts: readonly JsonRecord[]): string {
  return parts
    .filter((part) => part['thought'] !== true)
    .map((part) => textOf(part['text']))
    .filter((text) => text !== '')
    .join('');
}

function callsOf(parts: readonly JsonRecord[], place: number): readonly ToolCall[] {
  return parts
    .filter((part) => isRecord(part['functionCall']))
    .map((part, index) => {
      const call = recordOf(part['functionCall']);
      const signed = readSignature(textOf(part['thoughtSignature']));
      const id = textOf(call['id']) || signed || `unnamed_${place}_${index}`;
      return { id, name: textOf(call['name']), input: call['args'] ?? {} };
    });
}

function resultOf(answer: JsonRecord, waiting: Waiting): ToolResult {
  const response = recordOf(answer['response']);
  const failed = response['error'] !== undefined;
  const content = failed
    ? response['error']
    : (response['content'] ?? response['output'] ?? response['result']);
  const value = content ?? response;
  const paired = waiting.get(textOf(answer['name']))?.shift();
  return {
    id: textOf(answer['id']) || (paired?.id ?? ''),
    text: typeof value === 'string' ? value : JSON.stringify(value),
    isError: failed,
  };
}

function messagesOf(contents: readonly JsonRecord[]): readonly ModelMessage[] {
  const waiting: Waiting = new Map();
  return contents.flatMap((content, place) => {
    const parts = recordsOf(content['parts']);
    if (content['role'] === 'model') {
      const toolCalls = callsOf(parts, place);
      for (const call of toolCalls) waiting.set(call.name, [...(waiting.get(call.name) ?? []), call]);
      return [message('assistant', { text: spoken(parts), toolCalls })];
    }
    const answers = parts.map((part) => part['functionResponse']).filter(isRecord);
    const text = spoken(parts);
    const results = answers.map((answer) => resultOf(answer, waiting));
    return [
      ...(results.length > 0 ? [message('tool', { toolResults: results })] : []),
      ...(text !== '' || results.length === 0 ? [message('user', { text })] : []),
    ];
  });
}

function jsonWish(body: JsonRecord): Pick<ModelRequest, 'wantsJson'> {
  const config = recordOf(body['generationConfig']);
  if (config['responseMimeType'] !== 'application/json') return {};
  return { wantsJson: { schema: config['responseJsonSchema'] ?? config['responseSchema'] } };
}

export function parseGeminiRequest(raw: unknown, context: ParseContext): ModelRequest {
  const body = recordOf(raw);
  const declared = recordsOf(body['tools']).flatMap((tool) => recordsOf(tool['functionDeclarations']));
  return {
    protocol: 'gemini',
    model: context.model ?? '',
    system: spoken(recordsOf(recordOf(body['systemInstruction'])['parts'])),
    messages: mergeReplies(messagesOf(recordsOf(body['contents']))),
    tools: declared.map((tool) => ({
      name: textOf(tool['name']),
      schema: tool['parametersJsonSchema'] ?? tool['parameters'],
    })),
    stream: context.stream ?? false,
    wantsUsage: true,
    marksCache: true,
    ...jsonWish(body),
  };
}

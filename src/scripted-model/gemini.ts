// Gemini generateContent: what Gemini CLI and the AI SDK's Google models speak. Calls may come back without ids, so
// results are paired with calls by name, in order.
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
  type ToolCall,
  type Wire,
} from './model.ts';
import { isRecord, type JsonRecord, recordOf, recordsOf, textOf } from './values.ts';

export const geminiWire: Wire = {
  protocol: 'gemini',

  parseRequest(body, { model = '', stream = false }) {
    const declared = recordsOf(body, 'tools').flatMap((tool) => recordsOf(tool, 'functionDeclarations'));
    const { responseMimeType, responseJsonSchema, responseSchema } = recordOf(body, 'generationConfig');
    const schema = responseJsonSchema ?? responseSchema;
    return requestOf('gemini', body, {
      ...{ model, stream },
      system: spoken(recordsOf(body, 'systemInstruction', 'parts')),
      messages: mergeNeighbours(messagesOf(recordsOf(body, 'contents')), 'tool', 'assistant'),
      tools: declared.map((tool) => ({
        name: textOf(tool, 'name'),
        schema: tool['parametersJsonSchema'] ?? tool['parameters'],
      })),
      wantsJson: responseMimeType === 'application/json' ? { schema } : undefined,
    });
  },

  wholeReply: (reply, context) =>
    answer(partsOf(reply, context).map(wirePart), context, finishReasons[reply.finish]),

  /** A list of partial answers of which the last has the finish. All calls come in one. */
  streamReply(reply, context) {
    const parts = partsOf(reply, context);
    const said = parts.filter(({ kind }) => kind !== 'call');
    const calls = parts.filter(({ kind }) => kind === 'call').map(wirePart);
    const steps = [
      ...said.flatMap((part) => inPieces(part.text).map((text) => [wirePart({ ...part, text })])),
      ...(calls.length > 0 ? [calls] : []),
    ];
    const last = answer([{ text: '' }], context, finishReasons[reply.finish]);
    return [...steps.map((step) => answer(step, context)), last].map((data) => ({ data }));
  },
};

function spoken(parts: readonly JsonRecord[]): string {
  return parts.map((part) => (part['thought'] === true ? '' : textOf(part, 'text'))).join('');
}

function messagesOf(contents: readonly JsonRecord[]): readonly ModelMessage[] {
  const waiting: ToolCall[] = [];
  return contents.flatMap((content, place) => {
    const parts = recordsOf(content, 'parts');
    const text = spoken(parts);
    if (content['role'] === 'model') {
      const called = parts.filter((part) => isRecord(part['functionCall']));
      const toolCalls = called.map((part, index) => callOf(part, `unnamed_${place}_${index}`));
      waiting.push(...toolCalls);
      return [message('assistant', { text, toolCalls })];
    }
    const toolResults = parts.flatMap(({ functionResponse: result }) => {
      if (!isRecord(result)) return [];
      const awaited = waiting.findIndex(({ name }) => name === textOf(result, 'name'));
      const [call] = awaited < 0 ? [] : waiting.splice(awaited, 1);
      const { error, content: told, output, result: value } = recordOf(result, 'response');
      const answered = error ?? told ?? output ?? value ?? recordOf(result, 'response');
      return {
        id: textOf(result, 'id') || (call?.id ?? ''),
        text: typeof answered === 'string' ? answered : JSON.stringify(answered),
        isError: error !== undefined,
      };
    });
    return [
      ...(toolResults.length > 0 ? [message('tool', { toolResults })] : []),
      ...(text !== '' || toolResults.length === 0 ? [message('user', { text })] : []),
    ];
  });
}

function callOf(part: JsonRecord, unnamed: string): ToolCall {
  const call = recordOf(part, 'functionCall');
  const id = textOf(call, 'id') || readSignature(textOf(part, 'thoughtSignature')) || unnamed;
  return { id, name: textOf(call, 'name'), input: call['args'] ?? {} };
}

/**
 * Gemini signs its calls, and clients send the signature back even where they drop the call's id. We sign with the id,
 * so that a call is recognised either way. Other servers' signatures read as nothing.
 */
const signaturePrefix = 'scripted:';

export function writeSignature(callId: string): string {
  return Buffer.from(signaturePrefix + callId).toString('base64');
}

function readSignature(signature: string): string {
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return text.startsWith(signaturePrefix) ? text.slice(signaturePrefix.length) : '';
}

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  // Gemini has no word for calls: it stops.
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
};

function wirePart({ kind, text, id, name, input, index }: Part) {
  if (kind !== 'call') return kind === 'text' ? { text } : { text, thought: true };
  // The real API signs only the first call of a reply; one is enough to know the reply again.
  return {
    functionCall: { id, name, args: input },
    ...(index === 0 && { thoughtSignature: writeSignature(id) }),
  };
}

function answer(
  parts: readonly unknown[],
  { usage, request, replyId }: RenderContext,
  finishReason?: string,
) {
  const { inputTokens, outputTokens, cachedTokens, thinkingTokens } = usage;
  return {
    candidates: [{ content: { parts, role: 'model' }, ...(finishReason && { finishReason }), index: 0 }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens - thinkingTokens,
      totalTokenCount: inputTokens + outputTokens,
      ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
      ...(thinkingTokens > 0 && { thoughtsTokenCount: thinkingTokens }),
    },
    modelVersion: request.model,
    responseId: replyId,
  };
}

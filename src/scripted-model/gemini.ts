// Gemini generateContent. Calls may come back without ids, so results are paired with
// calls by name, in order.
import type {
  Finish,
  ModelMessage,
  Part,
  RenderContext,
  ToolCall,
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
import { isRecord, type JsonRecord, recordOf, recordsOf, textOf } from './values.ts';

export const geminiWire: Wire = {
  protocol: 'gemini',

  parseRequest(body, { model = '', stream = false }) {
    const declared = recordsOf(body, 'tools').flatMap((tool) =>
      recordsOf(tool, 'functionDeclarations'),
    );
    const { responseMimeType, responseJsonSchema, responseSchema } = recordOf(
      body,
      'generationConfig',
    );
    const schema = responseJsonSchema ?? responseSchema;
    return requestOf('gemini', body, {
      model,
      stream,
      system: spoken(recordsOf(body, 'systemInstruction', 'parts')),
      messages: mergeNeighbours(
        messagesOf(recordsOf(body, 'contents')),
        'tool',
        'assistant',
      ),
      tools: declared.map((tool) => ({
        name: textOf(tool, 'name'),
        schema: tool['parametersJsonSchema'] ?? tool['parameters'],
      })),
      wantsJson: responseMimeType === 'application/json' ? { schema } : undefined,
    });
  },

  /** The last partial answer has the finish; all calls come in one. */
  render(reply, context) {
    const parts = partsOf(reply, context);
    const said = parts.filter(({ kind }) => kind !== 'call');
    const pieces = said.flatMap((part) =>
      inPieces(part.text).map((text) => [wirePart({ ...part, text })]),
    );
    const calls = parts.filter(({ kind }) => kind === 'call').map(wirePart);
    const partial = calls.length > 0 ? [...pieces, calls] : pieces;
    const finish = finishReasons[reply.finish];
    const events = [
      ...partial.map((one) => answer(one, context)),
      answer([{ text: '' }], context, finish),
    ];
    return {
      whole: answer(parts.map(wirePart), context, finish),
      events: events.map((data) => ({ data })),
    };
  },
};

const spoken = (parts: readonly JsonRecord[]) =>
  parts.map((part) => (part['thought'] === true ? '' : textOf(part, 'text'))).join('');

function messagesOf(contents: readonly JsonRecord[]): readonly ModelMessage[] {
  const waiting: ToolCall[] = [];
  return contents.flatMap((content, place) => {
    const parts = recordsOf(content, 'parts');
    const text = spoken(parts);
    if (content['role'] === 'model') {
      const called = parts.filter((part) => isRecord(part['functionCall']));
      const toolCalls = called.map((part, index) =>
        callOf(part, `unnamed_${place}_${index}`),
      );
      waiting.push(...toolCalls);
      return message('assistant', { text, toolCalls });
    }
    const toolResults = parts.flatMap(({ functionResponse: result }) => {
      if (!isRecord(result)) return [];
      const awaited = waiting.findIndex(({ name }) => name === textOf(result, 'name'));
      const [call] = awaited < 0 ? [] : waiting.splice(awaited, 1);
      const response = recordOf(result, 'response');
      const { error, content: told, output, result: value } = response;
      const answered = error ?? told ?? output ?? value ?? response;
      const text = typeof answered === 'string' ? answered : JSON.stringify(answered);
      return {
        id: textOf(result, 'id') || (call?.id ?? ''),
        text,
        isError: error !== undefined,
      };
    });
    return splitResults(toolResults, text, 'user');
  });
}

function callOf(part: JsonRecord, unnamed: string): ToolCall {
  const { id, name, args } = recordOf(part, 'functionCall');
  const known = textOf(id) || readSignature(textOf(part, 'thoughtSignature'));
  return { id: known || unnamed, name: textOf(name), input: args ?? {} };
}

/** Clients that drop a call's id still send its signature back: we sign with the id. */
const signaturePrefix = 'scripted:';

export const writeSignature = (callId: string) =>
  Buffer.from(signaturePrefix + callId).toString('base64');

function readSignature(signature: string): string {
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return text.startsWith(signaturePrefix) ? text.slice(signaturePrefix.length) : '';
}

const finishReasons: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  // No word for calls.
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
};

function wirePart({ kind, text, id, name, input, index }: Part) {
  if (kind !== 'call') return { text, thought: kind === 'thinking' || undefined };
  // Like the real API; one is enough to know the reply again.
  const thoughtSignature = index === 0 ? writeSignature(id) : undefined;
  return { functionCall: { id, name, args: input }, thoughtSignature };
}

function answer(
  parts: readonly unknown[],
  { usage, request, replyId }: RenderContext,
  finishReason?: string,
) {
  const { inputTokens, outputTokens, cachedTokens, thinkingTokens } = usage;
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0 }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens - thinkingTokens,
      totalTokenCount: inputTokens + outputTokens,
      cachedContentTokenCount: cachedTokens || undefined,
      thoughtsTokenCount: thinkingTokens || undefined,
    },
    modelVersion: request.model,
    responseId: replyId,
  };
}

import { describe, expect, it } from 'vitest';
import { reportFailure } from './failures.ts';
import { geminiWire, writeSignature } from './gemini.ts';
import { callReply, textReply } from './model.ts';

// Written by hand after Gemini CLI: no ids, results paired by name and order; not a
// recording.
const BODY = {
  systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Do it' }] },
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { text: 'Reading.' },
        {
          functionCall: { name: 'read', args: { path: 'a' } },
          thoughtSignature: writeSignature('call_x_1'),
        },
        { functionCall: { name: 'read', args: { path: 'b' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'read', response: { output: 'A' } } },
        { functionResponse: { name: 'read', response: { error: 'no such file' } } },
      ],
    },
    { role: 'user', parts: [{ text: 'Go on' }] },
  ],
  tools: [
    {
      functionDeclarations: [{ name: 'read', parametersJsonSchema: { type: 'object' } }],
    },
  ],
};

const request = geminiWire.parseRequest(BODY, { model: 'gemini-2.5-pro', stream: true });
const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 5, thinkingTokens: 2 };
const context = {
  request,
  replyId: 'r1',
  callIds: ['call_1'],
  createdAtSeconds: 1,
  usage,
};
const failed = { requestId: 'q', model: 'm', inputTokens: 9, contextWindow: 8 };

describe('the Gemini wire', () => {
  it('reads calls without ids, knows its own by their signature and pairs results in order', () => {
    expect(request).toMatchObject({
      model: 'gemini-2.5-pro',
      stream: true,
      system: 'You are an agent.',
    });
    const [, said, results] = request.messages;
    expect(said?.text).toBe('Reading.');
    expect(said?.toolCalls.map((call) => call.id)).toEqual(['call_x_1', 'unnamed_1_1']);
    expect(results?.toolResults).toEqual([
      { id: 'call_x_1', text: 'A', isError: false },
      { id: 'unnamed_1_1', text: 'no such file', isError: true },
    ]);
    expect(request.tools).toEqual([{ name: 'read', schema: { type: 'object' } }]);
  });

  it("reads the host's wish for JSON", () => {
    const generationConfig = {
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    };
    expect(geminiWire.parseRequest({ generationConfig }, {}).wantsJson).toEqual({
      schema: { type: 'object' },
    });
  });

  it('streams partial answers of which the last has the finish, without a closing mark', () => {
    const { events } = geminiWire.render(
      { thinking: 'hm', ...callReply([{ name: 'read', input: { path: 'a' } }]) },
      context,
    );
    expect(events.map((event) => event.data)).toMatchObject([
      {
        candidates: [
          { content: { role: 'model', parts: [{ text: 'hm', thought: true }] } },
        ],
      },
      {
        candidates: [
          {
            content: {
              parts: [
                { functionCall: { id: 'call_1', name: 'read', args: { path: 'a' } } },
              ],
            },
          },
        ],
      },
      {
        candidates: [{ finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
          cachedContentTokenCount: 4,
          totalTokenCount: 15,
        },
        modelVersion: 'gemini-2.5-pro',
      },
    ]);
  });

  it.each([
    ['length', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
    ['refusal', 'PROHIBITED_CONTENT'],
  ] as const)('says %s as %s', (finish, finishReason) => {
    expect(geminiWire.render(textReply('x', finish), context).whole).toMatchObject({
      candidates: [{ finishReason }],
    });
  });

  it('names the wait in the body, and answers a wrong key with 400', () => {
    expect(
      reportFailure('gemini', { kind: 'rate-limit', retryAfterSeconds: 7 }, failed),
    ).toMatchObject({
      status: 429,
      body: {
        error: {
          code: 429,
          status: 'RESOURCE_EXHAUSTED',
          details: [
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
          ],
        },
      },
    });
    expect(reportFailure('gemini', { kind: 'authentication' }, failed)).toMatchObject({
      status: 400,
      body: {
        error: { status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] },
      },
    });
    expect(reportFailure('gemini', { kind: 'overload' }, failed)).toMatchObject({
      status: 503,
      body: { error: { status: 'UNAVAILABLE' } },
    });
  });
});

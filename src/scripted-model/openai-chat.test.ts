import { describe, expect, it } from 'vitest';
import { reportFailure } from './failures.ts';
import { callReply, textReply } from './model.ts';
import { openaiChatWire } from './openai.ts';

// Written by hand in the shape that OpenCode and the AI SDK use; not a recording.
const BODY = {
  model: 'gpt-4.1',
  stream: true,
  stream_options: { include_usage: true },
  messages: [
    { role: 'system', content: 'You code.' },
    { role: 'user', content: [{ type: 'text', text: 'Do it' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'read', arguments: '{"path":"a"}' },
        },
        {
          id: 'c2',
          type: 'function',
          function: { name: 'read', arguments: '{"path":"b"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'A' },
    { role: 'tool', tool_call_id: 'c2', content: 'Error: no such file' },
    { role: 'user', content: 'Go on' },
  ],
  tools: [
    { type: 'function', function: { name: 'read', parameters: { type: 'object' } } },
  ],
};

const request = openaiChatWire.parseRequest(BODY, {});
const context = {
  request,
  replyId: 'r1',
  callIds: ['call_1'],
  createdAtSeconds: 1,
  usage: { inputTokens: 10, cachedTokens: 4, outputTokens: 5, thinkingTokens: 2 },
};
const dataOf = (events: readonly { data: unknown }[]) =>
  events.map((event) => event.data) as never[];

describe('the chat completions wire', () => {
  it('reads system, texts, calls and grouped results', () => {
    expect(request).toMatchObject({
      protocol: 'openai-chat',
      model: 'gpt-4.1',
      system: 'You code.',
      stream: true,
    });
    expect(request.tools).toEqual([{ name: 'read', schema: { type: 'object' } }]);
    expect(request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(request.messages[1]?.toolCalls[1]).toEqual({
      id: 'c2',
      name: 'read',
      input: { path: 'b' },
    });
    expect(request.messages[2]?.toolResults).toEqual([
      { id: 'c1', text: 'A', isError: false },
      { id: 'c2', text: 'Error: no such file', isError: true },
    ]);
  });

  it.each([
    'aborted by user after 0.2s',
    'Wall time: 0.1 seconds\naborted by user',
    '[Tool execution was interrupted]',
    'Tool execution result was not recorded — likely interrupted by network failure. Treat as failure.',
    'No result provided',
  ])('takes what hosts say of a call that was cut off for a failure: %s', (content) => {
    const { messages } = openaiChatWire.parseRequest(
      {
        messages: [{ role: 'tool', tool_call_id: 'c1', content }],
      },
      {},
    );
    expect(messages[0]?.toolResults[0]).toMatchObject({ isError: true });
  });

  it('reads the wish for JSON with its schema', () => {
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'x', schema: { type: 'object' } },
    };
    expect(openaiChatWire.parseRequest({ response_format }, {}).wantsJson).toEqual({
      schema: { type: 'object' },
    });
  });

  it('streams a call: role, name with an empty string, argument pieces, finish, usage, [DONE]', () => {
    const chunks = dataOf(
      openaiChatWire.render(
        callReply([{ name: 'read', input: { path: 'a long path' } }]),
        context,
      ).events,
    );
    expect(chunks[0]).toMatchObject({
      id: 'chatcmpl-r1',
      object: 'chat.completion.chunk',
      choices: [
        { index: 0, delta: { role: 'assistant', content: null }, finish_reason: null },
      ],
    });
    expect(chunks[1]).toMatchObject({
      choices: [
        {
          delta: {
            tool_calls: [
              {
                index: 0,
                id: 'call_1',
                type: 'function',
                function: { name: 'read', arguments: '' },
              },
            ],
          },
        },
      ],
    });
    const pieces = chunks.slice(2, -3) as {
      choices: { delta: { tool_calls: { function: { arguments: string } }[] } }[];
    }[];
    expect(pieces.length).toBeGreaterThan(1);
    expect(
      pieces
        .map((chunk) => chunk.choices[0]?.delta.tool_calls[0]?.function.arguments)
        .join(''),
    ).toBe('{"path":"a long path"}');
    expect(chunks.at(-3)).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'tool_calls' }],
    });
    expect(chunks.at(-2)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
      },
    });
    expect(chunks.at(-1)).toBe('[DONE]');
  });

  it('sends usage in a stream only to clients that asked for it', () => {
    const silent = { ...context, request: { ...request, wantsUsage: false } };
    const chunks = dataOf(openaiChatWire.render(textReply('hi'), silent).events);
    expect(JSON.stringify(chunks)).not.toContain('usage');
  });

  it('puts a refusal where the real API puts it', () => {
    expect(
      openaiChatWire.render(textReply('No.', 'refusal'), context).whole,
    ).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          message: { role: 'assistant', content: null, refusal: 'No.' },
          finish_reason: 'stop',
        },
      ],
    });
  });

  it('renders errors as one error object, with the wait in headers', () => {
    const failed = { requestId: 'q', model: 'm', inputTokens: 9, contextWindow: 8 };
    expect(
      reportFailure(
        'openai-chat',
        { kind: 'rate-limit', retryAfterSeconds: 1.5 },
        failed,
      ),
    ).toMatchObject({
      status: 429,
      headers: { 'retry-after': '2', 'retry-after-ms': '1500' },
      body: { error: { type: 'requests', param: null, code: 'rate_limit_exceeded' } },
    });
    expect(
      reportFailure('openai-chat', { kind: 'context-length' }, failed),
    ).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'context_length_exceeded',
          message: expect.stringContaining('maximum context length is 8'),
        },
      },
    });
    expect(reportFailure('openai-chat', { kind: 'unknown-model' }, failed)).toMatchObject(
      {
        status: 404,
        body: { error: { code: 'model_not_found' } },
      },
    );
  });
});

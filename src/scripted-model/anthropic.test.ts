import { describe, expect, it } from 'vitest';
import { anthropicWire } from './anthropic.ts';
import { reportFailure } from './failures.ts';
import { callReply, textReply } from './model.ts';

// Written by hand after Claude Code: results and the text of a hook in one user message;
// not a recording.
const BODY = {
  model: 'claude-opus-5-5',
  stream: true,
  system: [
    { type: 'text', text: 'You are Claude Code.', cache_control: { type: 'ephemeral' } },
  ],
  metadata: { user_id: 'user_1_session_2' },
  messages: [
    { role: 'user', content: 'Do it' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'Planning.' },
        { type: 'tool_use', id: 'toolu_1', name: 'TaskCreate', input: { subject: 'A' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'denied' }],
          is_error: true,
        },
        { type: 'text', text: 'Stop hook feedback' },
      ],
    },
  ],
  tools: [{ name: 'TaskCreate', input_schema: { type: 'object' } }],
};

const request = anthropicWire.parseRequest(BODY, {});
const usage = { inputTokens: 10, cachedTokens: 4, outputTokens: 5, thinkingTokens: 2 };
const context = {
  request,
  replyId: 'r1',
  callIds: ['call_1'],
  createdAtSeconds: 1,
  usage,
};
const failed = { requestId: 'q', model: 'm', inputTokens: 9, contextWindow: 8 };

describe('the Anthropic wire', () => {
  it('splits the results off from the text that follows them', () => {
    expect(request).toMatchObject({
      system: 'You are Claude Code.',
      conversation: 'user_1_session_2',
      marksCache: true,
    });
    expect(request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(request.messages[1]).toMatchObject({
      text: 'Planning.',
      toolCalls: [{ name: 'TaskCreate', input: { subject: 'A' } }],
    });
    expect(request.messages[2]?.toolResults).toEqual([
      { id: 'toolu_1', text: 'denied', isError: true },
    ]);
    expect(request.messages[3]?.text).toBe('Stop hook feedback');
  });

  it('streams blocks as start, deltas and stop, named like their type', () => {
    const { events } = anthropicWire.render(
      {
        thinking: 'hm',
        text: 'Hi',
        ...callReply([{ name: 'TaskCreate', input: { subject: 'A' } }]),
      },
      context,
    );
    expect(
      events.every((event) => event.event === (event.data as { type: string }).type),
    ).toBe(true);
    const deltas = events
      .map(
        (event) =>
          event.data as {
            type: string;
            delta?: { type?: string; partial_json?: string };
          },
      )
      .filter((event) => event.type === 'content_block_delta')
      .map((event) => event.delta);
    expect([...new Set(deltas.map((delta) => delta?.type))]).toEqual([
      'thinking_delta',
      'signature_delta',
      'text_delta',
      'input_json_delta',
    ]);
    expect(deltas.map((delta) => delta?.partial_json ?? '').join('')).toBe(
      '{"subject":"A"}',
    );
    expect(events[0]?.data).toMatchObject({
      message: { id: 'msg_r1', role: 'assistant', content: [], stop_reason: null },
    });
    expect(events.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { output_tokens: 5 },
    });
    expect(events.at(-1)?.event).toBe('message_stop');
  });

  it('counts cached input apart, and only when the request marks its cache', () => {
    expect(anthropicWire.render(textReply('hi'), context).whole).toMatchObject({
      usage: {
        input_tokens: 0,
        cache_creation_input_tokens: 6,
        cache_read_input_tokens: 4,
      },
    });
    const unmarked = { ...context, request: { ...request, marksCache: false } };
    expect(anthropicWire.render(textReply('hi'), unmarked).whole).toMatchObject({
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    });
  });

  it('has its own status for overload and its own words for limits', () => {
    expect(reportFailure('anthropic', { kind: 'overload' }, failed)).toMatchObject({
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    });
    expect(
      reportFailure('anthropic', { kind: 'rate-limit', retryAfterSeconds: 3 }, failed),
    ).toMatchObject({
      status: 429,
      headers: { 'retry-after': '3' },
      body: { error: { type: 'rate_limit_error' } },
    });
    expect(reportFailure('anthropic', { kind: 'context-length' }, failed)).toMatchObject({
      body: { error: { message: 'prompt is too long: 9 tokens > 8 maximum' } },
    });
    expect(reportFailure('anthropic', { kind: 'overload' }, failed).event.event).toBe(
      'error',
    );
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['content-filter', 'refusal'],
  ] as const)('says %s as %s', (finish, stop_reason) => {
    expect(anthropicWire.render(textReply('x', finish), context).whole).toMatchObject({
      stop_reason,
    });
  });
});

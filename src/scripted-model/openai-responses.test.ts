import { describe, expect, it } from 'vitest';
import { callReply, textReply } from './model.ts';
import { createStoredItems, openaiResponsesWire } from './openai.ts';

// Written by hand in the shape that Codex and the AI SDK use; not a recording.
const BODY = {
  model: 'gpt-5',
  stream: true,
  instructions: 'You are Codex.',
  prompt_cache_key: 'session-1',
  input: [
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'Rules.' }],
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do it' }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Planning.' }],
    },
    {
      type: 'function_call',
      call_id: 'c1',
      name: 'update_plan',
      arguments: '{"plan":[]}',
    },
    { type: 'function_call_output', call_id: 'c1', output: 'Plan updated' },
    {
      type: 'custom_tool_call',
      call_id: 'c2',
      name: 'exec',
      input: 'const result = await tools.update_plan({"plan":[1]}); text(result);',
    },
    {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: [{ type: 'input_text', text: 'ok' }],
    },
  ],
  tools: [
    { type: 'function', name: 'shell', parameters: { type: 'object' } },
    {
      type: 'namespace',
      name: 'mcp__untildone',
      tools: [{ type: 'function', name: 'create_todo', parameters: {} }],
    },
    {
      type: 'custom',
      name: 'exec',
      description:
        'Run JS.\ndeclare const tools: { update_plan(args: {}): Promise<string> }',
    },
  ],
};

const request = openaiResponsesWire.parseRequest(BODY, {});
const context = {
  request,
  replyId: 'r1',
  callIds: ['call_1', 'call_2'],
  createdAtSeconds: 1,
  usage: { inputTokens: 10, cachedTokens: 4, outputTokens: 5, thinkingTokens: 2 },
};
const typesOf = (reply: Parameters<typeof openaiResponsesWire.render>[0]) =>
  openaiResponsesWire.render(reply, context).events.map((event) => event.event);

describe('the Responses wire', () => {
  it('reads items as messages: thoughts, text and calls of one reply are one message', () => {
    expect(request).toMatchObject({
      system: 'You are Codex.\nRules.',
      conversation: 'session-1',
    });
    expect(request.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(request.messages[1]).toMatchObject({
      text: 'Planning.',
      toolCalls: [{ id: 'c1', name: 'update_plan' }],
    });
    expect(request.messages[2]?.toolResults).toEqual([
      { id: 'c1', text: 'Plan updated', isError: false },
    ]);
  });

  it("reads and writes calls through Codex's code mode and its namespaces", () => {
    expect(request.messages[3]?.toolCalls).toEqual([
      { id: 'c2', name: 'update_plan', input: { plan: [1] } },
    ]);
    expect(request.tools).toEqual([
      { name: 'shell', schema: { type: 'object' } },
      { name: 'create_todo', schema: {}, namespace: 'mcp__untildone' },
      { name: 'update_plan', schema: undefined, throughCode: 'exec' },
    ]);
    const reply = callReply([
      { name: 'update_plan', input: { plan: [] } },
      { name: 'create_todo', input: {} },
    ]);
    expect(openaiResponsesWire.render(reply, context).whole).toMatchObject({
      output: [
        {
          type: 'custom_tool_call',
          call_id: 'call_1',
          name: 'exec',
          input: expect.stringContaining('tools.update_plan({"plan":[]})'),
        },
        {
          type: 'function_call',
          call_id: 'call_2',
          name: 'create_todo',
          namespace: 'mcp__untildone',
          arguments: '{}',
        },
      ],
    });
  });

  it('streams text as numbered events from created to completed', () => {
    expect(typesOf(textReply('hello'))).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const numbers = openaiResponsesWire
      .render(textReply('hello'), context)
      .events.map((event) => (event.data as { sequence_number: number }).sequence_number);
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('streams thinking as a reasoning summary and a refusal as a refusal', () => {
    expect(typesOf({ thinking: 'hm', text: 'No.', finish: 'refusal' })).toEqual(
      expect.arrayContaining([
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
        'response.refusal.delta',
        'response.refusal.done',
      ]),
    );
  });

  it('ends incomplete, with the reason, at the output limit and at the filter', () => {
    expect(typesOf(textReply('half', 'length')).at(-1)).toBe('response.incomplete');
    expect(
      openaiResponsesWire.render(textReply('', 'content-filter'), context).whole,
    ).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        total_tokens: 15,
      },
    });
  });
});

const SAID = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'hi' }],
};

describe('the memory of the Responses API', () => {
  it('replaces a reference by the item that was sent under that id', () => {
    const stored = createStoredItems();
    stored.remember({ input: 'hello' }, { id: 'resp_1', output: [SAID] });
    expect(stored.expand({ input: [{ type: 'item_reference', id: 'msg_1' }] })).toEqual({
      body: { input: [SAID] },
    });
  });

  it('goes on from a previous response', () => {
    const stored = createStoredItems();
    stored.remember({ input: 'hello' }, { id: 'resp_1', output: [SAID] });
    expect(
      stored.expand({ previous_response_id: 'resp_1', input: 'and now?' }),
    ).toMatchObject({
      body: {
        input: [
          { role: 'user', content: 'hello' },
          SAID,
          { role: 'user', content: 'and now?' },
        ],
      },
    });
  });

  it('reports references that it does not know', () => {
    const stored = createStoredItems();
    expect(
      stored.expand({ input: [{ type: 'item_reference', id: 'msg_9' }] }).problem,
    ).toContain('msg_9');
    expect(
      stored.expand({ previous_response_id: 'resp_9', input: [] }).problem,
    ).toContain('resp_9');
  });
});

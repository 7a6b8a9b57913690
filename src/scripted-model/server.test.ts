import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  callTool,
  fail,
  malformed,
  plan,
  type ScriptedModel,
  type ScriptedModelOptions,
  say,
  script,
  stall,
  startScriptedModel,
} from './index.ts';

let server: ScriptedModel;
afterEach(() => server.close());

async function serve(options: Partial<ScriptedModelOptions> = {}) {
  server = await startScriptedModel({
    scripts: [script('planner', [plan('A'), say('end')])],
    ...options,
  });
  return server;
}

const post = (path: string, body: unknown, more: RequestInit = {}) =>
  fetch(server.url + path, { method: 'POST', body: JSON.stringify(body), ...more });
const chat = (content: string, more: object = {}) =>
  post('/v1/chat/completions', {
    model: 'm',
    messages: [{ role: 'user', content }],
    ...more,
  });
const textOf = async (response: Response) => {
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content;
};
const TOOLS = [{ type: 'function', function: { name: 'create_todo', parameters: {} } }];

describe('requests beside the work', () => {
  it('answers a request for a title, without tools, and stays where the story stands', async () => {
    await serve();
    expect(await textOf(await chat('Write a title'))).toBe('Scripted work');
    expect(await (await chat('go', { tools: TOOLS })).text()).toContain('create_todo');
    expect(server.requests.map((request) => request.isAside)).toEqual([true, false]);
  });

  it("answers Gemini CLI's question about loops with JSON that fits, and no suspicion", async () => {
    await serve();
    const responseJsonSchema = {
      type: 'object',
      properties: {
        unproductive_state_analysis: { type: 'string' },
        unproductive_state_confidence: { type: 'number' },
        verdict: { type: 'string', enum: ['fine', 'bad'] },
        items: { type: 'array' },
      },
    };
    const response = await post('/v1beta/models/gemini-2.5-pro:generateContent', {
      contents: [{ role: 'user', parts: [{ text: 'loop?' }] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema },
    });
    const body = (await response.json()) as {
      candidates: { content: { parts: { text: string }[] } }[];
    };
    expect(JSON.parse(body.candidates[0]?.content.parts[0]?.text ?? '')).toMatchObject({
      unproductive_state_confidence: 0,
      verdict: 'fine',
      items: [],
    });
  });

  it('counts tokens where hosts ask for it', async () => {
    await serve();
    const messages = [{ role: 'user', content: 'x'.repeat(400) }];
    const anthropic = await post('/v1/messages/count_tokens?beta=true', { messages });
    expect(
      ((await anthropic.json()) as { input_tokens: number }).input_tokens,
    ).toBeGreaterThan(100);
    const contents = [{ role: 'user', parts: [{ text: 'x'.repeat(400) }] }];
    const gemini = await post('/v1beta/models/g:countTokens', {
      generateContentRequest: { contents },
    });
    expect(
      ((await gemini.json()) as { totalTokens: number }).totalTokens,
    ).toBeGreaterThan(100);
  });

  it('lists its models in the shape of each client, and greets', async () => {
    await serve({ models: ['one', 'two'] });
    const get = async (path: string, headers = {}) =>
      (await fetch(server.url + path, { headers })).json();
    expect(await get('/v1/models')).toMatchObject({
      object: 'list',
      data: [{ id: 'one' }, { id: 'two' }],
    });
    expect(await get('/v1/models', { 'anthropic-version': '2023-06-01' })).toMatchObject({
      data: [{ type: 'model' }, {}],
      has_more: false,
    });
    expect(await get('/v1beta/models')).toMatchObject({
      models: [{ name: 'models/one' }, {}],
    });
    expect(await get('/v1/models/one')).toMatchObject({ id: 'one' });
    expect((await fetch(`${server.url}/`, { method: 'HEAD' })).status).toBe(200);
  });

  it('says 404 to what it does not know', async () => {
    await serve();
    expect((await post('/v1/embeddings', {})).status).toBe(404);
  });
});

describe('scripts side by side', () => {
  const scripts = [
    script('first', [say('I am first')]),
    script('second', [say('I am second'), say('still second')]),
  ];

  it('chooses by marker, by model name, else the first', async () => {
    await serve({ scripts });
    expect(await textOf(await chat('hello'))).toBe('I am first');
    expect(await textOf(await chat('SCENARIO:second please'))).toBe('I am second');
    expect(await textOf(await chat('[script:second] please'))).toBe('I am second');
    expect(await textOf(await chat('hello', { model: 'second' }))).toBe('I am second');
  });

  it('is not started anew by a system message that quotes the marker', async () => {
    await serve({ scripts });
    const messages = [
      { role: 'user', content: 'SCENARIO:second' },
      { role: 'assistant', content: 'I am second' },
      { role: 'user', content: 'You were asked: SCENARIO:second. Go on.' },
    ];
    expect(
      await textOf(await post('/v1/chat/completions', { model: 'm', messages })),
    ).toBe('still second');
  });

  it('P32: sessions that begin with the same words each get their own failure', async () => {
    await serve({
      scripts: [script('worker', [callTool('create_todo'), fail(500), say('end')])],
    });
    const begin = async () => {
      const body = (await (await chat('go', { tools: TOOLS })).json()) as {
        choices: { message: { tool_calls: { id: string }[] } }[];
      };
      const said = body.choices[0]?.message;
      const result = {
        role: 'tool',
        tool_call_id: said?.tool_calls[0]?.id,
        content: 'ok',
      };
      return [{ role: 'user', content: 'go' }, { role: 'assistant', ...said }, result];
    };
    const one = await begin();
    const other = await begin();
    const statuses: number[] = [];
    for (const messages of [one, other, one, other]) {
      statuses.push(
        (await post('/v1/chat/completions', { messages, tools: TOOLS })).status,
      );
    }
    expect(statuses).toEqual([500, 500, 200, 200]);
  });
});

describe('the server', () => {
  it('keeps a bounded log without keys', async () => {
    const seen: string[] = [];
    await serve({ keepRequests: 2, apiKey: 'secret', log: (line) => seen.push(line) });
    const headers = {
      authorization: 'Bearer secret',
      'x-api-key': 'secret',
      'x-goog-api-key': 'secret',
    };
    for (const text of ['a', 'b', 'c']) {
      await post(
        '/v1/chat/completions?key=secret',
        { messages: [{ role: 'user', content: text }] },
        { headers },
      );
    }
    expect(server.requests.map((request) => request.messages[0]?.text)).toEqual([
      'b',
      'c',
    ]);
    expect(JSON.stringify(server.requests)).not.toContain('secret');
    expect(seen).toHaveLength(3);
  });

  it('reads compressed bodies, and tells a client that sent no JSON', async () => {
    await serve({ scripts: [script('greeter', [say('hi')])] });
    const body = gzipSync(
      JSON.stringify({ messages: [{ role: 'user', content: 'go' }] }),
    );
    const zipped = await post(
      '/v1/chat/completions',
      {},
      { body, headers: { 'content-encoding': 'gzip' } },
    );
    expect(await textOf(zipped)).toBe('hi');
    const broken = await post('/v1/messages', {}, { body: '{nonsense' });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
    });
  });

  it('stalls until the client leaves, and does not keep close() waiting', async () => {
    await serve({
      scripts: [script('staller', [stall(), stall({ afterEvents: 2 }), say('hi')])],
    });
    const ask = (signal: AbortSignal) =>
      post(
        '/v1/chat/completions',
        { stream: true, messages: [{ role: 'user', content: 'go' }] },
        { signal },
      );
    await expect(ask(AbortSignal.timeout(100))).rejects.toThrow(/timeout/i);
    const begun = await ask(AbortSignal.timeout(5000));
    const reading = begun.text();
    await server.close();
    await expect(reading).rejects.toThrow();
  });

  it('sends something that is no JSON when the script says so', async () => {
    await serve({ scripts: [script('broken', [malformed({ afterEvents: 1 })])] });
    const text = await (await chat('go', { stream: true })).text();
    const last = text.trim().split('\n\n').at(-1) ?? '';
    expect(() => JSON.parse(last.replace('data: ', ''))).toThrow();
  });

  it('streams Gemini answers as a JSON array to clients that did not ask for events', async () => {
    await serve({ scripts: [script('greeter', [say('Hello there, this is long.')])] });
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const answer = await (
      await post('/v1beta/models/g:streamGenerateContent', { contents })
    ).json();
    expect(Array.isArray(answer)).toBe(true);
  });

  it('tells the client when a script throws, and serves the next request', async () => {
    let isBroken = true;
    const step = {
      needsTools: false,
      next: () => {
        if (isBroken) throw new Error('a mistake in the script');
        return {
          kind: 'reply' as const,
          reply: { text: 'fine', finish: 'stop' as const },
          position: 'over' as const,
        };
      },
    };
    await serve({ scripts: [script('faulty', [step])] });
    const failed = await chat('go');
    expect([failed.status, await failed.text()]).toEqual([
      500,
      expect.stringContaining('a mistake in the script'),
    ]);
    isBroken = false;
    expect(await textOf(await chat('go'))).toBe('fine');
  });

  it('refuses to start on a port that is taken', async () => {
    await serve();
    await expect(startScriptedModel({ scripts: [], port: server.port })).rejects.toThrow(
      /EADDRINUSE/,
    );
  });
});

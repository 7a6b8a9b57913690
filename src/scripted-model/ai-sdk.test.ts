// The scripted model through real HTTP and the real provider packages, in every wire
// protocol: what a client of the AI SDK sees must be what the script said.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  isStepCount,
  type LanguageModel,
  streamText,
  tool,
} from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  callTool,
  complete,
  cutOff,
  fail,
  filtered,
  overload,
  overloadMidStream,
  type Protocol,
  parallel,
  plan,
  rateLimit,
  refuse,
  reset,
  type Script,
  type ScriptedModel,
  type ScriptedModelOptions,
  say,
  script,
  slowly,
  startScriptedModel,
  untilAllDone,
  whenContinued,
  withText,
  withThinking,
} from './index.ts';

interface Client {
  readonly name: string;
  readonly protocol: Protocol;
  model(url: string, apiKey?: string): Exclude<LanguageModel, string>;
}

const CLIENTS: readonly Client[] = [
  {
    name: 'openai chat',
    protocol: 'openai-chat',
    model: (url, apiKey = 'key') =>
      createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat('gpt-scripted'),
  },
  {
    name: 'openai responses',
    protocol: 'openai-responses',
    model: (url, apiKey = 'key') =>
      createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses('gpt-5-scripted'),
  },
  {
    name: 'anthropic',
    protocol: 'anthropic',
    model: (url, apiKey = 'key') =>
      createAnthropic({ baseURL: `${url}/v1`, apiKey })('claude-scripted'),
  },
  {
    name: 'google',
    protocol: 'gemini',
    model: (url, apiKey = 'key') =>
      createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })('gemini-scripted'),
  },
  {
    name: 'openai-compatible',
    protocol: 'openai-chat',
    model: (url, apiKey = 'key') =>
      createOpenAICompatible({ name: 'local', baseURL: url, apiKey, includeUsage: true })(
        'scripted',
      ),
  },
];

// The SDK would print each expected error and each unknown model name.
const noteNothing = () => undefined;
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

let server: ScriptedModel | undefined;
afterEach(() => server?.close());

async function serve(
  told: Script,
  options: Partial<ScriptedModelOptions> = {},
): Promise<ScriptedModel> {
  server = await startScriptedModel({ scripts: [told], ...options });
  return server;
}

/** Our todo tools over a list in memory, with the ids and shapes of the real ones. */
function todoTools() {
  const todos = new Map<string, { title: string; status: string }>();
  return {
    todos,
    tools: {
      create_todo: tool({
        inputSchema: z.object({ items: z.array(z.object({ title: z.string() })) }),
        execute: async ({ items }) => {
          const created = items.map(({ title }) => {
            const id = crypto.randomUUID();
            todos.set(id, { title, status: 'pending' });
            return { id, title, order: todos.size };
          });
          return { created, totalPending: todos.size };
        },
      }),
      complete_todo: tool({
        inputSchema: z.object({ todoId: z.string(), outcome: z.string() }),
        execute: async ({ todoId, outcome }) => {
          const todo = todos.get(todoId);
          if (!todo) throw new Error(`Unknown todo ${todoId}`);
          todo.status = 'completed';
          return { id: todoId, ...todo, outcome };
        },
      }),
      read_file: tool({
        inputSchema: z.object({ path: z.string() }),
        execute: async ({ path }) => `text of ${path}`,
      }),
    },
  };
}

async function failureOf(model: Exclude<LanguageModel, string>): Promise<APICallError> {
  try {
    await generateText({ model, prompt: 'go', maxRetries: 0 });
  } catch (error) {
    expect(APICallError.isInstance(error)).toBe(true);
    return error as APICallError;
  }
  throw new Error('the call succeeded');
}

describe.each(CLIENTS)(
  'through the provider package of $name',
  ({ name, protocol, model }) => {
    it('streams the text of the script, with usage, in the protocol of the provider', async () => {
      const { url, requests } = await serve(
        script('greeter', [say('Hello, this is a longer sentence — with ünïcode.')]),
      );
      const result = streamText({
        model: model(url),
        instructions: 'Be kind.',
        prompt: 'hi',
      });
      expect(await result.text).toBe('Hello, this is a longer sentence — with ünïcode.');
      expect(await result.finishReason).toBe('stop');
      const usage = await result.usage;
      expect(usage.inputTokens).toBeGreaterThan(0);
      expect(usage.outputTokens).toBeGreaterThan(5);
      expect(requests[0]).toMatchObject({
        protocol,
        stream: true,
        system: 'Be kind.',
        messages: [{ role: 'user', text: 'hi' }],
      });
    });

    it('answers in one piece when the client does not stream', async () => {
      const { url, requests } = await serve(
        script('greeter', [withThinking('Hm.', say('Hello.'))]),
      );
      const result = await generateText({ model: model(url), prompt: 'hi' });
      expect(result.text).toBe('Hello.');
      expect(result.usage.outputTokens).toBeGreaterThan(0);
      expect(requests[0]?.stream).toBe(false);
    });

    it('plans, works and completes with ids that it learnt from the tool results', async () => {
      const { url } = await serve(
        script('worker', [
          withText('Let me plan.', plan('Write parser', 'Write tests')),
          untilAllDone((title) => [
            callTool('read_file', { path: `${title}.ts` }),
            complete(title),
          ]),
          say('All done.'),
        ]),
      );
      const { todos, tools } = todoTools();
      const result = streamText({
        model: model(url),
        tools,
        prompt: 'go',
        stopWhen: isStepCount(10),
      });
      expect(await result.text).toBe('All done.');
      const steps = await result.steps;
      expect(steps[0]?.text).toBe('Let me plan.');
      expect(steps.map((step) => step.finishReason)).toEqual([
        ...Array(5).fill('tool-calls'),
        'stop',
      ]);
      expect(
        steps.flatMap((step) => step.toolCalls.map((call) => call.toolName)),
      ).toEqual([
        'create_todo',
        'read_file',
        'complete_todo',
        'read_file',
        'complete_todo',
      ]);
      expect([...todos.values()].map((todo) => todo.status)).toEqual([
        'completed',
        'completed',
      ]);
    });

    it('makes several calls in one reply, each with its own id', async () => {
      const { url } = await serve(
        script('reader', [
          parallel(
            callTool('read_file', { path: 'a' }),
            callTool('read_file', { path: 'b' }),
          ),
          say('Read both.'),
        ]),
      );
      const result = streamText({
        model: model(url),
        tools: todoTools().tools,
        prompt: 'go',
        stopWhen: isStepCount(5),
      });
      expect(await result.text).toBe('Read both.');
      const [first] = await result.steps;
      expect(first?.toolResults.map((entry) => entry.output)).toEqual([
        'text of a',
        'text of b',
      ]);
      expect(new Set(first?.toolCalls.map((call) => call.toolCallId)).size).toBe(2);
    });

    it('goes on after a continuation, where the messages say that the story stands', async () => {
      const { url, requests } = await serve(
        script('quits early', [
          plan('One', 'Two'),
          // With a thought before it, OpenAI's package sends the text back as a reference
          // to a stored item.
          withThinking('Enough.', say("I'm done!")),
          whenContinued(complete('One'), complete('Two')),
          say('Now I am.'),
        ]),
      );
      const { todos, tools } = todoTools();
      const first = await generateText({
        model: model(url),
        tools,
        prompt: 'go',
        stopWhen: isStepCount(9),
      });
      expect(first.text).toBe("I'm done!");
      const messages = [
        { role: 'user' as const, content: 'go' },
        ...first.responseMessages,
        { role: 'user' as const, content: 'There is work left.' },
      ];
      const second = await generateText({
        model: model(url),
        tools,
        messages,
        stopWhen: isStepCount(9),
      });
      expect(second.text).toBe('Now I am.');
      expect([...todos.values()].every((todo) => todo.status === 'completed')).toBe(true);
      expect(requests).toHaveLength(5);
    });

    it('shows thinking apart from the text', async () => {
      const { url } = await serve(
        script('thinker', [withThinking('I ponder this at length.', say('Forty-two.'))]),
      );
      const result = streamText({ model: model(url), prompt: 'why?' });
      // Real OpenAI shows no thinking in chat completions, and its own provider package
      // reads none.
      const shown = name === 'openai chat' ? undefined : 'I ponder this at length.';
      expect(await result.reasoningText).toBe(shown);
      expect(await result.text).toBe('Forty-two.');
    });

    it('reports length, content filter and refusal as finish reasons', async () => {
      const { url } = await serve(
        script('cut', [cutOff('Half a sen'), filtered(), refuse()], { cursor: 'server' }),
      );
      const ask = () => streamText({ model: model(url), prompt: 'go' });
      const cut = ask();
      expect([await cut.finishReason, await cut.text]).toEqual(['length', 'Half a sen']);
      expect(await ask().finishReason).toBe('content-filter');
      expect(await ask().finishReason).toBe('content-filter');
    });

    it('surfaces a rate limit as APICallError with the wait that the provider names', async () => {
      const { url } = await serve(script('busy', [rateLimit(7), say('ok')]));
      const error = await failureOf(model(url));
      expect(error.statusCode).toBe(429);
      expect(error.isRetryable).toBe(true);
      // Google names the wait in the body, the others in a header.
      if (protocol === 'gemini')
        expect(error.responseBody).toContain('"retryDelay":"7s"');
      else expect(error.responseHeaders?.['retry-after']).toBe('7');
      expect((await generateText({ model: model(url), prompt: 'go' })).text).toBe('ok');
    });

    it('fails a set number of times and then answers, so that retries can be tested', async () => {
      const { url, requests } = await serve(
        script('flaky', [fail(500, { times: 2 }), say('ok')]),
      );
      await expect(
        generateText({ model: model(url), prompt: 'go', maxRetries: 0 }),
      ).rejects.toThrow();
      await expect(
        generateText({ model: model(url), prompt: 'go', maxRetries: 0 }),
      ).rejects.toThrow();
      expect(
        (await generateText({ model: model(url), prompt: 'go', maxRetries: 0 })).text,
      ).toBe('ok');
      expect(requests).toHaveLength(3);
    });

    it('reports overload with the status of the provider', async () => {
      const { url } = await serve(script('busy', [overload(), say('ok')]));
      const error = await failureOf(model(url));
      expect(error.statusCode).toBe(protocol === 'anthropic' ? 529 : 503);
      expect(error.isRetryable).toBe(true);
      expect(error.message.toLowerCase()).toContain('overloaded');
    });

    it('refuses a wrong key, an unknown model and a prompt that is too long, as the provider does', async () => {
      const told = script('guarded', [say('in')]);
      const guarded = await serve(told, { apiKey: 'right' });
      expect((await failureOf(model(guarded.url, 'wrong'))).statusCode).toBe(
        protocol === 'gemini' ? 400 : 401,
      );
      expect(
        (await generateText({ model: model(guarded.url, 'right'), prompt: 'go' })).text,
      ).toBe('in');
      await guarded.close();
      const other = await serve(told, { models: ['another'] });
      expect((await failureOf(model(other.url))).statusCode).toBe(404);
      await other.close();
      const small = await serve(told, { contextWindow: 3 });
      expect((await failureOf(model(small.url))).statusCode).toBe(400);
    });

    it('breaks a stream by reset or by an error event, and the client learns of it', async () => {
      const { url } = await serve(
        script('broken', [reset(), overloadMidStream(), say('whole again')]),
      );
      const outcome = async () => {
        let text = '';
        let failed = false;
        try {
          const result = streamText({
            model: model(url),
            prompt: 'go',
            maxRetries: 0,
            onError: noteNothing,
          });
          for await (const part of result.stream) {
            if (part.type === 'text-delta') text += part.text;
            if (part.type === 'error') failed = true;
          }
        } catch {
          // A broken connection may also end the iteration itself; both ways tell the
          // client.
          failed = true;
        }
        return { text, failed };
      };
      expect((await outcome()).failed).toBe(true);
      expect((await outcome()).failed).toBe(true);
      expect(await outcome()).toEqual({ text: 'whole again', failed: false });
    });

    it('stops streaming when the client aborts, and serves the next request', async () => {
      const { url } = await serve(script('slow', [slowly(20, say('word '.repeat(200)))]));
      const controller = new AbortController();
      const result = streamText({
        model: model(url),
        prompt: 'go',
        abortSignal: controller.signal,
      });
      const seen: string[] = [];
      for await (const part of result.stream) {
        seen.push(part.type);
        if (part.type === 'text-delta') controller.abort();
      }
      expect(seen).toContain('abort');
      expect(seen.filter((type) => type === 'text-delta').length).toBeLessThan(20);
    });

    it('counts the prefix that the previous request had as cached', async () => {
      const { url } = await serve(
        script('reader', [callTool('read_file', { path: 'a' }), say('read')]),
      );
      const result = await generateText({
        model: model(url),
        instructions: 'You read files. '.repeat(40),
        tools: todoTools().tools,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'text',
                text: 'go',
                providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
              },
            ],
          },
        ],
        stopWhen: isStepCount(3),
      });
      const [first, second] = result.steps.map(
        (step) => step.usage.inputTokenDetails.cacheReadTokens ?? 0,
      );
      expect(first).toBe(0);
      expect(second).toBeGreaterThan(100);
      expect(second).toBeLessThan(result.steps[1]?.usage.inputTokens ?? 0);
    });
  },
);

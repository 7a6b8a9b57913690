// The guard on the real SDK: streamText, one step at a time, with a slow scripted model.
import {
  isStepCount,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ScriptedLanguageModel,
  type ScriptedStep,
} from '../../test/support/scripted-language-model.ts';
import {
  type Attempts,
  attempts,
  collect,
  type SeenPart,
} from '../../test/support/scripted-stream.ts';
import type { StopAnswer } from './guard-transform.ts';

type Part = TextStreamPart<ToolSet>;

/**
 * A caller as the loop will be one: it keeps the history, and the reminder goes to the
 * model alone.
 */
function scene(
  steps: readonly ScriptedStep[],
  { delayMs = 0, toolMs = 0, signal = new AbortController().signal } = {},
) {
  const scripted = new ScriptedLanguageModel(steps, delayMs);
  const board = { open: ['b'], written: '' };
  const tools = {
    shell: tool({
      inputSchema: z.object({}),
      execute: async () => {
        if (toolMs > 0) await new Promise((resolve) => setTimeout(resolve, toolMs));
        return 'ok';
      },
    }),
    todo_write: tool({
      inputSchema: z.object({ todos: z.array(z.string()) }),
      execute: async ({ todos }) => {
        const duplicate = board.written === todos.join();
        board.written = todos.join();
        return duplicate
          ? { notice: 'Nothing changed; the active todo is b.' }
          : { total: todos.length };
      },
    }),
  } satisfies ToolSet;
  let history: ModelMessage[] = [{ role: 'user', content: 'do a and b' }];
  let previous: { readonly responseMessages: PromiseLike<ModelMessage[]> } | null = null;
  const options: Attempts<Part> = {
    signal,
    attempt: (reminder) => {
      async function* stream(): AsyncGenerator<Part> {
        if (previous !== null)
          history = [...history, ...(await previous.responseMessages)];
        const reminded: ModelMessage[] =
          reminder === null ? [] : [{ role: 'user', content: reminder }];
        const result = streamText({
          model: scripted.model,
          tools,
          messages: [...history, ...reminded],
          stopWhen: isStepCount(1),
          abortSignal: signal,
          maxRetries: 0,
          onError: () => undefined,
        });
        previous = result;
        yield* result.stream;
      }
      return stream();
    },
    hasOpenTodos: () => board.open.length > 0,
    isPaused: () => false,
    isDuplicate: (part) =>
      part.type === 'tool-result' &&
      JSON.stringify(part.output).includes('Nothing changed'),
    ask: async (): Promise<StopAnswer> => ({
      answer: 'retry',
      reminder: 'Go on with b.',
    }),
  };
  return { scripted, board, options };
}

const shown = (parts: readonly SeenPart<Part>[]) =>
  parts.map((part) =>
    part.type === 'text-delta' || part.type === 'held-back'
      ? `${part.type}(${part.text})`
      : part.type,
  );

describe('on a real streamText', () => {
  it('I1, I3, P1: a "done" with todos open is sent back, stays in the history and is never shown', async () => {
    const { scripted, options } = scene([
      { text: 'All done!' },
      { text: 'Sorry. ', calls: [['shell', {}]] },
    ]);
    const { parts, result } = await collect(attempts(options));
    expect(shown(parts)).toEqual([
      'start',
      'start-step',
      'held-back(All done!)',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta(Sorry. )',
      'text-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'tool-call',
      'tool-result',
      'finish-step',
      'finish',
    ]);
    expect(result).toMatchObject({
      attempts: 2,
      calledTools: true,
      heldBack: ['All done!'],
    });
    expect(scripted.prompts[1]).toContain('All done!');
    expect(scripted.prompts[1]).toContain('Go on with b.');
    expect(JSON.stringify(parts)).not.toContain('Go on with b.');
  });

  it('I5, P4: a second identical todo_write is sent back, and its notice is in the history', async () => {
    const write = { calls: [['todo_write', { todos: ['a', 'b'] }]] } as const;
    const { scripted, options } = scene([write, write, { calls: [['shell', {}]] }]);
    expect((await collect(attempts(options))).result).toMatchObject({
      attempts: 1,
      onlyDuplicates: false,
    });
    const { result } = await collect(attempts(options));
    expect(result).toMatchObject({
      attempts: 2,
      onlyDuplicates: false,
      calledTools: true,
    });
    expect(scripted.prompts[2]).toContain('the active todo is b');
  });

  it('P14: an empty answer is retried once', async () => {
    const { options } = scene([{}, {}]);
    const { parts, result } = await collect(attempts(options));
    expect(result).toMatchObject({ attempts: 2, end: 'empty' });
    expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
  });

  it('I1: tool events are out while the model still speaks', async () => {
    const { scripted, options } = scene(
      [{ calls: [['shell', {}]], text: 'First I look. ' }],
      {
        delayMs: 3,
        toolMs: 5,
      },
    );
    const arrived = new Map<string, number>();
    for await (const part of attempts(options)) arrived.set(part.type, performance.now());
    expect(arrived.get('tool-input-start')).toBeLessThan(scripted.lastEventAt);
    expect(arrived.get('tool-call')).toBeLessThan(scripted.lastEventAt);
  });

  it('I4: an error of the provider passes, and what was said before it is shown', async () => {
    const { scripted, options } = scene([]);
    scripted.model.doStream = async () => {
      throw new Error('overloaded');
    };
    const { parts, result } = await collect(attempts(options));
    expect(shown(parts)).toEqual(['start', 'error']);
    expect(result.error).toMatchObject({
      source: 'model',
      cause: { message: 'overloaded' },
    });
  });

  it('I4: an abort shows what there is and ends with the SDK’s own abort part', async () => {
    const abort = new AbortController();
    const { scripted, options } = scene(
      [{ text: 'one two three four five six seven eight' }],
      {
        delayMs: 100,
        signal: abort.signal,
      },
    );
    setTimeout(() => abort.abort(), 500);
    const { parts, result } = await collect(attempts(options));
    expect(shown(parts).slice(0, 4)).toEqual([
      'start',
      'start-step',
      'text-start',
      'text-delta(one )',
    ]);
    expect(parts.at(-1)?.type).toBe('abort');
    expect(result).toMatchObject({ aborted: true, heldBack: [], attempts: 1 });
    expect(scripted.aborted).toBe(1);
  });
});

describe('latency', () => {
  const steps = [{ text: `${'word '.repeat(200)}end` }];

  async function waits(
    read: (current: ReturnType<typeof scene>) => AsyncIterable<{ type: string }>,
  ) {
    const measured: number[] = [];
    for (let run = 0; run < 60; run += 1) {
      const current = scene(steps);
      for await (const part of read(current))
        if (part.type === 'finish')
          measured.push(performance.now() - current.scripted.lastEventAt);
    }
    const sorted = measured.sort((left, right) => left - right);
    return {
      count: sorted.length,
      median: sorted[30] ?? Number.NaN,
      worst: sorted.at(-1) ?? Number.NaN,
    };
  }

  it('I1: half of the answers are out within 50 ms of the model’s last event on any machine (figures printed)', async () => {
    const bare = await waits(({ options }) => options.attempt(null));
    const guarded = await waits(({ options }) =>
      attempts({ ...options, ask: async () => ({ answer: 'release' }) }),
    );
    for (const [name, { median, worst }] of Object.entries({ bare, guarded }))
      console.log(
        `last event to finish, ${name}: median ${median.toFixed(2)} ms, worst ${worst.toFixed(2)} ms`,
      );
    expect(guarded.count).toBe(60);
    expect(guarded.median).toBeLessThan(50);
  });
});

// The guard as a transform in a run that it does not drive: a ToolLoopAgent with a
// steering object, as users have it.
import {
  experimental_createSteering as createSteering,
  isLoopFinished,
  streamText,
  type TextStreamPart,
  ToolLoopAgent,
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
  type GuardTransformOptions,
  type StopAnswer,
  type StopFacts,
  toTransform,
} from './guard-transform.ts';

type Part = TextStreamPart<ToolSet>;

function scene(steps: readonly ScriptedStep[]) {
  const board = { open: 2 };
  const scripted = new ScriptedLanguageModel(steps);
  const tools: ToolSet = {
    todo_done: tool({
      inputSchema: z.object({}),
      execute: async () => {
        board.open -= 1;
        return { remaining: board.open };
      },
    }),
  };
  const steering = createSteering();
  const stops: StopFacts[] = [];
  const held: string[] = [];
  const failures: unknown[] = [];
  const options: GuardTransformOptions<Part> = {
    hasOpenTodos: () => board.open > 0,
    isPaused: () => false,
    ask: async (stop): Promise<StopAnswer> => {
      stops.push(stop);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { answer: 'retry', reminder: `REMINDER ${stop.attempt}` };
    },
    remind: (reminder, heldText) => {
      held.push(heldText);
      void steering.steer(reminder);
    },
    onFailure: (cause) => failures.push(cause),
  };
  const run = async (): Promise<string[]> => {
    const agent = new ToolLoopAgent({
      model: scripted.model,
      tools,
      stopWhen: isLoopFinished(),
    });
    const result = await agent.stream({
      prompt: 'go',
      experimental_steering: steering,
      experimental_transform: toTransform<ToolSet>(options),
    });
    const seen: string[] = [];
    for await (const part of result.stream)
      if (!/^(text-(start|end)|tool-input-.*)$/.test(part.type))
        seen.push(part.type === 'text-delta' ? `"${part.text}"` : part.type);
    return seen;
  };
  return { board, scripted, options, stops, held, failures, run };
}

const done = { calls: [['todo_done', {}]] } as const;

describe('the guard as a transform', () => {
  it('I1, I3, I7: an early "done" is taken out, the reminder reaches the model and not the stream', async () => {
    const { scripted, held, run, board } = scene([
      { text: 'Finished!' },
      { text: 'Right. ', ...done },
      done,
      { text: 'Really.' },
    ]);
    expect(await run()).toEqual([
      'start',
      'start-step',
      'finish-step',
      'start-step',
      '"Right. "',
      'tool-call',
      'tool-result',
      'finish-step',
      'start-step',
      'tool-call',
      'tool-result',
      'finish-step',
      'start-step',
      '"Really."',
      'finish-step',
      'finish',
    ]);
    expect(held).toEqual(['Finished!']);
    expect(scripted.prompts[1]).toContain('REMINDER 1');
    expect(board.open).toBe(0);
  });

  it('I3: two attempts in all; then the run ends with what the model says', async () => {
    const { stops, run } = scene([
      { text: 'Done 1' },
      { text: 'Done 2' },
      { text: 'Done 3' },
    ]);
    const seen = await run();
    expect(seen.filter((each) => each.startsWith('"')).join('')).toBe('"Done ""2"');
    expect(stops).toHaveLength(1);
  });

  it('I4: tool work is an exit: the next stop is a new one and gets a retry of its own', async () => {
    const { stops, run } = scene([
      { text: 'Done 1' },
      done,
      { text: 'Done 2' },
      done,
      { text: 'Done 3' },
    ]);
    expect((await run()).join()).not.toMatch(/1|"2/);
    expect(stops.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it('I3: where the decision has limits of its own, more attempts can be allowed', async () => {
    const current = scene([
      { text: 'Done 1' },
      { text: 'Done 2' },
      { text: 'Done 3' },
      { text: 'Done 4' },
    ]);
    Object.assign(current.options, { maxAttempts: 4 });
    await current.run();
    expect(current.stops.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(current.held).toEqual(['Done 1', 'Done 2', 'Done 3']);
  });

  it('fails open: a decision that throws releases the answer and is reported', async () => {
    const current = scene([{ text: 'Finished!' }]);
    current.options.ask = async () => {
      throw new Error('locked');
    };
    expect((await current.run()).join()).toBe(
      'start,start-step,"Finished!",finish-step,finish',
    );
    expect(current.failures).toEqual([new Error('locked')]);
  });

  it('I4: a stream that breaks off shows what there is', async () => {
    const { options } = scene([]);
    const { readable, writable } = toTransform<ToolSet>(options)({
      tools: {},
      stopStream: () => undefined,
    });
    const writer = writable.getWriter();
    const reading = readAll(readable);
    const parts = [
      { type: 'start-step', request: {}, warnings: [] },
      { type: 'text-delta', id: 't', text: 'half an' },
    ] as const;
    for (const part of parts) await writer.write(part as unknown as Part);
    await writer.close();
    expect(await reading).toEqual(['start-step', 'text-delta']);
  });

  it('other people’s steering messages pass', async () => {
    const { options, scripted } = scene([{ text: 'Done' }]);
    const steering = createSteering();
    options.remind = () => void steering.steer('something else');
    const result = streamText({
      model: scripted.model,
      prompt: 'go',
      stopWhen: isLoopFinished(),
      experimental_steering: steering,
      experimental_transform: toTransform<ToolSet>(options),
    });
    const types: string[] = [];
    for await (const part of result.stream) types.push(part.type);
    expect(types).toContain('steering-message');
  });
});

async function readAll(readable: ReadableStream<Part>): Promise<string[]> {
  const types: string[] = [];
  for await (const part of readable) types.push(part.type);
  return types;
}

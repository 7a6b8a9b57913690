// What is special to the AI SDK: it goes on within one call, and readers of a stream see
// no false "done". test/frameworks has the tests of every framework.
import { createAnthropic } from '@ai-sdk/anthropic';
import {
  experimental_createSteering,
  generateText,
  isStepCount,
  ToolLoopAgent,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { createLibraryStage, startModel } from '../../../test/support/library-stage.ts';
import {
  complete,
  cutOff,
  duplicateWrite,
  inOrder,
  plan,
  type Step,
  say,
  withThinking,
} from '../../scripted-model/index.ts';
import type { SessionOptions } from '../../session/session.ts';
import { untilDone } from './index.ts';

async function stage(options: SessionOptions, ...steps: Step[]) {
  const session = await createLibraryStage().open({ goal: 'go', ...options });
  const { model, requests, server } = await startModel(...steps);
  const agent = new ToolLoopAgent({ model, tools: session.tools });
  const messages = () =>
    requests.map(
      ({ body }) => (body as { messages: { role: string; content: unknown }[] }).messages,
    );
  return { session, agent, model, requests, messages, server };
}

const early = inOrder(
  plan('a', 'b'),
  complete('a'),
  say('All done!'),
  complete('b'),
  say('Finished.'),
);

describe('in a stream', () => {
  it('I1, I7: a premature "done" and the reminder are shown to nobody, and both are in the history', async () => {
    const { session, agent, messages } = await stage({}, early);
    const { stream } = await untilDone(session, agent).stream({ prompt: 'go' });
    const shown: string[] = [];
    for await (const part of stream)
      shown.push(part.type === 'text-delta' ? part.text : part.type);
    expect(shown.join(' ')).toContain('Finished.');
    expect(shown.join(' ')).not.toMatch(/All done|steering-message|CONTINUATION/);
    expect(shown.filter((type) => type === 'finish')).toHaveLength(1);
    const [answer, reminder] = messages()[3]?.slice(-2) ?? [];
    expect(answer).toMatchObject({ role: 'assistant', content: 'All done!' });
    expect(String(reminder?.content)).toContain('1/2 completed, 1 remaining');
    // And it stays there.
    expect(messages()[4]?.slice(0, messages()[3]?.length)).toEqual(messages()[3]);
  });

  it('I1: what the model thought before a held answer stays before it', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    const { server } = await startModel(
      ...[
        plan('a'),
        withThinking('Is it done? Yes.', say('All done!')),
        complete('a'),
        say('Finished.'),
      ],
    );
    const model = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: 'any' })(
      'story',
    );
    const agent = new ToolLoopAgent({ model, tools: session.tools });
    expect(await (await untilDone(session, agent).stream({ prompt: 'go' })).text).toBe(
      'Finished.',
    );
    const told = server.requests[2]?.body as { messages: object[] } | undefined;
    expect(told?.messages.at(-2)).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Is it done? Yes.' },
        { type: 'text', text: 'All done!' },
      ],
    });
  });

  it('P13: an answer that the output limit cut off is taken up in the same call', async () => {
    const { session, agent, requests } = await stage(
      {},
      plan('a'),
      cutOff(),
      complete('a'),
      say('Finished.'),
    );
    expect(await (await untilDone(session, agent).stream({ prompt: 'go' })).text).toBe(
      'Finished.',
    );
    expect([requests.length, session.outcome]).toEqual([4, 'claimed']);
  });

  it('I5: a step with nothing but a todo_write that changes nothing is a stop attempt', async () => {
    const story = [plan('a'), duplicateWrite(), complete('a'), say('Finished.')];
    const { session, agent } = await stage({}, ...story);
    await (await untilDone(session, agent).stream({ prompt: 'go' })).text;
    expect(session.outcome).toBe('claimed');
    expect((await session.why())?.inputs).toMatchObject({ open: 0 });
  });

  it('G6: the limits of the session end it, not the SDK’s own twenty steps', async () => {
    const todos = Array.from({ length: 30 }, (_, index) => `todo ${index}`);
    const { session, agent, requests } = await stage(
      {},
      ...[plan(...todos), ...todos.map((title) => complete(title)), say('Finished.')],
    );
    await (await untilDone(session, agent).stream({ prompt: 'go' })).text;
    expect([requests.length, session.outcome]).toEqual([32, 'claimed']);
    const lazy = await stage(
      {},
      plan('a'),
      ...Array.from({ length: 9 }, (_, index) => say(`Done ${index}!`)),
    );
    const { text } = await untilDone(lazy.session, lazy.agent).stream({ prompt: 'go' });
    expect(await text).toBe('Done 3!');
    expect([lazy.requests.length, lazy.session.outcome]).toEqual([5, 'stagnant']);
  });
});

describe('where the session cannot be asked', () => {
  it('15: the call fails with its sentence, and no answer counts as let through', async () => {
    const { session, agent, model } = await stage(
      {},
      plan('a'),
      say('All done!'),
      plan('a'),
      say('All done!'),
    );
    await session.close();
    const closed = /is closed/;
    await expect(untilDone(session, agent).generate({ prompt: 'go' })).rejects.toThrow(
      closed,
    );
    const call = { model, tools: {}, prompt: 'go' };
    await expect(untilDone(session, generateText)(call)).rejects.toThrow(closed);
    const { textStream } = await untilDone(session, agent).stream({ prompt: 'go' });
    const shown: string[] = [];
    const read = async () => {
      for await (const text of textStream) shown.push(text);
    };
    await expect(read()).rejects.toThrow(closed);
    expect(shown).toEqual([]);
  });

  it('15: a session that was not awaited is refused in one sentence', async () => {
    const { agent } = await stage({}, say('Done.'));
    const sentence =
      'untilDone: session: must be what `await openSession(…)` gives, got ';
    for (const session of [Promise.resolve(), undefined])
      expect(() => untilDone(session as never, agent)).toThrow(sentence);
  });
});

describe('what the program sets itself', () => {
  const own = () => {
    const seen: string[] = [];
    return {
      seen,
      prepareStep({ messages, stepNumber }: { messages: object[]; stepNumber: number }) {
        seen.push(`prepare ${stepNumber} ${messages.length}`);
        return { temperature: 0.5 };
      },
      onStepEnd: ({ stepNumber }: { stepNumber: number }) =>
        void seen.push(`end ${stepNumber}`),
    };
  };
  const steps = ['prepare 0 1', 'end 0', 'prepare 1 3', 'end 1', 'prepare 2 5', 'end 2'];

  it('15: prepareStep and onStepEnd of an agent act in every step, the held answer before their eyes', async () => {
    const { session, messages, model, requests } = await stage({}, early);
    const { seen, ...settings } = own();
    const agent = new ToolLoopAgent({ model, tools: session.tools, ...settings });
    await (await untilDone(session, agent).stream({ prompt: 'go' })).text;
    // What it answered and what it was told are two messages.
    expect(seen).toEqual([...steps, 'prepare 3 7', 'end 3', 'prepare 4 9', 'end 4']);
    expect(messages()[3]?.at(-2)).toMatchObject({
      role: 'assistant',
      content: 'All done!',
    });
    expect(
      requests.map(({ body }) => (body as { temperature?: number }).temperature),
    ).toEqual(Array(5).fill(0.5));
  });

  it.each(['onStepEnd', 'onStepFinish'] as const)(
    '15: so do %s and prepareStep of a call',
    async (name) => {
      const { session, model } = await stage({}, early);
      const { seen, prepareStep, onStepEnd } = own();
      const call = {
        model,
        tools: session.tools,
        prompt: 'go',
        prepareStep,
        [name]: onStepEnd,
      };
      await untilDone(session, generateText)(call);
      expect(seen).toEqual([...steps, 'prepare 3 7', 'end 3', 'prepare 4 9', 'end 4']);
      expect(session.outcome).toBe('claimed');
    },
  );

  it('15: a transform of the program sees what is shown, and nothing that was held back', async () => {
    const { session, agent } = await stage({}, early);
    const shown: string[] = [];
    const note = () =>
      new TransformStream({
        transform(part, controller) {
          if (part.type === 'text-delta') shown.push(part.text);
          controller.enqueue(part);
        },
      });
    const { text } = await untilDone(session, agent).stream({
      prompt: 'go',
      experimental_transform: note,
    });
    expect([await text, shown.join('')]).toEqual(['Finished.', 'Finished.']);
  });

  it('15: a stopWhen of the program ends the call, and the session has let nobody go', async () => {
    const stopWhen = isStepCount(3);
    const streamed = await stage({}, early);
    const settings = { model: streamed.model, tools: streamed.session.tools, stopWhen };
    const agent = untilDone(streamed.session, new ToolLoopAgent(settings));
    await (await agent.stream({ prompt: 'go' })).text;
    expect([streamed.requests.length, streamed.session.outcome]).toEqual([3, null]);
    const { session, model, requests } = await stage({}, early);
    const call = { model, tools: session.tools, prompt: 'go', stopWhen };
    await untilDone(session, generateText)(call);
    expect([requests.length, session.outcome]).toEqual([3, null]);
  });

  it('15: steering of the program reaches the same call', async () => {
    const { session, agent, messages } = await stage({}, early);
    const experimental_steering = experimental_createSteering();
    void experimental_steering.steer('In French, please.');
    await untilDone(session, agent).generate({ prompt: 'go', experimental_steering });
    expect(messages()[0]?.at(-1)).toMatchObject({ content: 'In French, please.' });
    expect(session.outcome).toBe('claimed');
  });

  it('15: an agent that cannot be continued within a call is refused in one sentence', async () => {
    const { session } = await stage({}, early);
    const other = { generate: async () => ({}), stream: async () => ({}) };
    expect(() => untilDone(session, other)).toThrow('session.hold takes any other agent');
  });
});

describe('without a stream', () => {
  it('15: the answer is the last one, and tokens are counted', async () => {
    const { session, agent } = await stage({ settings: { maxTokens: 1 } }, early);
    const { text } = await untilDone(session, agent).generate({ prompt: 'go' });
    expect(text).toBe('All done!');
    expect(session.outcome).toBe('exhausted');
  });
});

// `openSession` as a program sees it: the real store, the real checks, the real AI SDK,
// and a model that plays a script.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { streamText, ToolLoopAgent } from 'ai';
import { describe, expect, it } from 'vitest';
import { acceptProject } from '../../test/support/accept-project.ts';
import {
  createLibraryStage,
  finish,
  planned,
  startModel,
} from '../../test/support/library-stage.ts';
import type { Decision } from '../core/decision.ts';
import {
  callTool,
  complete,
  fail,
  inOrder,
  plan,
  say,
  withUsage,
} from '../scripted-model/index.ts';
import { openSession } from './session.ts';

type Result = { readonly text: string; readonly responseMessages: readonly object[] };

const early = inOrder(
  ...[plan('a', 'b', 'c'), complete('a'), say('All done!')],
  ...[complete('b'), say('Now it is done!'), complete('c'), say('Finished.')],
);

describe('the four lines', () => {
  it('15: hold an agent of the AI SDK until its plan is drained', async () => {
    const { open } = createLibraryStage();
    const { model, requests } = await startModel(early);
    const session = await open({ goal: 'migrate the tests', checks: ['true'] });
    const agent = new ToolLoopAgent({ model, tools: session.tools });
    const { text } = await session.hold((messages) => agent.generate({ messages }));
    expect(text).toBe('Finished.');
    expect(session.plan.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
    expect(requests).toHaveLength(7);
    // The check passed before, and an agent that has only todo tools changed nothing
    // (P46).
    expect(session.outcome).toBe('claimed');
  });

  it.each([
    ['a result of the AI SDK', (result: Result) => result],
    [
      'a text with messages',
      ({ text, responseMessages: messages }: Result) => ({ text, messages }),
    ],
    [
      'the whole conversation',
      ({ text, responseMessages }: Result, before: object[]) => ({
        text,
        messages: [...before, ...responseMessages],
      }),
    ],
  ])(
    '15: the second request contains the whole first exchange, from %s',
    async (_what, answer) => {
      const { open } = createLibraryStage();
      const { model, requests } = await startModel(early);
      const session = await open({ goal: 'migrate the tests' });
      const agent = new ToolLoopAgent({ model, tools: session.tools });
      await session.hold(async (messages) =>
        answer(await agent.generate({ messages }), messages),
      );
      const told = requests.map(
        ({ body }) =>
          (body as { messages: { role: string; content: unknown }[] }).messages,
      );
      const afterStop = told[3] ?? [];
      expect(afterStop.slice(0, told[2]?.length)).toEqual(told[2]);
      expect(afterStop.map(({ role }) => role).join(' ')).toBe(
        'user assistant tool assistant tool assistant user',
      );
      expect(afterStop.at(0)?.content).toBe('migrate the tests');
      expect(afterStop.at(-2)?.content).toBe('All done!');
      expect(String(afterStop.at(-1)?.content)).toContain('1/3 completed, 2 remaining');
    },
  );

  it('15: an agent that answers with a text has what was said', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    const heard: string[][] = [];
    await session.hold((messages: { role: string; content: string }[]) => {
      heard.push(messages.map(({ role, content }) => `${role}: ${content.slice(0, 20)}`));
      return 'Done.';
    });
    expect(heard[1]).toEqual([
      'user: go',
      'assistant: Done.',
      'user: [TODO CONTINUATION] ',
    ]);
  });

  it('15: streams are read to their end', async () => {
    const { open } = createLibraryStage();
    const { model } = await startModel(early);
    const { tools, hold, ...session } = await open({ goal: 'go' });
    const stopWhen = () => false;
    await hold((messages) => streamText({ model, messages, tools, stopWhen }));
    expect(session.id).toBeTruthy();
    expect(await (await session.resume()).why()).toMatchObject({
      reason: 'nothing-open',
      outcome: 'claimed',
    });
  });

  it('V1: a goal check that fails is quoted to the agent, and passes in the end', async () => {
    const { open, put, directory } = createLibraryStage();
    put(
      'check.mjs',
      "import { readFileSync } from 'node:fs'; if (readFileSync('n', 'utf8') !== '2') { console.log('n is too small'); process.exit(1); }",
    );
    put('n', '0');
    let calls = 0;
    const said: string[] = [];
    const session = await open({
      goal: 'count to two',
      checks: [`"${process.execPath}" check.mjs`],
    });
    await session.hold((messages: { content: string }[]) => {
      said.push(messages.at(-1)?.content ?? '');
      writeFileSync(join(directory, 'n'), String(calls));
      calls += 1;
      return 'I counted.';
    });
    expect(calls).toBe(3);
    expect(said.slice(1).every((text) => text.includes('n is too small'))).toBe(true);
    expect(session.outcome).toBe('done');
    expect(await session.why()).toMatchObject({ reason: 'nothing-open', text: null });
  });
});

describe('V1: a check that the program and the project both give', () => {
  it('V1: runs once before the start, twice at a stop where it fails, once at one where it passes', async () => {
    const { open, put, directory, environment } = createLibraryStage();
    const log = join(directory, '..', 'runs.log');
    const runs = () => readFileSync(log, 'utf8').split('run').length - 1;
    const command = 'echo run >> ../runs.log; grep -q good alpha.txt';
    put('alpha.txt', 'bad');
    put(
      'untildone.json',
      JSON.stringify({ checks: { tests: { command } }, goal: ['tests'] }),
    );
    acceptProject(environment.UNTILDONE_HOME, directory);
    const session = await open({ goal: 'write it', checks: [command] });
    expect(runs(), 'before the start').toBe(1);
    expect((await session.stop()).text).not.toContain('tests');
    expect(runs(), 'at the stop where it fails').toBe(3);
    put('alpha.txt', 'good');
    expect(await session.stop()).toMatchObject({ answer: 'let-go', outcome: 'done' });
    expect(runs(), 'at the stop where it passes').toBe(4);
  });
});

describe('a loop of your own', () => {
  it('first-use 26: eight lines from the types hold the agent', async () => {
    const { directory, environment } = createLibraryStage();
    const session = await openSession({ store: ':memory:', directory, environment });
    const [first] = await planned(session, 'parser', 'tests');
    await finish(session, first);
    const answer = await session.stop();
    expect(answer).toMatchObject({
      answer: 'continue',
      reason: 'continue',
      outcome: null,
    });
    expect(answer.text).toContain('“tests”');
    await session.close();
  });

  it('G11: a text that ends in a question is answered as one; twice in a row pauses', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    expect((await session.stop({ text: 'Shall I go on?' })).text).toContain('todo_pause');
    expect(await session.stop({ text: 'Shall I?' })).toMatchObject({
      answer: 'let-go',
      text: null,
      outcome: 'paused',
    });
  });

  it('G2: how the answer ended is told, and an empty text is an empty answer', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    expect((await session.stop({ text: ' ' })).text).toContain(
      'Your last answer was empty',
    );
    expect((await session.stop({ end: 'length' })).text).toContain(
      'cut off by the output limit',
    );
    expect(await session.stop({ end: 'refusal' })).toMatchObject({
      outcome: 'failed',
      reason: 'refused',
    });
  });

  it('G3: a wait is waited for, and ends by itself or by what happens', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await planned(session, 'a');
    const retryAt = Date.now() + 300;
    await session.tell({
      type: 'error-occurred',
      kind: 'rate-limit',
      signature: '429',
      message: 'slow',
      retryAt,
    });
    expect((await session.stop()).answer).toBe('continue');
    expect(Date.now()).toBeGreaterThanOrEqual(retryAt);
  });
});

describe('what the agent did', () => {
  it('15: an honest agent whose tools nobody sees is never challenged', async () => {
    const session = await createLibraryStage().open({ goal: 'book the flights' });
    for (const id of await planned(session, 'a', 'b', 'c')) await finish(session, id);
    expect(await session.stop()).toMatchObject({ answer: 'let-go', outcome: 'claimed' });
  });

  it('V4: watched tools tell work from talk', async () => {
    const session = await createLibraryStage().open({ goal: 'book the flights' });
    const { book } = session.watch({
      book: { execute: async (flight: string) => `booked ${flight}` },
    });
    for (const id of await planned(session, 'a', 'b', 'c')) await finish(session, id);
    expect((await session.stop()).text).toContain('3 todos were marked completed');
    await session.tell({ type: 'human-spoke', text: 'and three more' });
    for (const id of await planned(session, 'd', 'e', 'f')) {
      expect(await book.execute('LH1')).toBe('booked LH1');
      await finish(session, id);
    }
    expect(await session.stop()).toMatchObject({ answer: 'let-go', outcome: 'claimed' });
  });

  it('S6: a watched tool that fails fails as before, and the agent is told to try another way', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    const tools = session.watch({
      broken: { execute: () => Promise.reject(new Error('no such host')) },
      counting: {
        async *execute() {
          yield 1;
          yield 2;
        },
      },
      provided: { id: 'provider.search' },
    });
    await planned(session, 'a');
    const counted: number[] = [];
    for await (const value of tools.counting.execute()) counted.push(value);
    expect(counted).toEqual([1, 2]);
    expect(tools.provided).toEqual({ id: 'provider.search' });
    await expect(tools.broken.execute()).rejects.toThrow('no such host');
    expect((await session.stop()).text).toContain(
      'The last tool call failed: “no such host”',
    );
  });

  it('V1: a change of files counts although nobody saw the call that made it', async () => {
    const { open, put } = createLibraryStage();
    const session = await open({ goal: 'write it', checks: ['true'] });
    put('written.txt', 'by an agent whose tools nobody sees');
    expect(await session.stop()).toMatchObject({ outcome: 'done' });
  });

  it('V1: with watched tools only their calls make a change: an edit of somebody else proves no work', async () => {
    const { open, put } = createLibraryStage();
    const session = await open({ goal: 'write it', checks: ['true'] });
    const { write } = session.watch({
      write: { execute: async () => put('written.txt', 'by the agent') },
    });
    put('elsewhere.txt', 'by somebody else');
    expect(await session.stop()).toMatchObject({
      outcome: 'claimed',
      reason: 'no-change',
    });
    await write.execute();
    expect(await session.stop()).toMatchObject({ outcome: 'done' });
  });

  it('G8: tokens that the agent reports are counted against its budget', async () => {
    const { open } = createLibraryStage();
    const { model } = await startModel(
      plan('a'),
      withUsage(
        { inputTokens: 900, outputTokens: 200, cachedTokens: 0, thinkingTokens: 0 },
        say('Done!'),
      ),
    );
    const session = await open({ goal: 'go', settings: { maxTokens: 1000 } });
    const agent = new ToolLoopAgent({ model, tools: session.tools });
    await session.hold((messages) => agent.generate({ messages }));
    expect(await session.why()).toMatchObject({
      reason: 'token-budget',
      outcome: 'exhausted',
    });
  });

  it('S2: an agent that its own limit of steps ended is sent on', async () => {
    const { open } = createLibraryStage();
    const { model, requests } = await startModel(plan('a'), complete('a'), say('Done!'));
    const decisions: Decision[] = [];
    const session = await open({
      goal: 'go',
      onDecision: (decision) => decisions.push(decision),
    });
    const stopWhen = ({ steps }: { steps: unknown[] }) => steps.length === 1;
    const agent = new ToolLoopAgent({ model, tools: session.tools, stopWhen });
    await session.hold((messages) => agent.generate({ messages }));
    expect(requests).toHaveLength(3);
    expect(decisions.map(({ textKind }) => textKind)).toEqual([
      'iteration-budget',
      'iteration-budget',
      null,
    ]);
  });
});

describe('the todo tools', () => {
  it("M3: a model's mistake is an answer, not an exception", async () => {
    const { tools } = await createLibraryStage().open();
    expect(await tools.complete_todo.execute({ todoId: 'x', outcome: 'done' })).toEqual({
      error:
        'There is no todo with the id "x" in this plan; list_todo shows the ids. Nothing changed.',
    });
    expect(await tools.create_todo.execute('nonsense')).toHaveProperty('error');
  });

  it('15: in the format of each API, with the same schema', async () => {
    const { tools, toolsFor } = await createLibraryStage().open();
    const { description, inputSchema } = tools.complete_todo;
    const schema = JSON.parse(JSON.stringify(inputSchema));
    const name = 'complete_todo';
    expect(toolsFor('openai')[2]).toEqual({
      type: 'function',
      function: { name, description, parameters: schema },
    });
    expect(toolsFor('anthropic')[2]).toEqual({ name, description, input_schema: schema });
    expect(toolsFor('json-schema')[2]).toEqual({
      name,
      description,
      inputSchema: schema,
    });
    expect(schema.required).toEqual(['todoId', 'outcome']);
    expect(toolsFor('anthropic').map((tool) => tool.name)).toEqual(Object.keys(tools));
  });
});

describe('what goes wrong', () => {
  const wrong: [string, object, string][] = [
    [
      'a blank goal',
      { goal: ' ' },
      'openSession: goal: must be a text that is not blank, got " "',
    ],
    [
      'an empty check',
      { checks: ['npm test', ''] },
      'openSession: checks[1]: must be a text that is not blank, got ""',
    ],
    [
      'one check alone',
      { checks: 'npm test' },
      'openSession: checks: must be a list, got "npm test"',
    ],
    [
      'a slip',
      { gaol: 'x' },
      'openSession: gaol: is not a setting; did you mean "goal"?',
    ],
    [
      'a setting',
      { settings: { maxStagnant: -1 } },
      'openSession: settings.maxStagnant: must be a whole number',
    ],
    [
      'a slip in settings',
      { settings: { ceilng: 3 } },
      'openSession: settings.ceilng: is not a setting; did you mean "ceiling"?',
    ],
    [
      'no folder',
      { directory: '/nowhere/at/all' },
      'openSession: directory: "/nowhere/at/all" cannot be opened (ENOENT)',
    ],
    ['no signal', { signal: 5 }, 'openSession: signal: must be an AbortSignal, got 5'],
    [
      'no store',
      { store: {} },
      'openSession: store: must be a path, ":memory:" or a store, got an object',
    ],
    [
      'no function',
      { onDecision: 'log' },
      'openSession: onDecision: must be a function, got "log"',
    ],
  ];
  it.each(wrong)(
    '15: %s is told in one sentence with its path',
    async (_what, options, sentence) => {
      await expect(createLibraryStage().open(options)).rejects.toThrow(sentence);
    },
  );

  it('15: so is what is wrong with a stop, an event, or what hold is given', async () => {
    const session = await createLibraryStage().open({ goal: 'go' });
    await expect(session.stop({ end: 'done' as never })).rejects.toThrow(
      'stop: end: must be one of normal',
    );
    await expect(session.stop({ text: 5 as never })).rejects.toThrow(
      'stop: text: must be a text, got 5',
    );
    await expect(
      session.tell({ type: 'tool-ended', tool: 'x' } as never),
    ).rejects.toThrow(
      'tell: This tool-ended event is not valid: access must be one of read, write, todo, unknown, got nothing',
    );
    await expect(session.tell({ type: 'stop-attempted' } as never)).rejects.toThrow(
      'This stop-attempted event',
    );
    await expect(session.hold((async () => {}) as never)).rejects.toThrow(
      'hold: the function must return what the agent answered',
    );
    const mute = await createLibraryStage().open();
    await expect(mute.hold(async (_messages) => 'Done.')).rejects.toThrow(
      'give openSession a goal',
    );
  });

  it('C1: a broken configuration is told instead of holding nobody', async () => {
    const { open, environment, put } = createLibraryStage();
    await expect(
      open({ environment: { ...environment, UNTILDONE_MODE: 'loud' } }),
    ).rejects.toThrow('UNTILDONE_MODE');
    put('untildone.json', '{ "mode": "off" }');
    const notices: string[] = [];
    const session = await open({ onNotice: (sentence) => notices.push(sentence) });
    expect(notices.join()).toContain('untildone trust');
    await planned(session, 'a');
    expect((await session.stop()).answer).toBe('continue');
  });

  it('G9: what the agent rejects with is the program’s, and the outcome says that it failed', async () => {
    const { open } = createLibraryStage();
    const { model } = await startModel(
      plan('a'),
      fail(400, { message: 'no such parameter' }),
    );
    const session = await open({ goal: 'go' });
    const agent = new ToolLoopAgent({ model, tools: session.tools, maxRetries: 0 });
    await expect(
      session.hold((messages) => agent.generate({ messages })),
    ).rejects.toThrow('no such parameter');
    expect(session.outcome).toBe('failed');
    expect(session.plan.map(({ title }) => title)).toEqual(['a']);
  });

  it('C4: a listener that throws changes no decision, and is told', async () => {
    const notices: string[] = [];
    const session = await createLibraryStage().open({
      onDecision: () => Promise.reject(new Error('no disk')),
      onNotice: (sentence) => notices.push(sentence),
    });
    await planned(session, 'a');
    expect((await session.stop()).answer).toBe('continue');
    expect(notices).toEqual(['onDecision: no disk']);
  });
});

describe('an agent that calls a tool of its own', () => {
  it('15: sees `watch` and the todo tools together', async () => {
    const { open, put } = createLibraryStage();
    const { model } = await startModel(
      plan('a'),
      callTool('write_file', { path: 'a.txt' }),
      complete('a'),
      say('Done.'),
    );
    const session = await open({ goal: 'go', checks: ['test -f a.txt'] });
    const { tool, jsonSchema } = await import('ai');
    const write_file = tool({
      inputSchema: jsonSchema<{ path: string }>({
        type: 'object',
        properties: { path: { type: 'string' } },
      }),
      execute: async ({ path }) => put(path, 'a'),
    });
    const agent = new ToolLoopAgent({
      model,
      tools: { ...session.tools, ...session.watch({ write_file }) },
    });
    await session.hold((messages) => agent.generate({ messages }));
    expect(session.outcome).toBe('done');
  });
});

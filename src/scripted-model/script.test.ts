// Scripts played against a small client that keeps a history and a todo list, without
// HTTP: what survives trimming, killing, restarting and telling the same story twice.
import { describe, expect, it } from 'vitest';
import {
  after,
  always,
  blockTodo,
  bulkClaim,
  callTool,
  cancel,
  complete,
  drop,
  duplicateWrite,
  empty,
  fail,
  firstOf,
  listTodos,
  parallel,
  pause,
  plan,
  react,
  repeat,
  reword,
  rewriteList,
  runCommand,
  say,
  stall,
  start,
  theNamed,
  theNext,
  thinkOnly,
  toggle,
  untilAllDone,
  verify,
  when,
  whenContinued,
  whenNamed,
  whenTold,
  whenToolFailed,
  withUsage,
  writeFile,
} from './index.ts';
import {
  isTraceless,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  message,
} from './model.ts';
import {
  answerRequest,
  type Script,
  type ScriptMemory,
  script,
  writeCallId,
} from './script.ts';

interface Todo {
  readonly id: string;
  readonly title: string;
  status: string;
}

const OURS = [
  'create_todo',
  'complete_todo',
  'update_todo',
  'list_todo',
  'todo_write',
  'todo_pause',
  'todo_verify',
];

/** A client of the model with our todo tools, in memory. */
class Client {
  readonly todos: Todo[] = [];
  history: ModelMessage[];
  memory: ScriptMemory | undefined;
  readonly script: Script;
  readonly tools: readonly string[];
  keepsLast = Number.POSITIVE_INFINITY;
  #serial = 0;

  constructor(told: Script, tools: readonly string[] = OURS, prompt = 'go') {
    this.script = told;
    this.tools = tools;
    this.history = [message('user', { text: prompt })];
  }

  #request(): ModelRequest {
    const [first, ...rest] = this.history;
    return {
      protocol: 'openai-chat',
      model: 'scripted',
      system: '',
      messages: first ? [first, ...rest.slice(-this.keepsLast)] : [],
      tools: this.tools.map((name) => ({ name, schema: {} })),
      stream: true,
      wantsUsage: true,
      marksCache: true,
    };
  }

  /**
   * One model call whose reply never reaches the history: the client was killed, or will
   * try again.
   */
  peek(): ReturnType<typeof answerRequest> {
    this.#serial += 1;
    const answer = answerRequest(
      { script: this.script, from: 0 },
      this.#request(),
      `s${this.#serial}`,
      this.memory,
    );
    this.memory = answer.memory;
    return answer;
  }

  step(): ModelReply {
    const { reply, position } = this.peek();
    const anchor = { conversation: 'k', serial: `s${this.#serial}`, position };
    const toolCalls = (reply.calls ?? []).map((call, index) => ({
      ...call,
      id: writeCallId(anchor, index),
    }));
    if (!isTraceless(reply))
      this.history.push(message('assistant', { text: reply.text ?? '', toolCalls }));
    const toolResults = toolCalls.map((call) => ({
      id: call.id,
      ...this.#run(call.name, call.input),
    }));
    if (toolResults.length > 0) this.history.push(message('tool', { toolResults }));
    return reply;
  }

  /** Steps until the model stops; returns the names of all calls made. */
  turn(text?: string): string[] {
    if (text !== undefined) this.history.push(message('user', { text }));
    const names: string[] = [];
    for (let steps = 0; steps < 60; steps += 1) {
      const { calls = [] } = this.step();
      if (calls.length === 0) return names;
      names.push(...calls.map((call) => call.name));
    }
    throw new Error('the model never stopped');
  }

  statuses(): Record<string, string> {
    return Object.fromEntries(this.todos.map((todo) => [todo.title, todo.status]));
  }

  #run(name: string, input: unknown): { text: string; isError: boolean } {
    const args = input as {
      items?: { title: string }[];
      todoId?: string;
      status?: string;
    };
    const answer = (value: unknown) => ({ text: JSON.stringify(value), isError: false });
    if (name === 'create_todo') {
      const created = (args.items ?? []).map(({ title }) => {
        const todo = { id: `id-${this.todos.length + 1}`, title, status: 'pending' };
        this.todos.push(todo);
        return todo;
      });
      return answer({ created: created.map(({ id, title }) => ({ id, title })) });
    }
    if (name === 'list_todo')
      return answer({ items: this.todos, summary: { total: this.todos.length } });
    if (name === 'complete_todo' || name === 'update_todo') {
      const todo = this.todos.find((candidate) => candidate.id === args.todoId);
      if (!todo) return { text: `Error: there is no todo ${args.todoId}`, isError: true };
      todo.status = args.status ?? 'completed';
      return answer(todo);
    }
    return {
      text: name === 'broken' ? 'Error: it broke' : 'ok',
      isError: name === 'broken',
    };
  }
}

const lastInput = (client: Client) =>
  client.history.findLast((entry) => entry.toolCalls.length > 0)?.toolCalls[0]?.input;

describe('a story in steps', () => {
  it('P1: quits early, goes on when continued, and ends', () => {
    const client = new Client(
      script('quits', [
        plan('A', 'B', 'C'),
        complete('A'),
        say("I'm done!"),
        whenContinued(complete(theNext), say('Done again!')),
        whenContinued(complete(theNamed)),
        say('Finished.'),
      ]),
    );
    expect(client.turn()).toEqual(['create_todo', 'complete_todo']);
    expect(client.turn('Go on.')).toEqual(['complete_todo']);
    expect(client.turn('The todo "C" is open.')).toEqual(['complete_todo']);
    expect(client.statuses()).toEqual({ A: 'completed', B: 'completed', C: 'completed' });
    expect(client.history.at(-1)?.text).toBe('Finished.');
  });

  it('skips what was meant for a continuation when none came', () => {
    const client = new Client(
      script('x', [
        callTool('read'),
        whenContinued(say('continued')),
        say('not continued'),
      ]),
    );
    client.turn();
    expect(client.history.at(-1)?.text).toBe('not continued');
  });

  it('is not continued by a message that follows its own tool calls', () => {
    const client = new Client(
      script('x', [callTool('read'), whenContinued(say('continued')), say('working')]),
    );
    client.step();
    client.history.push(message('user', { text: 'Plan: nothing yet' }));
    expect(client.step().text).toBe('working');
  });

  it('answers to the todo that was named, by title or by id', () => {
    const told = script('x', [
      plan('Alpha todo', 'Beta todo'),
      say('stop'),
      firstOf(whenNamed('Beta todo', complete('Beta todo')), say('not named')),
      say('end'),
    ]);
    const byTitle = new Client(told);
    byTitle.turn();
    byTitle.turn('next is: beta  TODO');
    expect(byTitle.statuses()).toEqual({
      'Alpha todo': 'pending',
      'Beta todo': 'completed',
    });
    const byId = new Client(told);
    byId.turn();
    byId.turn('next is id-2');
    expect(byId.statuses()['Beta todo']).toBe('completed');
    const neither = new Client(told);
    neither.turn();
    neither.turn('go on');
    expect(neither.history.at(-1)?.text).toBe('not named');
  });

  it('reacts to words and to tools that failed', () => {
    const client = new Client(
      script('x', [
        callTool('broken'),
        whenToolFailed(callTool('retry')),
        say('stop'),
        whenTold(/yes/, say('ok then')),
      ]),
    );
    expect(client.turn()).toEqual(['broken', 'retry']);
    client.turn('yes, please');
    expect(client.history.at(-1)?.text).toBe('ok then');
  });

  it('repeats, always, and says that it is over when it is', () => {
    const counted = new Client(
      script('x', [repeat(2, callTool('a'), callTool('b')), say('end')]),
    );
    expect(counted.turn()).toEqual(['a', 'b', 'a', 'b']);
    const endless = new Client(script('x', [always(callTool('a'))]));
    expect([1, 2, 3, 4].map(() => endless.step().calls?.[0]?.name)).toEqual([
      'a',
      'a',
      'a',
      'a',
    ]);
    expect([counted.turn('more?'), counted.history.at(-1)?.text]).toEqual([
      [],
      'That is all.',
    ]);
  });

  it('P17: says so when it has no todo tool', () => {
    expect(new Client(script('x', [plan('A')]), ['read']).step()).toMatchObject({
      text: 'I have no todo tool.',
    });
  });
});

describe('what models do to their todos', () => {
  const planned = (...steps: Parameters<typeof script>[1]) => {
    const client = new Client(script('x', [plan('Alpha', 'Beta', 'Gamma'), ...steps]));
    client.step();
    return client;
  };

  it('P2: claims all open todos in one reply', () => {
    const client = planned(bulkClaim());
    expect(client.step().calls?.map((call) => call.name)).toEqual([
      'complete_todo',
      'complete_todo',
      'complete_todo',
    ]);
    expect(Object.values(client.statuses())).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('P3: drops one by leaving it out, and rewords one by writing it anew', () => {
    const client = planned(drop('Beta'), reword('Gamma', 'Gamma, but easier'));
    client.step();
    expect(lastInput(client)).toEqual({
      todos: [
        { id: 'id-1', content: 'Alpha', status: 'pending' },
        { id: 'id-3', content: 'Gamma', status: 'pending' },
      ],
    });
    client.step();
    expect(lastInput(client)).toMatchObject({
      todos: [{ content: 'Alpha' }, { content: 'Gamma, but easier' }],
    });
  });

  it('P4: writes the same list twice', () => {
    const client = planned(duplicateWrite(), duplicateWrite());
    client.step();
    const first = lastInput(client);
    client.step();
    expect(lastInput(client)).toEqual(first);
  });

  it('P5: toggles for ever', () => {
    const client = planned(always(toggle('Alpha')));
    const seen = [1, 2, 3, 4].map(() => {
      client.step();
      return client.statuses()['Alpha'];
    });
    expect(seen).toEqual(['in_progress', 'pending', 'in_progress', 'pending']);
  });

  it('P11: blocks one with a reason; M6: pauses', () => {
    const client = planned(
      start('Alpha'),
      blockTodo('Alpha', 'no network'),
      pause('I need a human'),
    );
    client.step();
    client.step();
    expect(lastInput(client)).toEqual({
      todoId: 'id-1',
      status: 'blocked',
      reason: 'no network',
    });
    client.step();
    expect(lastInput(client)).toEqual({ reason: 'I need a human' });
  });

  it('cancels, verifies, lists and rewrites, each in its own tool', () => {
    const client = planned(
      cancel('Alpha', 'not needed'),
      verify('Beta'),
      listTodos(),
      rewriteList((todos) => todos.slice(0, 1)),
    );
    const inputs = [1, 2, 3, 4].map(() => client.step().calls?.[0]);
    expect(inputs).toEqual([
      {
        name: 'complete_todo',
        input: { todoId: 'id-1', outcome: 'not needed', status: 'cancelled' },
      },
      { name: 'todo_verify', input: { todoId: 'id-2' } },
      { name: 'list_todo', input: { status: 'all' } },
      {
        name: 'todo_write',
        input: { todos: [{ id: 'id-1', content: 'Alpha', status: 'cancelled' }] },
      },
    ]);
  });

  it('chooses a step by a function, and carries delays and exact usage', () => {
    const usage = { inputTokens: 1, cachedTokens: 0, outputTokens: 2, thinkingTokens: 0 };
    const client = planned(
      react(({ todos }) =>
        todos.length === 3 ? withUsage(usage, after(5, say('three'))) : undefined,
      ),
      react(() => undefined),
      say('end'),
    );
    expect(client.step()).toEqual({
      text: 'three',
      finish: 'stop',
      usage,
      delays: { beforeMs: 5 },
    });
    expect(client.step().text).toBe('end');
  });

  it('completes two in one reply, where one list must show both', () => {
    const listed = new Client(
      script('x', [plan('A', 'B'), parallel(complete('A'), complete('B'))]),
      ['todowrite'],
    );
    listed.step();
    listed.step();
    const calls =
      listed.history.findLast((entry) => entry.toolCalls.length > 0)?.toolCalls ?? [];
    expect(calls[1]?.input).toMatchObject({
      todos: [{ status: 'completed' }, { status: 'completed' }],
    });
  });

  it('looks the list up when it was never told an id, as for a plan that a human made', () => {
    const client = new Client(
      script('x', [untilAllDone((title) => [complete(title)]), say('end')]),
    );
    client.todos.push({ id: 'h-1', title: 'By hand', status: 'pending' });
    expect(client.turn()).toEqual(['list_todo', 'complete_todo']);
    expect(client.statuses()).toEqual({ 'By hand': 'completed' });
  });

  it('works with files and shells under the names that the schema gives', () => {
    const client = new Client(script('x', [writeFile('a.txt', 'A'), runCommand('ls')]), [
      'Write',
      'Bash',
    ]);
    expect(client.step().calls).toEqual([
      { name: 'Write', input: { path: 'a.txt', content: 'A' } },
    ]);
    expect(client.step().calls).toEqual([{ name: 'Bash', input: { command: 'ls' } }]);
  });
});

describe('the place in the story', () => {
  const worker = (count: number) =>
    script('worker', [
      plan(...Array.from({ length: count }, (_, index) => `Todo number ${index}`)),
      untilAllDone((title) => [callTool('read'), complete(title), say('Done with one.')]),
      say('All done.'),
    ]);

  function drain(client: Client, prompts = 250): void {
    client.turn();
    for (
      let prompt = 0;
      prompt < prompts && client.history.at(-1)?.text !== 'All done.';
      prompt += 1
    ) {
      client.turn('go on');
    }
  }

  it('P30: 200 todos, one per stop, drain although the client keeps only the last 12 messages', () => {
    const client = new Client(worker(200));
    client.keepsLast = 12;
    drain(client);
    expect(new Set(Object.values(client.statuses()))).toEqual(new Set(['completed']));
    expect(client.todos).toHaveLength(200);
  });

  it('survives a server that forgets everything before every request', () => {
    const client = new Client(worker(20));
    for (
      let steps = 0;
      steps < 500 && client.history.at(-1)?.text !== 'All done.';
      steps += 1
    ) {
      client.memory = undefined;
      client.step();
      if (client.history.at(-1)?.text === 'Done with one.')
        client.history.push(message('user', { text: 'go on' }));
    }
    expect(Object.values(client.statuses())).toEqual(Array(20).fill('completed'));
    expect(client.history.flatMap((entry) => entry.toolCalls)).toHaveLength(1 + 2 * 20);
  });

  it('V5: a client killed at any reply comes back to the same step', () => {
    const client = new Client(worker(5));
    for (
      let steps = 0;
      steps < 100 && client.history.at(-1)?.text !== 'All done.';
      steps += 1
    ) {
      const lost = client.peek().reply;
      expect(client.step()).toEqual(lost);
      if (client.history.at(-1)?.text === 'Done with one.')
        client.history.push(message('user', { text: 'go on' }));
    }
    expect(Object.values(client.statuses())).toEqual(Array(5).fill('completed'));
  });

  it('replays the history where no call id came back', () => {
    const client = new Client(script('x', [say('one'), say('two'), say('three')]));
    client.turn();
    client.turn('go on');
    client.memory = undefined;
    client.turn('go on');
    expect(
      client.history
        .filter((entry) => entry.role === 'assistant')
        .map((entry) => entry.text),
    ).toEqual(['one', 'two', 'three']);
  });

  it('gives failures, silence and mere thoughts once each, although the history shows none of them', () => {
    const client = new Client(
      script('x', [
        callTool('a'),
        fail(500),
        empty(),
        thinkOnly(),
        stall(),
        say('at last'),
      ]),
    );
    client.step();
    const replies = [1, 2, 3, 4, 5].map(() => client.step());
    expect(
      replies.map(
        (reply) => reply.error?.kind ?? reply.breakage?.kind ?? reply.text ?? 'nothing',
      ),
    ).toEqual(['server-error', 'nothing', 'nothing', 'stall', 'at last']);
  });

  it('takes the beginning of a broken answer, which some clients keep, for that answer', () => {
    const client = new Client(
      script('x', [
        callTool('a'),
        stall({ text: 'I was saying something' }),
        say('next'),
      ]),
    );
    client.step();
    client.step();
    client.history.push(
      message('assistant', { text: 'I was say' }),
      message('user', { text: 'go on' }),
    );
    client.memory = undefined;
    expect(client.step().text).toBe('next');
  });

  it('does not take for its own what a host puts in the place of an answer that broke off', () => {
    const client = new Client(
      script('x', [callTool('a'), fail(400, { times: 3 }), say('next')]),
    );
    client.step();
    client.step();
    const text = '[The previous response was interrupted before it completed.]';
    client.history.push(
      message('assistant', { text }),
      message('user', { text: 'go on' }),
    );
    expect(
      [1, 2, 3]
        .map(() => client.step())
        .map(({ error, text: said }) => error?.status ?? said),
    ).toEqual([400, 400, 'next']);
  });

  it.each([
    ['of a few steps', [fail(500), callTool('a'), say('end')]],
    ['of one answer', [fail(500), say('end')]],
  ])(
    'tells a story %s anew to a client that begins anew with the same words',
    (_length, steps) => {
      const client = new Client(script('x', steps));
      const tell = () =>
        steps.map(() => client.step()).map((reply) => reply.error?.kind ?? reply.finish);
      const once = tell();
      expect(once[0]).toBe('server-error');
      client.history = [message('user', { text: 'go' })];
      expect(tell()).toEqual(once);
    },
  );

  it('counts its own replies with the server cursor, whatever the client does to the history', () => {
    const client = new Client(
      script('x', [callTool('a'), say('one'), say('two')], { cursor: 'server' }),
    );
    client.step();
    client.history = [message('user', { text: 'A summary of what happened.' })];
    expect(client.step().text).toBe('one');
    client.history = [message('user', { text: 'Another summary.' })];
    expect(client.step().text).toBe('two');
  });

  it('plans again, if the script says so, when the call that planned was lost', () => {
    const noPlan = when(({ todos }) => todos.length === 0, plan('A'));
    const client = new Client(script('x', [noPlan, repeat(2, noPlan), complete('A')]));
    const { position } = client.peek();
    const id = writeCallId({ conversation: 'k', serial: 's1', position }, 0);
    client.history.push(
      message('assistant', { toolCalls: [{ id, name: 'create_todo', input: {} }] }),
      message('tool', { toolResults: [{ id, text: 'interrupted', isError: true }] }),
    );
    expect(client.turn()).toEqual(['create_todo', 'complete_todo']);
  });
});

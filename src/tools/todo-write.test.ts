import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { defaultSettings, type Settings } from '../core/settings.ts';
import type { Todo } from '../core/todo.ts';
import { sha256 } from '../engine/system.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import type { TodoToolName, ToolResult } from './todo-tools.ts';
import { createTodoTools } from './todo-tools.ts';

interface ListOutput {
  readonly todos: readonly {
    readonly id: string;
    readonly content: string;
    readonly status: string;
  }[];
  readonly remaining: number;
  readonly refused: readonly {
    readonly item: number;
    readonly code: string;
    readonly message: string;
  }[];
  readonly notices: readonly string[];
}

async function openSession(settings: Partial<Settings> = {}) {
  const clock = createSimulatedClock();
  const identifiers = createSequentialIdentifiers();
  const store = createMemoryStore();
  const policy = () => ({
    settings: { ...defaultSettings, ...settings },
    goalChecks: [],
  });
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers,
    hash: sha256,
    policy,
  });
  await host.open();
  await host.says('Please do the work.');
  const context = {
    engine: host.runtime,
    store,
    sessionId: host.sessionId,
    actor: 'agent',
    clock,
    identifiers,
  } as const;
  const tools = new Map(createTodoTools(context).map((tool) => [tool.name, tool]));
  const call = async (name: TodoToolName, input: unknown): Promise<ToolResult> => {
    await clock.advance(10);
    return tools.get(name)!.call(input);
  };
  const write = async (...todos: unknown[]): Promise<ListOutput> => {
    const items = todos.map((todo) =>
      typeof todo === 'string' ? { content: todo, status: 'pending' } : todo,
    );
    const result = await call('todo_write', { todos: items });
    if (!result.ok) throw new Error(result.error.message);
    return result.output as unknown as ListOutput;
  };
  const rows = async (): Promise<readonly Todo[]> =>
    store.todos({ planId: host.sessionId });
  const ledger = async (): Promise<string[]> =>
    (await store.ledger(host.sessionId)).map(({ change }) => change);
  return { host, call, write, rows, ledger };
}

describe('todo_write', () => {
  it('M5: answers with the list in the shape it takes, what remains, what was refused, and notices', async () => {
    const { write } = await openSession();
    expect(
      await write('Build', { content: 'Ship', status: 'in_progress', priority: 'high' }),
    ).toEqual({
      todos: [
        {
          id: expect.any(String),
          content: 'Build',
          status: 'pending',
          priority: 'medium',
        },
        {
          id: expect.any(String),
          content: 'Ship',
          status: 'in_progress',
          priority: 'high',
        },
      ],
      remaining: 2,
      refused: [],
      notices: [],
    });
  });

  it('M5: matches by id first, then by title', async () => {
    const { write } = await openSession();
    const { todos } = await write('Build', 'Ship');
    const [build, ship] = todos;
    const after = await write(
      { id: ship?.id, content: 'Deliver everything', status: 'pending' },
      'BUILD.',
    );
    expect(after.todos.map(({ id }) => id)).toEqual([ship?.id, build?.id]);
    expect(after.todos.map(({ content }) => content)).toEqual([
      'Deliver everything',
      'Build',
    ]);
  });

  it('M5, V4: a reworded todo keeps its id', async () => {
    const { write, ledger } = await openSession();
    const { todos } = await write('Start', 'パーサーのテストを書く', 'End');
    const after = await write('Start', 'パーサーの単体テストを書く', 'End');
    expect(after.todos.map(({ id }) => id)).toEqual(todos.map(({ id }) => id));
    expect((await ledger()).at(-1)).toBe('reworded');
  });

  it('M5: a list equal to the current one gives a notice that names the active todo', async () => {
    const { write, call, ledger } = await openSession();
    await write('Build', { content: 'Ship', status: 'in_progress' });
    const again = await write('Build', { content: 'Ship', status: 'in_progress' });
    expect(again.notices).toEqual([expect.stringContaining('active todo is "Ship"')]);
    expect((await ledger()).at(-1)).toBe('duplicate-write');
    const read = await call('todo_read', {});
    if (!read.ok) throw new Error(read.error.message);
    const echoed = await write(...(read.output['todos'] as unknown[]));
    expect(echoed.notices).toEqual([expect.stringContaining('active todo is "Ship"')]);
  });

  it('V4: what is left out stays open and is told; put back it is restored', async () => {
    const { write } = await openSession();
    await write('Build', 'Ship');
    const dropped = await write('Build');
    expect(dropped).toMatchObject({
      remaining: 2,
      todos: [
        { content: 'Build' },
        { content: 'Ship', status: 'pending', dropped: true },
      ],
      notices: [expect.stringContaining('still open: “Ship”')],
    });
    const restored = await write('Build', 'Ship');
    expect(restored.notices).toEqual([]);
    expect(restored.todos[1]).not.toHaveProperty('dropped');
  });

  it('V4: dropped, named in one continuation, left out again: cancelled-unexplained, at best claimed', async () => {
    const { host, write, rows } = await openSession();
    await write('Build', 'Ship');
    await write('Build');
    const stop = await host.stops();
    expect(stop.decision).toMatchObject({
      answer: 'continue',
      textKind: 'dropped-todos',
    });
    expect(stop.answer?.text).toContain('“Ship”');
    const again = await write('Build');
    expect(again.notices).toEqual([
      expect.stringContaining('cancelled without a reason: “Ship”'),
    ]);
    expect(await rows()).toMatchObject([
      { status: 'pending' },
      { status: 'cancelled', reason: null },
    ]);
    await host.works();
    await write({ content: 'Build', status: 'completed' });
    expect((await host.stops()).decision).toMatchObject({
      answer: 'let-go',
      outcome: 'claimed',
    });
  });

  it('V4: cancelled without a reason is dropped; with a reason it is over', async () => {
    const { write } = await openSession();
    await write('Build', 'Ship');
    const after = await write(
      { content: 'Build', status: 'cancelled' },
      { content: 'Ship', status: 'cancelled', reason: 'no need' },
    );
    expect(after).toMatchObject({
      remaining: 1,
      todos: [
        { status: 'pending', dropped: true },
        { status: 'cancelled', reason: 'no need' },
      ],
      notices: [expect.stringContaining('“Build”')],
    });
  });

  it('T6: bad items are refused one by one; what they stand for stays untouched', async () => {
    const { write, rows } = await openSession();
    const { todos } = await write('Build', 'Ship', 'Rest');
    const before = await rows();
    const after = await write(
      { id: todos[0]?.id, content: 7, status: 'pending' },
      { content: 'Ship', status: ['completed'] },
      { content: 'Rest', status: {} },
      null,
      { status: 'pending' },
      'New',
    );
    expect(after.refused).toMatchObject([
      { item: 1, message: 'Item 1: "content" must be a text, got 7.' },
      { item: 2, message: 'Item 2: "status" must be a text, got a list of 1.' },
      { item: 3, code: 'invalid-item' },
      { item: 4, message: 'Item 4 must be an object with content, status, got null.' },
      { item: 5, code: 'no-title' },
    ]);
    expect((await rows()).slice(0, 3)).toEqual(before);
    expect(after.todos.map(({ content }) => content)).toEqual([
      'Build',
      'Ship',
      'Rest',
      'New',
    ]);
  });

  it.each([
    ['no list', { todos: 'Build' }],
    ['no input', undefined],
    ['a list as input', [{ content: 'Build' }]],
    [
      'an id twice',
      {
        todos: [
          { id: 'x', content: 'A', status: 'pending' },
          { id: 'x', content: 'B', status: 'pending' },
        ],
      },
    ],
    [
      'too many',
      {
        todos: Array.from({ length: 4 }, (_, index) => ({
          content: `Part ${index}`,
          status: 'pending',
        })),
      },
    ],
  ])(
    'T6: %s is refused as a whole and the last good plan stays',
    async (_what, input) => {
      const { call, write, rows } = await openSession({ maxTodos: 3 });
      await write('Build', 'Ship');
      const before = await rows();
      const result = await call('todo_write', input);
      expect(result.ok).toBe(false);
      expect(await rows()).toEqual(before);
    },
  );

  it('T6: many refusals are counted, not all listed', async () => {
    const { write } = await openSession();
    const after = await write(
      ...Array.from({ length: 50 }, () => ({ content: '', status: 'pending' })),
    );
    expect(after.refused).toHaveLength(20);
    expect(after.notices).toContain('30 more items were refused.');
  });

  it('a list of 10,000 is written, and of it 200 todos come back', async () => {
    const { write } = await openSession();
    const after = await write(
      ...Array.from({ length: 10_000 }, (_, index) => `Part ${index}`),
    );
    expect(after).toMatchObject({ remaining: 10_000, leftOut: 9800 });
    expect(after.todos).toHaveLength(200);
  });
});

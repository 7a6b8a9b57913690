import { describe, expect, it } from 'vitest';
import type { ToolOffer } from './model.ts';
import {
  expressIntention,
  type FamilyName,
  familyFor,
  type Intention,
  type KnownTodos,
  learnFromCall,
} from './todo-families.ts';

const offers = (...names: readonly string[]): readonly ToolOffer[] =>
  names.map((name) => ({ name, schema: {} }));
const result = (text: string, isError = false) => ({ id: 'c', text, isError });

const TODOS: KnownTodos = [
  { id: '1', title: 'Write parser', status: 'completed' },
  { id: '2', title: 'Write tests', status: 'pending' },
];

function express(
  tools: readonly ToolOffer[],
  intention: Intention,
  todos: KnownTodos = [],
) {
  const family = familyFor(tools);
  return family && expressIntention(family, intention, todos, tools);
}

describe('which tools are offered decides the family', () => {
  it.each<[string, FamilyName]>([
    ['create_todo', 'untildone'],
    ['mcp__plugin_untildone_untildone__create_todo', 'untildone'],
    ['mcp_untildone_create_todo', 'untildone'],
    ['untildone-create_todo', 'untildone'],
    ['TaskCreate', 'claude-tasks'],
    ['TodoWrite', 'claude-list'],
    ['todowrite', 'opencode'],
    ['update_plan', 'codex'],
    ['write_todos', 'gemini'],
    ['todo_write', 'todo-write'],
    ['sql', 'sql'],
  ])('%s means %s', (tool, family) => {
    expect(familyFor(offers('read', tool))?.name).toBe(family);
  });

  it('prefers our tools where both are offered, unless the script asks for the other', () => {
    const both = offers('TaskCreate', 'mcp__untildone__create_todo');
    expect(familyFor(both)?.name).toBe('untildone');
    expect(familyFor(both, 'claude-tasks')?.name).toBe('claude-tasks');
  });

  it('finds none in the name of an unrelated tool', () => {
    expect(familyFor(offers('recreate_todo', 'read'))).toBeUndefined();
  });
});

describe('a plan and a completion in the words of each family', () => {
  const create: Intention = { kind: 'create', items: [{ title: 'Write docs' }] };
  const finish: Intention = {
    kind: 'set',
    todo: TODOS[1]!,
    status: 'completed',
    note: 'All green',
  };

  it('LangChain: by the name of Gemini’s tool, with the key that its schema has', () => {
    const items = {
      properties: { content: { type: 'string' }, status: { type: 'string' } },
    };
    const schema = { properties: { todos: { type: 'array', items } } };
    expect(express([{ name: 'write_todos', schema }], create)).toEqual([
      {
        name: 'write_todos',
        input: { todos: [{ content: 'Write docs', status: 'pending' }] },
      },
    ]);
  });

  it('Copilot CLI: in SQL, with quotes doubled, and what it wrote is what it knows', () => {
    const tools = offers('sql');
    const titled: Intention = {
      kind: 'create',
      items: [{ title: "Don't; stop" }, { title: 'Write docs' }],
    };
    const [made] = express(tools, titled) ?? [];
    expect(made?.input).toMatchObject({
      query: expect.stringContaining("('todo-1', 'Don''t; stop', '', 'pending')"),
    });
    const known = learnFromCall([], made!, result('2 row(s) inserted.'));
    expect(known).toMatchObject([
      { id: 'todo-1', title: "Don't; stop" },
      { id: 'todo-2', title: 'Write docs' },
    ]);
    const [done] =
      express(
        tools,
        { kind: 'set', todo: known[0]!, status: 'completed', note: '' },
        known,
      ) ?? [];
    expect(done?.input).toMatchObject({
      query: "UPDATE todos SET status = 'done' WHERE id = 'todo-1'",
    });
    const after = learnFromCall(known, done!, result('1 row(s) updated.'));
    expect(after.map(({ status }) => status)).toEqual(['completed', 'pending']);
    expect(learnFromCall(known, done!, result('SQL Error', true))).toEqual(known);
    const [gone] = express(tools, { kind: 'write', todos: [after[0]!] }, after) ?? [];
    expect(gone?.input).toMatchObject({ query: "DELETE FROM todos WHERE id = 'todo-2'" });
    const [read] = express(tools, { kind: 'list' }) ?? [];
    const table =
      '| id | title | status |\n| --- | --- | --- |\n| todo-9 | Old one | in_progress |';
    expect(learnFromCall([], read!, result(table))).toEqual([
      { id: 'todo-9', title: 'Old one', status: 'in_progress' },
    ]);
  });

  it('ours: one call per todo, by id, under the offered name', () => {
    const tools = offers('mcp__untildone__create_todo', 'mcp__untildone__complete_todo');
    expect(express(tools, create)).toEqual([
      {
        name: 'mcp__untildone__create_todo',
        input: { items: [{ title: 'Write docs' }] },
      },
    ]);
    expect(express(tools, finish, TODOS)).toEqual([
      {
        name: 'mcp__untildone__complete_todo',
        input: { todoId: '2', outcome: 'All green' },
      },
    ]);
  });

  it('Claude Code tasks: TaskCreate and TaskUpdate', () => {
    expect(express(offers('TaskCreate'), create)).toEqual([
      { name: 'TaskCreate', input: { subject: 'Write docs', description: 'Write docs' } },
    ]);
    expect(express(offers('TaskCreate'), finish, TODOS)).toEqual([
      { name: 'TaskUpdate', input: { taskId: '2', status: 'completed' } },
    ]);
  });

  it('Claude Code tasks: a whole list becomes its differences', () => {
    const write: Intention = {
      kind: 'write',
      todos: [{ id: '2', title: 'Test it', status: 'pending' }],
    };
    expect(express(offers('TaskCreate'), write, TODOS)).toEqual([
      { name: 'TaskUpdate', input: { taskId: '1', status: 'deleted' } },
      { name: 'TaskUpdate', input: { taskId: '2', subject: 'Test it' } },
    ]);
  });

  it.each([
    ['TodoWrite', { todos: [{ content: 'A', status: 'completed', activeForm: 'A' }] }],
    ['todowrite', { todos: [{ content: 'A', status: 'completed', priority: 'medium' }] }],
    ['update_plan', { plan: [{ step: 'A', status: 'completed' }] }],
    ['write_todos', { todos: [{ description: 'A', status: 'completed' }] }],
    ['todo_write', { todos: [{ content: 'A', status: 'completed' }] }],
  ])('%s: the whole list each time', (tool, input) => {
    const todo = { title: 'A', status: 'pending' } as const;
    const intention: Intention = { kind: 'set', todo, status: 'completed', note: '' };
    expect(express(offers(tool), intention, [todo])).toEqual([{ name: tool, input }]);
  });

  it('gives ids where the schema requires them, as Qwen Code does', () => {
    const schema = {
      properties: { todos: { items: { required: ['id', 'content', 'status'] } } },
    };
    expect(express([{ name: 'todo_write', schema }], create)).toEqual([
      {
        name: 'todo_write',
        input: { todos: [{ id: '1', content: 'Write docs', status: 'pending' }] },
      },
    ]);
  });

  it('leaves a cancelled todo out where the tool has no word for it, and keeps a blocked one pending', () => {
    const todos: KnownTodos = [
      { title: 'A', status: 'cancelled' },
      { title: 'B', status: 'blocked' },
    ];
    expect(express(offers('update_plan'), { kind: 'write', todos })).toEqual([
      { name: 'update_plan', input: { plan: [{ step: 'B', status: 'pending' }] } },
    ]);
  });
});

describe('what the results teach', () => {
  const learn = (
    todos: KnownTodos,
    name: string,
    input: unknown,
    text: string,
    isError = false,
  ) => learnFromCall(todos, { name, input }, result(text, isError));

  it('ids from create_todo, also when MCP wraps the JSON in text parts', () => {
    const json = JSON.stringify({
      created: [{ id: 'u-1', title: 'A', order: 1 }],
      totalPending: 1,
    });
    const wrapped = JSON.stringify({ content: [{ type: 'text', text: json }] });
    const expected = [{ id: 'u-1', title: 'A', status: 'pending' }];
    expect(learn([], 'create_todo', {}, json)).toEqual(expected);
    expect(learn([], 'mcp__untildone__create_todo', {}, wrapped)).toEqual(expected);
    expect(learn([], 'create_todo', {}, `Created:\n${json}\nGo on.`)).toEqual(expected);
  });

  it('the status that the system gave, not the one that was claimed', () => {
    const answer = JSON.stringify({
      id: '2',
      title: 'Write tests',
      status: 'in_progress',
      verification: 'failed',
    });
    expect(learn(TODOS, 'complete_todo', { todoId: '2' }, answer)[1]?.status).toBe(
      'in_progress',
    );
  });

  it('nothing from an error, a refusal in prose or a missing result', () => {
    expect(learn(TODOS, 'complete_todo', { todoId: '2' }, 'Unknown todo id.')).toBe(
      TODOS,
    );
    expect(
      learn(
        TODOS,
        'TaskUpdate',
        { taskId: '2', status: 'completed' },
        'denied by hook',
        true,
      ),
    ).toBe(TODOS);
    expect(
      learnFromCall(TODOS, { name: 'todowrite', input: { todos: [] } }, undefined),
    ).toBe(TODOS);
  });

  it('ids from the text of TaskCreate and the lines of TaskList', () => {
    const created = learn(
      [],
      'TaskCreate',
      { subject: 'A' },
      'Task #7 created successfully: A',
    );
    expect(created).toEqual([{ id: '7', title: 'A', status: 'pending' }]);
    expect(learn(created, 'TaskList', {}, '#7 [in_progress] A\n#8 [pending] B')).toEqual([
      { id: '7', title: 'A', status: 'in_progress' },
      { id: '8', title: 'B', status: 'pending' },
    ]);
  });

  it('a whole list replaces what was known, and keeps the ids', () => {
    const input = { todos: [{ content: 'Write tests', status: 'in_progress' }] };
    expect(learn(TODOS, 'todo_write', input, 'ok')).toEqual([
      { id: '2', title: 'Write tests', status: 'in_progress' },
    ]);
  });
});

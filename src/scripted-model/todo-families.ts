// How each family of todo tools says an intention, and what its results teach. Known
// todos are the model's own view.
import type { PlannedCall, ToolOffer, ToolResult } from './model.ts';
import { jsonWithin, recordOf, recordsOf, textOf } from './values.ts';

const statuses = ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'] as const;
export type TodoStatus = (typeof statuses)[number];

/** A todo as the model knows it from the conversation. */
export type KnownTodo = Readonly<{
  /** Whole-list tools may never tell it. */
  id?: string | undefined;
  title: string;
  status: TodoStatus;
}>;

export type KnownTodos = readonly KnownTodo[];

export type NewTodo = Readonly<{
  title: string;
  context?: string;
  completionCriteria?: string;
  agentType?: string;
  priority?: 'high' | 'medium' | 'low';
  order?: number;
  check?: unknown;
}>;

export type Intention = Readonly<
  | { kind: 'create'; items: readonly NewTodo[] }
  | { kind: 'set'; todo: KnownTodo; status: TodoStatus; note: string }
  | { kind: 'write'; todos: KnownTodos }
  | { kind: 'list' }
  | { kind: 'pause'; reason: string }
  | { kind: 'verify'; todo: KnownTodo | undefined }
>;

/** A family of todo tools that the model can speak. */
export type FamilyName = 'untildone' | 'claude-tasks' | 'sql' | keyof typeof wholeLists;

type Offered = (baseName: string) => ToolOffer | undefined;
type Calls = readonly PlannedCall[];
/**
 * What is left out cannot be said. Tools have base names: prefixes of MCP servers are put
 * on afterwards.
 */
type Sayings = {
  readonly [Kind in Intention['kind']]?: (
    intention: Extract<Intention, { kind: Kind }>,
    known: KnownTodos,
    offered: Offered,
  ) => Calls;
};

export type TodoFamily = Readonly<{
  name: FamilyName;
  /** A todo without a known id must be looked up first. */
  byId: boolean;
  /** The tool that tells that the family is there. */
  mark: string;
  say: Sayings;
}>;

export const isOpen = ({ status }: KnownTodo) =>
  status === 'pending' || status === 'in_progress';
export const normalised = (title: string) =>
  title.trim().replace(/\s+/g, ' ').toLowerCase();

/** Open todos before settled ones. */
export function findTodo(todos: KnownTodos, reference: string): KnownTodo | undefined {
  const wanted = normalised(reference);
  const ordered = [...todos.filter(isOpen), ...todos];
  return (
    ordered.find(({ id }) => id === reference) ??
    ordered.find(({ title }) => normalised(title) === wanted) ??
    ordered.find(({ title }) => normalised(title).includes(wanted))
  );
}

export const nextOpen = (todos: KnownTodos) =>
  todos.find(({ status }) => status === 'in_progress') ?? todos.find(isOpen);

export function firstNamed(todos: KnownTodos, text: string): KnownTodo | undefined {
  const haystack = normalised(text);
  const named = todos.filter(isOpen).flatMap((todo) => {
    const { title, id = '' } = todo;
    // Shorter ids stand in every text by chance.
    const names = id.length >= 4 ? [title, id] : [title];
    return names.map((name) => ({ todo, place: haystack.indexOf(normalised(name)) }));
  });
  const found = named.filter(({ place }) => place >= 0);
  return found.toSorted((one, other) => one.place - other.place)[0]?.todo;
}

const changed = (
  todos: KnownTodos,
  todo: KnownTodo,
  change: Partial<KnownTodo>,
): KnownTodos => todos.map((one) => (one === todo ? { ...one, ...change } : one));

/** Ids, once seen, stay. */
function merged(todos: KnownTodos, seen: KnownTodos): KnownTodos {
  return seen.reduce((known, entry) => {
    const isSame = ({ id, title }: KnownTodo) =>
      id && entry.id ? id === entry.id : normalised(title) === normalised(entry.title);
    const same = known.find(isSame);
    return same ? changed(known, same, entry) : known.concat(entry);
  }, todos);
}

const otherWords: Readonly<Record<string, TodoStatus>> = {
  done: 'completed',
  deleted: 'cancelled',
};
const readStatus = (word: unknown) =>
  statuses.find((status) => status === word) ?? otherWords[textOf(word)] ?? 'pending';

function readTodos(value: unknown): KnownTodos {
  const lists = Array.isArray(value) ? [value] : Object.values(recordOf(value));
  const entries = lists.flatMap((list) => recordsOf(list));
  return entries.flatMap(({ id, title, content, step, description, subject, status }) => {
    const named = textOf(title ?? content ?? step ?? description ?? subject);
    const known =
      typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
    return named === '' ? [] : [{ title: named, status: readStatus(status), ...known }];
  });
}

/** Without an id by its title: the tool then says that it knows no such id. */
const idOf = ({ id, title }: KnownTodo) => id ?? title;

/**
 * One tool writes the whole list: these families differ in names and status words only.
 */
type WholeList = Readonly<{
  tool: string;
  /** Default `todos` and `content`. */
  listKey?: string;
  titleKey?: string;
  /**
   * So many statuses are known; todos in others are left out (cancelled) or kept pending.
   */
  words: 3 | 4 | 5;
  extras?: (todo: KnownTodo) => object;
}>;

const wholeLists = {
  'claude-list': {
    tool: 'TodoWrite',
    words: 3,
    extras: ({ title }) => ({ activeForm: title }),
  },
  opencode: { tool: 'todowrite', words: 4, extras: () => ({ priority: 'medium' }) },
  codex: { tool: 'update_plan', words: 3, listKey: 'plan', titleKey: 'step' },
  gemini: { tool: 'write_todos', words: 5, titleKey: 'description' },
  // Qwen Code's tool, and ours where only the list style is offered.
  'todo-write': { tool: 'todo_write', words: 5 },
} satisfies Record<string, WholeList>;

function writeWholeList(shape: WholeList, todos: KnownTodos, offered: Offered): Calls {
  const { tool, listKey = 'todos', words, extras } = shape;
  const { required, properties } = recordOf(
    offered(tool)?.schema,
    'properties',
    listKey,
    'items',
  );
  // LangChain's tool has the name of Gemini's, and the key of most others.
  const titleKey =
    'content' in recordOf(properties) ? 'content' : (shape.titleKey ?? 'content');
  const mustHaveId = Array.isArray(required) && required.includes('id');
  const isKnown = ({ status }: KnownTodo) => statuses.indexOf(status) < words;
  const kept = todos.filter((todo) => isKnown(todo) || todo.status !== 'cancelled');
  const list = kept.map((todo, index) => ({
    id: todo.id ?? (mustHaveId ? String(index + 1) : undefined),
    [titleKey]: todo.title,
    status: isKnown(todo) ? todo.status : 'pending',
    ...extras?.(todo),
  }));
  return [{ name: tool, input: { [listKey]: list } }];
}

const inWholeLists = (shape: WholeList): Sayings => ({
  create({ items }, known, offered) {
    const added = items.map(({ title }) => ({ title, status: 'pending' }) as const);
    return writeWholeList(shape, [...known, ...added], offered);
  },
  set({ todo, status }, known, offered) {
    const all = known.includes(todo) ? known : [...known, todo];
    return writeWholeList(shape, changed(all, todo, { status }), offered);
  },
  write: ({ todos }, _known, offered) => writeWholeList(shape, todos, offered),
});

const inOurTools: Sayings = {
  create: ({ items }) => [{ name: 'create_todo', input: { items } }],
  set({ todo, status, note }) {
    const todoId = idOf(todo);
    if (status === 'completed')
      return [{ name: 'complete_todo', input: { todoId, outcome: note } }];
    if (status === 'cancelled')
      return [{ name: 'complete_todo', input: { todoId, outcome: note, status } }];
    const reason = status === 'blocked' ? note : undefined;
    return [{ name: 'update_todo', input: { todoId, status, reason } }];
  },
  write: ({ todos }, _known, offered) =>
    writeWholeList(wholeLists['todo-write'], todos, offered),
  list: () => [{ name: 'list_todo', input: { status: 'all' } }],
  pause: ({ reason }) => [{ name: 'todo_pause', input: { reason } }],
  verify: ({ todo }) => [{ name: 'todo_verify', input: { todoId: todo && idOf(todo) } }],
};

/** Tasks cannot be blocked: such a one stays pending with the note as its description. */
const taskWords: Partial<Record<TodoStatus, string>> = {
  cancelled: 'deleted',
  blocked: 'pending',
};

type TaskChange = Readonly<{
  status?: TodoStatus;
  subject?: string;
  description?: string | undefined;
}>;

function updateTask(todo: KnownTodo, { status, ...change }: TaskChange): PlannedCall {
  const word = status && (taskWords[status] ?? status);
  return { name: 'TaskUpdate', input: { taskId: idOf(todo), status: word, ...change } };
}

const inTasks: Sayings = {
  create: ({ items }) =>
    items.map(({ title: subject, context: description = subject }) => {
      return { name: 'TaskCreate', input: { subject, description } };
    }),
  set({ todo, status, note }) {
    const description = status === 'blocked' ? note : undefined;
    return [updateTask(todo, { status, description })];
  },
  /** The differences. Without any the first status is repeated. */
  write({ todos }, known) {
    const calls = known.flatMap((todo) => {
      const then = todos.find(({ id }) => id === todo.id);
      if (!then) return [updateTask(todo, { status: 'cancelled' })];
      const { title: subject, status } = then;
      const renamed = subject === todo.title ? [] : [updateTask(todo, { subject })];
      return status === todo.status
        ? renamed
        : [...renamed, updateTask(todo, { status })];
    });
    const [first] = known;
    return calls.length > 0 || !first
      ? calls
      : [updateTask(first, { status: first.status })];
  },
  list: () => [{ name: 'TaskList', input: {} }],
};

/**
 * Copilot CLI's: a table that the model writes in SQL. It has no word for what was
 * cancelled: such a todo is deleted.
 */
function sqlCall(query: string): PlannedCall {
  return { name: 'sql', input: { description: 'Update the todos', query } };
}
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const sqlStatus = (status: TodoStatus) =>
  quoted(status === 'completed' ? 'done' : status);

function inSql(todo: KnownTodo, change: Partial<KnownTodo>): string {
  const place = `WHERE id = ${quoted(idOf(todo))}`;
  if (change.status === 'cancelled') return `DELETE FROM todos ${place}`;
  const { title, status } = change;
  const sets = [
    title && `title = ${quoted(title)}`,
    status && `status = ${sqlStatus(status)}`,
  ];
  return `UPDATE todos SET ${sets.filter(Boolean).join(', ')} ${place}`;
}

const inTable: Sayings = {
  create({ items }, known) {
    const rows = items.map(({ title, context = '' }, index) =>
      [`todo-${known.length + index + 1}`, title, context, 'pending']
        .map(quoted)
        .join(', '),
    );
    const values = rows.map((row) => `(${row})`).join(', ');
    return [
      sqlCall(`INSERT INTO todos (id, title, description, status) VALUES ${values}`),
    ];
  },
  set: ({ todo, status }) => [sqlCall(inSql(todo, { status }))],
  /** The differences in one call. Without any the first status is repeated. */
  write({ todos }, known) {
    const changes = known.flatMap((todo) => {
      const then =
        todos.find(({ id }) => id === todo.id) ??
        ({ ...todo, status: 'cancelled' } as const);
      const change = {
        ...(then.title !== todo.title && { title: then.title }),
        ...(then.status !== todo.status && { status: then.status }),
      };
      return Object.keys(change).length === 0 ? [] : inSql(todo, change);
    });
    const [first] = known;
    if (changes.length === 0 && first)
      return [sqlCall(inSql(first, { status: first.status }))];
    return changes.length === 0 ? [] : [sqlCall(changes.join('; '))];
  },
  list: () => [sqlCall('SELECT id, title, status FROM todos')],
};

/** The first whose tools are offered wins, our own before the hosts'. */
const families: readonly TodoFamily[] = [
  { name: 'untildone', byId: true, mark: 'create_todo', say: inOurTools },
  { name: 'claude-tasks', byId: true, mark: 'TaskCreate', say: inTasks },
  { name: 'sql', byId: true, mark: 'sql', say: inTable },
  ...Object.entries(wholeLists).map(([name, shape]) => {
    return {
      name: name as FamilyName,
      byId: false,
      mark: shape.tool,
      say: inWholeLists(shape),
    };
  }),
];

export const familyFor = (tools: readonly ToolOffer[], forced?: FamilyName) =>
  families.find(({ name, mark }) => name === (forced ?? name) && findOffer(tools, mark));

/** Nobody calls them where they are not offered. */
const optionalTools = [
  'list_todo',
  'todo_pause',
  'todo_verify',
  'todo_write',
  'TaskList',
];

export function expressIntention(
  { say }: TodoFamily,
  intention: Intention,
  todos: KnownTodos,
  tools: readonly ToolOffer[],
): Calls {
  const offered: Offered = (baseName) => findOffer(tools, baseName);
  // The kinds are the same, which TypeScript cannot see.
  const calls = say[intention.kind]?.(intention as never, todos, offered) ?? [];
  return calls.flatMap(({ name, input }) => {
    const offer = offered(name);
    return offer || !optionalTools.includes(name)
      ? [{ name: offer?.name ?? name, input }]
      : [];
  });
}

const searchPrefix = 'select:';

/**
 * The search that must be made before these calls; undefined: none. Todo tools are
 * searched for together.
 */
export function searchBefore(
  calls: Calls,
  tools: readonly ToolOffer[],
): PlannedCall | undefined {
  const hidden = tools.filter(({ foundBy }) => foundBy !== undefined);
  const isTodoTool = ({ name }: ToolOffer) => Object.hasOwn(lessons, name);
  const needed = hidden.filter(({ name }) => calls.some((call) => call.name === name));
  const search = needed[0]?.foundBy;
  if (search === undefined) return undefined;
  const wanted = needed.some(isTodoTool)
    ? [...needed, ...hidden.filter(isTodoTool)]
    : needed;
  const names = [...new Set(wanted.map(({ name }) => name))];
  return {
    name: search,
    input: { query: searchPrefix + names.join(','), max_results: names.length },
  };
}

export const isSearch = ({ input }: PlannedCall) =>
  textOf(input, 'query').startsWith(searchPrefix);

/** Must not throw. */
type Learn = (todos: KnownTodos, input: unknown, resultText: string) => KnownTodos;

/** The list replaces the known one; ids come from the result, or from before. */
const learnWholeList: Learn = (todos, input, text) => {
  const ids = new Map(todos.map(({ title, id }) => [title, id]));
  const kept = readTodos(input).map((todo) => ({ id: ids.get(todo.title), ...todo }));
  const told = readTodos(jsonWithin(text));
  const known = told.filter(({ title }) => kept.some((todo) => todo.title === title));
  return merged(kept, known);
};

const learnStatus: Learn = (todos, input, text) => {
  const { status, title } = recordOf(jsonWithin(text));
  if (typeof status !== 'string') return todos;
  const id = textOf(input, 'todoId');
  const known = findTodo(todos, id);
  if (known) return changed(todos, known, { status: readStatus(status) });
  // Its creation was trimmed away, but the result tells its title.
  return merged(todos, readTodos([{ id, title, status }]));
};

function learnStatement(todos: KnownTodos, statement: string): KnownTodos {
  const texts = Array.from(statement.matchAll(/'((?:[^']|'')*)'/g), ([, text = '']) =>
    text.replaceAll("''", "'"),
  );
  if (statement.startsWith('INSERT'))
    return merged(
      todos,
      texts.flatMap((id, index) =>
        index % 4 === 0 ? readTodos([{ id, title: texts[index + 1] }]) : [],
      ),
    );
  const known = todos.find(({ id }) => id === texts.at(-1));
  if (known === undefined || statement.startsWith('SELECT')) return todos;
  if (statement.startsWith('DELETE'))
    return changed(todos, known, { status: 'cancelled' });
  const title = /title = /.test(statement) ? texts[0] : known.title;
  const status = /status = '(\w+)'/.exec(statement)?.[1] ?? known.status;
  return changed(todos, known, {
    title: title ?? known.title,
    status: readStatus(status),
  });
}

/** What the result of each tool teaches. */
const lessons: Readonly<Record<string, Learn>> = {
  create_todo: (todos, _input, text) =>
    merged(todos, readTodos(recordsOf(jsonWithin(text), 'created'))),
  list_todo: (todos, _input, text) => merged(todos, readTodos(jsonWithin(text))),
  complete_todo: learnStatus,
  update_todo: learnStatus,

  /** The text of the result tells the number. */
  TaskCreate(todos, input, text) {
    const [, id] = /#(\w+)/.exec(text) ?? [];
    return id === undefined
      ? todos
      : merged(todos, readTodos([{ id, title: textOf(input, 'subject') }]));
  },

  TaskUpdate(todos, input, text) {
    const known = findTodo(todos, textOf(input, 'taskId'));
    if (!known || /not found/i.test(text)) return todos;
    const { subject, status = known.status } = recordOf(input);
    return changed(todos, known, {
      title: textOf(subject) || known.title,
      status: readStatus(status),
    });
  },

  TaskList(todos, _input, text) {
    const inJson = readTodos(jsonWithin(text));
    const lines = text.matchAll(/#(\w+)[.:]?\s*\[(\w+)\]\s*(.+)/g);
    const inLines = Array.from(lines, ([, id, status, title = '']) => ({
      id,
      status,
      title: title.trim(),
    }));
    return merged(todos, inJson.length > 0 ? inJson : readTodos(inLines));
  },

  /** Only what this family itself writes is understood. */
  sql(todos, input, text) {
    const told = Array.from(
      text.matchAll(/^\| (\S+) \| (.+?) \| (\w+) \|$/gm),
      ([, id, title, status]) => {
        return { id, title, status };
      },
    ).filter(({ id }) => id !== 'id' && id !== '---');
    return textOf(input, 'query')
      .split(/;\s*(?=UPDATE|DELETE)/)
      .reduce(learnStatement, merged(todos, readTodos(told)));
  },

  ...Object.fromEntries(
    Object.values(wholeLists).map(({ tool }) => [tool, learnWholeList]),
  ),
};

export function learnFromCall(
  todos: KnownTodos,
  { name, input }: PlannedCall,
  result?: ToolResult,
) {
  if (!result || result.isError) return todos;
  const [, learn] =
    Object.entries(lessons).find(([baseName]) => hasBaseName(name, baseName)) ?? [];
  return learn?.(todos, input, result.text) ?? todos;
}

/** `mcp__server__create_todo`, `mcp_server_create_todo`, `server-create_todo` … */
const hasBaseName = (toolName: string, baseName: string) =>
  toolName.endsWith(baseName) && /^$|[_\-.:/]$/.test(toolName.slice(0, -baseName.length));

/** An exact name wins over a prefixed one. */
export function findOffer(
  tools: readonly ToolOffer[],
  baseName: string,
): ToolOffer | undefined {
  return (
    tools.find(({ name }) => name === baseName) ??
    tools.find(({ name }) => hasBaseName(name, baseName))
  );
}

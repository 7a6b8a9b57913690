// How each family of todo tools says an intention, and what its results teach. Known todos are the model's own view.
import type { PlannedCall, ToolOffer, ToolResult } from './model.ts';
import { jsonWithin, recordOf, recordsOf, textOf } from './values.ts';

const statuses = ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'] as const;
export type TodoStatus = (typeof statuses)[number];

export interface KnownTodo {
  /** Whole-list tools may never tell it. */
  readonly id?: string;
  readonly title: string;
  readonly status: TodoStatus;
}

export type KnownTodos = readonly KnownTodo[];

type Field = 'context' | 'completionCriteria' | 'agentType';
export type NewTodo = { readonly title: string; readonly check?: unknown; readonly order?: number } & {
  readonly priority?: 'high' | 'medium' | 'low';
} & { readonly [name in Field]?: string };

export type Intention =
  | { readonly kind: 'create'; readonly items: readonly NewTodo[] }
  | { readonly kind: 'set'; readonly todo: KnownTodo; readonly status: TodoStatus; readonly note: string }
  | { readonly kind: 'write'; readonly todos: KnownTodos }
  | { readonly kind: 'list' }
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'verify'; readonly todo?: KnownTodo | undefined };

export type FamilyName = 'untildone' | 'claude-tasks' | keyof typeof wholeLists;

type Offered = (baseName: string) => ToolOffer | undefined;

/** Sees base names: prefixes of MCP servers are taken off before and put on afterwards. */
export interface TodoFamily {
  readonly name: FamilyName;
  /** A todo without a known id must be looked up first. */
  readonly byId: boolean;
  /** Those that teach; the first one tells that the family is there. */
  readonly tools: readonly [string, ...string[]];
  /** undefined: it has no way to say it. */
  express(intention: Intention, todos: KnownTodos, offered: Offered): readonly PlannedCall[] | undefined;
  /** Must not throw. */
  learn(todos: KnownTodos, tool: string, input: unknown, resultText: string): KnownTodos;
}

export const isOpen = ({ status }: KnownTodo) => status === 'pending' || status === 'in_progress';
export const normalised = (title: string) => title.trim().replace(/\s+/g, ' ').toLowerCase();

/** Open todos before settled ones. */
export function findTodo(todos: KnownTodos, reference: string): KnownTodo | undefined {
  const wanted = normalised(reference);
  const ordered = todos.toSorted((one, other) => Number(isOpen(other)) - Number(isOpen(one)));
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
  const found = todos.filter(isOpen).flatMap((todo) => {
    // Shorter ids stand in every text by chance.
    const names = [todo.title, ...(todo.id && todo.id.length >= 4 ? [todo.id] : [])].map(normalised);
    const places = names.map((name) => haystack.indexOf(name)).filter((place) => place >= 0);
    return places.map((place) => ({ todo, place }));
  });
  return found.toSorted((one, other) => one.place - other.place)[0]?.todo;
}

const changed = (todos: KnownTodos, todo: KnownTodo, change: Partial<KnownTodo>): KnownTodos =>
  todos.map((one) => (one === todo ? { ...one, ...change } : one));

/** Ids, once seen, stay. */
function merged(todos: KnownTodos, seen: KnownTodos): KnownTodos {
  return seen.reduce((known, entry) => {
    const isSame = ({ id, title }: KnownTodo) =>
      id && entry.id ? id === entry.id : normalised(title) === normalised(entry.title);
    const same = known.find(isSame);
    return same ? changed(known, same, entry) : known.concat(entry);
  }, todos);
}

const otherWords: Readonly<Record<string, TodoStatus>> = { done: 'completed', deleted: 'cancelled' };
const readStatus = (word: unknown) =>
  statuses.find((status) => status === word) ?? otherWords[textOf(word)] ?? 'pending';

function readTodos(value: unknown): KnownTodos {
  const lists = Array.isArray(value) ? [value] : Object.values(recordOf(value));
  const entries = lists.flatMap((list) => recordsOf(list));
  return entries.flatMap(({ id, title, content, step, description, subject, status }) => {
    const named = textOf(title ?? content ?? step ?? description ?? subject);
    const known = typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {};
    return named === '' ? [] : [{ title: named, status: readStatus(status), ...known }];
  });
}

/** Without an id by its title: the tool then says that it knows no such id. */
const idOf = ({ id, title }: KnownTodo) => id ?? title;

/** One tool writes the whole list: these families differ in names and status words only. */
interface WholeList {
  readonly tool: string;
  readonly listKey: string;
  readonly titleKey: string;
  /** So many statuses are known; todos in others are left out (cancelled) or kept pending. */
  readonly words: 3 | 4 | 5;
  readonly extras?: (todo: KnownTodo) => object;
}

const wholeLists = {
  'claude-list': {
    ...{ tool: 'TodoWrite', listKey: 'todos', titleKey: 'content', words: 3 },
    extras: ({ title }: KnownTodo) => ({ activeForm: title }),
  },
  opencode: {
    ...{ tool: 'todowrite', listKey: 'todos', titleKey: 'content', words: 4 },
    extras: () => ({ priority: 'medium' }),
  },
  codex: { tool: 'update_plan', listKey: 'plan', titleKey: 'step', words: 3 },
  gemini: { tool: 'write_todos', listKey: 'todos', titleKey: 'description', words: 5 },
  // Qwen Code's tool, and ours where only the list style is offered.
  'todo-write': { tool: 'todo_write', listKey: 'todos', titleKey: 'content', words: 5 },
} satisfies Record<string, WholeList>;

function writeWholeList(shape: WholeList, todos: KnownTodos, offer?: ToolOffer): readonly PlannedCall[] {
  const { tool, listKey, titleKey, words, extras } = shape;
  const { required } = recordOf(offer?.schema, 'properties', listKey, 'items');
  const mustHaveId = Array.isArray(required) && required.includes('id');
  const isKnown = ({ status }: KnownTodo): boolean => statuses.indexOf(status) < words;
  const kept = todos.filter((todo) => isKnown(todo) || todo.status !== 'cancelled');
  const list = kept.map((todo, index) => {
    const id = todo.id ?? (mustHaveId ? String(index + 1) : undefined);
    const status = isKnown(todo) ? todo.status : 'pending';
    return { ...(id !== undefined && { id }), [titleKey]: todo.title, status, ...extras?.(todo) };
  });
  return [{ name: tool, input: { [listKey]: list } }];
}

/** It replaces the known list; ids come from the result, or from before. */
function learnWholeList(todos: KnownTodos, input: unknown, resultText: string): KnownTodos {
  const ids = new Map(todos.map(({ title, id }) => [title, id]));
  const kept = readTodos(input).map((todo) => {
    const id = todo.id ?? ids.get(todo.title);
    return id === undefined ? todo : { ...todo, id };
  });
  const told = readTodos(jsonWithin(resultText));
  const known = told.filter(({ title }) => kept.some((todo) => todo.title === title));
  return merged(kept, known);
}

function wholeListFamily([name, shape]: [string, WholeList]): TodoFamily {
  return {
    name: name as FamilyName,
    byId: false,
    tools: [shape.tool],
    express(intention, todos, offered) {
      const write = (list: KnownTodos) => writeWholeList(shape, list, offered(shape.tool));
      if (intention.kind === 'write') return write(intention.todos);
      if (intention.kind === 'create') {
        const added = intention.items.map(({ title }) => ({ title, status: 'pending' }) as const);
        return write([...todos, ...added]);
      }
      if (intention.kind !== 'set') return undefined;
      const { todo, status } = intention;
      return write(todos.includes(todo) ? changed(todos, todo, { status }) : [...todos, { ...todo, status }]);
    },
    learn: (todos, _tool, input, text) => learnWholeList(todos, input, text),
  };
}

const untildoneFamily: TodoFamily = {
  name: 'untildone',
  byId: true,
  tools: ['create_todo', 'complete_todo', 'update_todo', 'list_todo', 'todo_write'],

  express(intention, _todos, offered) {
    const ifOffered = (name: string, input: object) => (offered(name) ? [{ name, input }] : undefined);
    switch (intention.kind) {
      case 'create':
        return [{ name: 'create_todo', input: { items: intention.items } }];
      case 'set': {
        const { todo, status, note } = intention;
        const todoId = idOf(todo);
        const cancelled = status === 'cancelled' && { status };
        if (status === 'completed' || cancelled)
          return [{ name: 'complete_todo', input: { todoId, outcome: note, ...cancelled } }];
        const reason = status === 'blocked' && { reason: note };
        return [{ name: 'update_todo', input: { todoId, status, ...reason } }];
      }
      case 'write': {
        const offer = offered('todo_write');
        return offer && writeWholeList(wholeLists['todo-write'], intention.todos, offer);
      }
      case 'list':
        return ifOffered('list_todo', { status: 'all' });
      case 'pause':
        return ifOffered('todo_pause', { reason: intention.reason });
      case 'verify':
        return ifOffered('todo_verify', intention.todo ? { todoId: idOf(intention.todo) } : {});
    }
  },

  learn(todos, tool, input, text) {
    if (tool === 'todo_write') return learnWholeList(todos, input, text);
    const answer = jsonWithin(text);
    const { created, status: word, title } = recordOf(answer);
    if (tool === 'create_todo') return merged(todos, readTodos({ created }));
    if (tool === 'list_todo') return merged(todos, readTodos(answer));
    if ((tool !== 'complete_todo' && tool !== 'update_todo') || typeof word !== 'string') return todos;
    const id = textOf(input, 'todoId');
    const known = findTodo(todos, id);
    const status = readStatus(word);
    if (known) return changed(todos, known, { status });
    // Its creation was trimmed away, but the result tells its title.
    return textOf(title) === '' ? todos : merged(todos, [{ id, title: textOf(title), status }]);
  },
};

/** Tasks cannot be blocked: such a one stays pending with the note as its description. */
function taskWord(status: TodoStatus): string {
  return status === 'cancelled' ? 'deleted' : status === 'blocked' ? 'pending' : status;
}

function updateTask(todo: KnownTodo, change: object): PlannedCall {
  return { name: 'TaskUpdate', input: { taskId: idOf(todo), ...change } };
}

/** In single calls. Without differences the first status is repeated. */
function taskDifferences(known: KnownTodos, wanted: KnownTodos): readonly PlannedCall[] {
  const calls = known.flatMap((todo) => {
    const then = wanted.find(({ id }) => id === todo.id);
    if (!then) return [updateTask(todo, { status: 'deleted' })];
    const renamed = then.title === todo.title ? [] : [updateTask(todo, { subject: then.title })];
    const moved = then.status === todo.status ? [] : [updateTask(todo, { status: taskWord(then.status) })];
    return [...renamed, ...moved];
  });
  const [first] = known;
  return calls.length > 0 || !first ? calls : [updateTask(first, { status: taskWord(first.status) })];
}

function listedTasks(text: string): KnownTodos {
  const inJson = readTodos(jsonWithin(text));
  if (inJson.length > 0) return inJson;
  const lines = text.matchAll(/#(\w+)[.:]?\s*\[(\w+)\]\s*(.+)/g);
  return Array.from(lines, ([, id = '', word, title = '']) => {
    return { id, title: title.trim(), status: readStatus(word) };
  });
}

/** Claude Code's task tools; the text of a result tells the number. */
const claudeTasksFamily: TodoFamily = {
  name: 'claude-tasks',
  byId: true,
  tools: ['TaskCreate', 'TaskUpdate', 'TaskList'],

  express(intention, todos, offered) {
    switch (intention.kind) {
      case 'create':
        return intention.items.map(({ title: subject, context: description = subject }) => {
          return { name: 'TaskCreate', input: { subject, description } };
        });
      case 'set': {
        const { todo, status, note } = intention;
        const described = status === 'blocked' && { description: note };
        return [updateTask(todo, { status: taskWord(status), ...described })];
      }
      case 'write':
        return taskDifferences(todos, intention.todos);
      case 'list':
        return offered('TaskList') ? [{ name: 'TaskList', input: {} }] : undefined;
      default:
        return undefined;
    }
  },

  learn(todos, tool, input, text) {
    if (tool === 'TaskList') return merged(todos, listedTasks(text));
    const subject = textOf(input, 'subject');
    if (tool === 'TaskCreate') {
      const id = /#(\w+)/.exec(text)?.[1];
      return id === undefined ? todos : merged(todos, [{ id, title: subject, status: 'pending' }]);
    }
    const known = findTodo(todos, textOf(input, 'taskId'));
    if (!known || /not found/i.test(text)) return todos;
    const { status = known.status } = recordOf(input);
    return changed(todos, known, { title: subject || known.title, status: readStatus(status) });
  },
};

/** The first whose tools are offered wins, our own before the hosts'. */
const families: readonly TodoFamily[] = [
  untildoneFamily,
  claudeTasksFamily,
  ...Object.entries(wholeLists).map(wholeListFamily),
];

export function familyFor(tools: readonly ToolOffer[], forced?: FamilyName): TodoFamily | undefined {
  const allowed = families.filter(({ name }) => forced === undefined || name === forced);
  return allowed.find((family) => findOffer(tools, family.tools[0]));
}

export function expressIntention(
  family: TodoFamily,
  intention: Intention,
  todos: KnownTodos,
  tools: readonly ToolOffer[],
) {
  const offered: Offered = (baseName) => findOffer(tools, baseName);
  const calls = family.express(intention, todos, offered);
  return calls?.map((call) => ({ ...call, name: offered(call.name)?.name ?? call.name }));
}

export function learnFromCall(todos: KnownTodos, { name, input }: PlannedCall, result?: ToolResult) {
  if (!result || result.isError) return todos;
  for (const { tools, learn } of families) {
    const tool = tools.find((baseName) => hasBaseName(name, baseName));
    if (tool !== undefined) return learn(todos, tool, input, result.text);
  }
  return todos;
}

/** `mcp__server__create_todo`, `mcp_server_create_todo`, `server-create_todo` … */
const hasBaseName = (toolName: string, baseName: string) =>
  toolName.endsWith(baseName) && /^$|[_\-.:/]$/.test(toolName.slice(0, toolName.length - baseName.length));

/** An exact name wins over a prefixed one. */
export function findOffer(tools: readonly ToolOffer[], baseName: string): ToolOffer | undefined {
  return tools.find(({ name }) => name === baseName) ?? tools.find(({ name }) => hasBaseName(name, baseName));
}

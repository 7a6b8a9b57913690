// Families with one tool that writes the whole list each time: they differ in names and status words only.
import { isRecord, jsonWithin, recordOf, recordsOf, textOf } from '../json-value.ts';
import type { PlannedCall } from '../model-reply.ts';
import type { ToolOffer } from '../model-request.ts';
import { type KnownTodo, type KnownTodos, merged, type TodoStatus, withStatus } from './known-todos.ts';
import type { FamilyName, Intention, NewTodo, TodoFamily } from './todo-family.ts';

export interface WholeListShape {
  readonly name: FamilyName;
  readonly tool: string;
  readonly listKey: string;
  readonly titleKey: string;
  /** Statuses that the tool knows by our word; a todo in another one is left out (cancelled) or kept pending. */
  readonly statuses: readonly TodoStatus[];
  readonly extras?: (todo: KnownTodo) => Readonly<Record<string, unknown>>;
}

const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'];
// Words that hosts use for the same states.
const SYNONYMS: Readonly<Record<string, TodoStatus>> = { done: 'completed', deleted: 'cancelled' };

export function readStatus(word: unknown): TodoStatus {
  const text = textOf(word);
  if (STATUSES.includes(text)) return text as TodoStatus;
  return SYNONYMS[text] ?? 'pending';
}

/** Todos inside any JSON that lists them under the usual names. */
export function readTodos(value: unknown): KnownTodos {
  const lists = Array.isArray(value) ? [value] : Object.values(recordOf(value));
  const entries = lists
    .flatMap((list) => recordsOf(list))
    .map((entry) => {
      const title =
        entry['title'] ?? entry['content'] ?? entry['step'] ?? entry['description'] ?? entry['subject'];
      const id = entry['id'];
      return {
        title: textOf(title),
        status: readStatus(entry['status']),
        ...(typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}),
      };
    });
  return entries.filter((todo) => todo.title !== '');
}

function requiresId(offer: ToolOffer | undefined, listKey: string): boolean {
  const properties = recordOf(recordOf(offer?.schema)['properties']);
  const required = recordOf(recordOf(properties[listKey])['items'])['required'];
  return Array.isArray(required) && required.includes('id');
}

export function writeWholeList(
  shape: WholeListShape,
  todos: KnownTodos,
  offer: ToolOffer | undefined,
): PlannedCall {
  const mustHaveId = requiresId(offer, shape.listKey);
  const kept = todos.filter((todo) => todo.status !== 'cancelled' || shape.statuses.includes('cancelled'));
  const list = kept.map((todo, index) => {
    const id = todo.id ?? (mustHaveId ? String(index + 1) : undefined);
    return {
      ...(id === undefined ? {} : { id }),
      [shape.titleKey]: todo.title,
      status: shape.statuses.includes(todo.status) ? todo.status : 'pending',
      ...shape.extras?.(todo),
    };
  });
  return { name: shape.tool, input: { [shape.listKey]: list } };
}

/** The list after an intention; undefined when it changes no list. */
function listAfter(intention: Intention, todos: KnownTodos): KnownTodos | undefined {
  switch (intention.kind) {
    case 'create':
      return [...todos, ...intention.items.map(pendingTodo)];
    case 'set':
      return todos.includes(intention.todo)
        ? withStatus(todos, intention.todo, intention.status)
        : [...todos, { ...intention.todo, status: intention.status }];
    case 'write':
      return intention.todos;
    default:
      return undefined;
  }
}

function pendingTodo(item: NewTodo): KnownTodo {
  return { title: item.title, status: 'pending' };
}

/** The written list replaces the known one; ids come from the result, or from what was known before. */
export function learnWholeList(todos: KnownTodos, input: unknown, resultText: string): KnownTodos {
  const written = readTodos(input);
  const known = new Map(todos.map((todo) => [todo.title, todo.id]));
  const kept = written.map((todo) => {
    const id = todo.id ?? known.get(todo.title);
    return id === undefined ? todo : { ...todo, id };
  });
  const result = jsonWithin(resultText);
  const titles = new Set(kept.map((todo) => todo.title));
  const named = isRecord(result) || Array.isArray(result) ? readTodos(result) : [];
  return merged(
    kept,
    named.filter((todo) => titles.has(todo.title)),
  );
}

export function createWholeListFamily(shape: WholeListShape): TodoFamily {
  return {
    name: shape.name,
    mark: shape.tool,
    byId: false,
    tools: [shape.tool],
    express(intention, todos, offered) {
      const list = listAfter(intention, todos);
      return list === undefined ? undefined : [writeWholeList(shape, list, offered(shape.tool))];
    },
    learn: (todos, _tool, input, result) => learnWholeList(todos, input, result.text),
  };
}

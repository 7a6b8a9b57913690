// Claude Code's task tools: one TaskCreate per todo, numbered in the text of the result.
import { jsonWithin, recordOf, textOf } from '../json-value.ts';
import type { PlannedCall } from '../model-reply.ts';
import { findTodo, type KnownTodo, type KnownTodos, merged, type TodoStatus } from './known-todos.ts';
import type { TodoFamily } from './todo-family.ts';
import { readStatus, readTodos } from './whole-list-family.ts';

const CREATED = /#(\w+)/;
const LISTED = /#(\w+)[.:]?\s*\[(\w+)\]\s*(.+)/g;

/** Blocking has no word here: the task stays pending and the note goes into its description. */
function wordFor(status: TodoStatus): string {
  if (status === 'cancelled') return 'deleted';
  return status === 'blocked' ? 'pending' : status;
}

function listed(text: string): KnownTodos {
  const inJson = readTodos(jsonWithin(text));
  if (inJson.length > 0) return inJson;
  return Array.from(text.matchAll(LISTED), ([, id, status, title]) => ({
    id: id ?? '',
    title: (title ?? '').trim(),
    status: readStatus(status),
  }));
}

/** A whole list said in single calls. A list without differences repeats the first task's status. */
function differences(known: KnownTodos, wanted: KnownTodos): readonly PlannedCall[] {
  const update = (todo: KnownTodo, change: object) => ({
    name: 'TaskUpdate',
    input: { taskId: todo.id ?? todo.title, ...change },
  });
  const calls = known.flatMap((todo) => {
    const after = wanted.find((entry) => entry.id === todo.id);
    if (!after) return [update(todo, { status: 'deleted' })];
    const renamed = after.title === todo.title ? [] : [update(todo, { subject: after.title })];
    return after.status === todo.status
      ? renamed
      : [...renamed, update(todo, { status: wordFor(after.status) })];
  });
  const first = known[0];
  return calls.length > 0 || !first ? calls : [update(first, { status: wordFor(first.status) })];
}

export const claudeTasksFamily: TodoFamily = {
  name: 'claude-tasks',
  mark: 'TaskCreate',
  byId: true,
  tools: ['TaskCreate', 'TaskUpdate', 'TaskList'],

  express(intention, todos, offered) {
    switch (intention.kind) {
      case 'create':
        return intention.items.map((item) => ({
          name: 'TaskCreate',
          input: { subject: item.title, description: item.context ?? item.title },
        }));
      case 'set': {
        const { todo, status, note } = intention;
        const input = { taskId: todo.id ?? todo.title, status: wordFor(status) };
        return [
          { name: 'TaskUpdate', input: status === 'blocked' ? { ...input, description: note } : input },
        ];
      }
      case 'write':
        return differences(todos, intention.todos);
      case 'list':
        return offered('TaskList') ? [{ name: 'TaskList', input: {} }] : undefined;
      default:
        return undefined;
    }
  },

  learn(todos, tool, input, result) {
    if (tool === 'TaskList') return merged(todos, listed(result.text));
    if (tool === 'TaskCreate') {
      const id = CREATED.exec(result.text)?.[1];
      const title = textOf(recordOf(input)['subject']);
      return id === undefined ? todos : merged(todos, [{ id, title, status: 'pending' }]);
    }
    const changed = findTodo(todos, textOf(recordOf(input)['taskId']));
    if (!changed || /not found/i.test(result.text)) return todos;
    const { status, subject } = recordOf(input);
    const title = textOf(subject) || changed.title;
    const after = { ...changed, title, status: status === undefined ? changed.status : readStatus(status) };
    return todos.map((todo) => (todo === changed ? after : todo));
  },
};

// Our own todo tools: one call per todo, with ids that the results give out, and todo_write for whole lists.
import { isRecord, jsonWithin, recordOf, textOf } from '../json-value.ts';
import type { PlannedCall } from '../model-reply.ts';
import { findTodo, type KnownTodo, merged, type TodoStatus, withStatus } from './known-todos.ts';
import type { TodoFamily } from './todo-family.ts';
import {
  learnWholeList,
  readStatus,
  readTodos,
  type WholeListShape,
  writeWholeList,
} from './whole-list-family.ts';

export const TODO_WRITE: WholeListShape = {
  name: 'todo-write',
  tool: 'todo_write',
  listKey: 'todos',
  titleKey: 'content',
  statuses: ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'],
};

/** A todo whose id nobody told is called by its title: the tool then says that it knows no such id. */
function idOf(todo: KnownTodo): string {
  return todo.id ?? todo.title;
}

function settingCall(todo: KnownTodo, status: TodoStatus, note: string): PlannedCall {
  const todoId = idOf(todo);
  if (status === 'completed') return { name: 'complete_todo', input: { todoId, outcome: note } };
  if (status === 'cancelled') return { name: 'complete_todo', input: { todoId, outcome: note, status } };
  return {
    name: 'update_todo',
    input: { todoId, status, ...(status === 'blocked' ? { reason: note } : {}) },
  };
}

export const untildoneFamily: TodoFamily = {
  name: 'untildone',
  mark: 'create_todo',
  byId: true,
  tools: [
    'create_todo',
    'complete_todo',
    'update_todo',
    'list_todo',
    'todo_write',
    'todo_pause',
    'todo_verify',
  ],

  express(intention, _todos, offered) {
    switch (intention.kind) {
      case 'create':
        return [{ name: 'create_todo', input: { items: intention.items } }];
      case 'set':
        return [settingCall(intention.todo, intention.status, intention.note)];
      case 'write': {
        const offer = offered('todo_write');
        return offer ? [writeWholeList(TODO_WRITE, intention.todos, offer)] : undefined;
      }
      case 'list':
        return offered('list_todo') ? [{ name: 'list_todo', input: { status: 'all' } }] : undefined;
      case 'pause':
        return offered('todo_pause')
          ? [{ name: 'todo_pause', input: { reason: intention.reason } }]
          : undefined;
      case 'verify':
        return offered('todo_verify')
          ? [{ name: 'todo_verify', input: intention.todo ? { todoId: idOf(intention.todo) } : {} }]
          : undefined;
    }
  },

  learn(todos, tool, input, result) {
    if (tool === 'todo_write') return learnWholeList(todos, input, result.text);
    const answer = jsonWithin(result.text);
    if (!isRecord(answer) && !Array.isArray(answer)) return todos;
    if (tool === 'create_todo') return merged(todos, readTodos({ created: recordOf(answer)['created'] }));
    if (tool === 'list_todo') return merged(todos, readTodos(answer));
    if (tool !== 'complete_todo' && tool !== 'update_todo') return todos;
    const { status, title } = recordOf(answer);
    if (typeof status !== 'string') return todos;
    const id = textOf(recordOf(input)['todoId']);
    const changed = findTodo(todos, id);
    if (changed) return withStatus(todos, changed, readStatus(status));
    // Its creation was trimmed away: the result still tells its title.
    return textOf(title) === ''
      ? todos
      : merged(todos, [{ id, title: textOf(title), status: readStatus(status) }]);
  },
};

// The plan as watchers see it.
import type { Session } from '../../core/session.ts';
import type { Todo } from '../../core/todo.ts';
import { isDropped } from '../../core/todo.ts';
import type { Store } from '../../engine/store.ts';
import type { TodoView } from '../agent-event.ts';

export function planOf(store: Store, session: Session): Promise<Todo[]> {
  return store.read(async (reader) => reader.todosOfPlan(session.planId));
}

export function todoViews(todos: readonly Todo[]): TodoView[] {
  return todos.map((todo) => ({
    id: todo.id,
    title: todo.title,
    status: todo.status,
    priority: todo.priority,
    verification: todo.verification,
    dropped: isDropped(todo),
    outcome: todo.outcome,
    reason: todo.reason,
  }));
}

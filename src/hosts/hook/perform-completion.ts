// The gate: a todo that has checks is completed only when they pass (V1). The claim is put on the record, its checks
// run, and a failure is given back to the agent as the reason why it is refused. What is not finished in time is let
// through, and the stop attempt waits for it instead.
import { noNeeds } from '../../core/rows.ts';
import { quoteForModel } from '../../core/safe-text.ts';
import { quoteTail } from '../../core/texts/quote-tail.ts';
import type { Todo } from '../../core/todo.ts';
import { beforeDeadline } from './before-deadline.ts';
import { eventKey } from './event-key.ts';
import type { HookContext } from './hook-context.ts';
import type { HookAnswer } from './hook-request.ts';

export async function performCompletion(context: HookContext, todoKey: string): Promise<HookAnswer> {
  const { call, host, runtime, identifiers, clock, deadlineAt } = context;
  const { sessionId, promptId, at } = call;
  const base = () => ({
    id: eventKey({ host: host.name, sessionId, promptId }, 'gate', identifiers.next()),
    sessionId,
    at,
  });
  const todo = await findTodo(context, todoKey, async () => {
    await runtime.handle({ ...base(), type: 'activity-seen' });
  });
  if (todo === null || todo.checks.length === 0 || todo.verification === 'passed') return { type: 'nothing' };
  const claimed = await runtime.handle({
    ...base(),
    type: 'todo-updated',
    actor: 'agent',
    todoId: todoKey,
    changes: { status: 'completed' },
  });
  if (claimed.checks !== null) await beforeDeadline(clock, claimed.checks, deadlineAt);
  const after = await context.store.transact(async (reader) => reader.findTodo(todo.id));
  return after?.verification === 'failed' && after.status === 'in_progress'
    ? { type: 'refuse', reason: refusal(after) }
    : { type: 'nothing' };
}

/** Todos that were created a moment ago may still wait in the inbox: they are folded first. */
async function findTodo(
  { call, store }: HookContext,
  todoKey: string,
  fold: () => Promise<void>,
): Promise<Todo | null> {
  const waiting = await store.transact(async (reader) => reader.pendingEvents(call.sessionId));
  if (waiting.length > 0) await fold();
  return store.transact(async (reader) => {
    const session = await reader.session(call.sessionId);
    if (session === null) return null;
    const { byId } = await reader.rows(session, { ...noNeeds, ids: [todoKey] });
    return byId[0] ?? null;
  });
}

function refusal(todo: Todo): string {
  const printed = todo.failureTail === null ? '' : `\nIt printed:\n${quoteTail(todo.failureTail)}`;
  return `The check of ${quoteForModel(todo.title)} failed, so it is not completed and stays open. Mend the cause, then complete it again.${printed}`;
}

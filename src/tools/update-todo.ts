// update_todo (M4): a todo starts, goes back, is blocked with a reason, or its words change. It never ends here.
import type { Todo } from '../core/todo.ts';
import { priorities } from '../core/todo.ts';
import { changePlan, wholeRefusal } from './change-plan.ts';
import { unlessBlank } from './read-items.ts';
import { defineTodoTool, failed, succeeded, type ToolCallContext } from './todo-tool.ts';
import { remaining, shownNote, shownTitle, shownVerification } from './todo-view.ts';

export const updateTodo = defineTodoTool({
  name: 'update_todo',
  description:
    'Change one todo: set it in_progress when you start it, blocked with a reason when only someone else can help, back to pending, or correct its words. Keep one todo in_progress at a time. To finish or cancel a todo use complete_todo.',
  inputSchema: {
    type: 'object',
    properties: {
      todoId: { type: 'string', description: 'The id of the todo, as create_todo or list_todo gave it.' },
      status: {
        type: 'string',
        enum: ['in_progress', 'pending', 'blocked'],
        description: 'The new status; completed and cancelled are set by complete_todo.',
      },
      reason: { type: 'string', description: 'Why it is blocked: what is missing, and from whom.' },
      title: { type: 'string', description: 'A new title for the same work.' },
      context: { type: 'string', description: 'What one has to know to do it.' },
      completionCriteria: { type: 'string', description: 'How anyone can see that it is done.' },
      priority: { type: 'string', enum: priorities, description: 'How urgent it is.' },
      agentType: { type: 'string', description: 'The type of worker it is for, if workers are configured.' },
    },
    required: ['todoId'],
    additionalProperties: false,
  },
  async run({ todoId, ...given }, context) {
    if (Object.keys(given).length === 0) {
      return failed('invalid-input', 'Nothing to change: send at least one field besides "todoId".');
    }
    const changes = { ...given, agentType: unlessBlank(given.agentType) };
    const { reply, session } = await changePlan(context, { type: 'todo-updated', todoId, changes });
    const refusal = wholeRefusal(reply);
    if (refusal !== null) return refusal;
    const todo = reply.changed.at(-1) ?? (await findUnchanged(todoId, session.planId, context));
    if (todo === null) return failed('unchanged', 'Nothing changed.');
    const output = {
      id: todo.id,
      title: shownTitle(todo),
      status: todo.status,
      priority: todo.priority,
      reason: shownNote(todo.reason),
      verification: shownVerification(todo, session),
      remaining: remaining(session),
    };
    const unchanged = reply.applied ? [] : ['The todo was like this already; nothing changed.'];
    return succeeded(output, [...reply.notices, ...unchanged]);
  },
});

/** An update that changes nothing names no row; only then is it looked up, by its id or by the host's. */
function findUnchanged(todoId: string, planId: string, { store }: ToolCallContext): Promise<Todo | null> {
  return store.read(async (reader) => {
    const byId = await reader.findTodo(todoId);
    if (byId?.planId === planId) return byId;
    return (await reader.todosOfPlan(planId)).find(({ hostKey }) => hostKey === todoId) ?? null;
  });
}

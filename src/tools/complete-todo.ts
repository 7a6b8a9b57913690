// complete_todo (M3): a todo ends, with the words that say how. Completing is a claim until its checks pass (V1).

import type { Todo } from '../core/todo.ts';
import { changePlan, wholeRefusal } from './change-plan.ts';
import { defineTodoTool, failed, succeeded, type ToolCallContext, type ToolResult } from './todo-tool.ts';
import { readPlan, remaining, shownNote, shownTitle, shownVerification } from './todo-view.ts';
import { checkPatienceMs, viewChecked, waitForChecks } from './wait-for-checks.ts';

export const completeTodo = defineTodoTool({
  name: 'complete_todo',
  description:
    'End one todo: completed with what was done, or cancelled with the reason why it will not be done. Call it right after the work of that todo is finished, once per todo. Do not use it for work that is not finished or that waits for someone; use update_todo with blocked for that.',
  inputSchema: {
    type: 'object',
    properties: {
      todoId: { type: 'string', description: 'The id of the todo, as create_todo or list_todo gave it.' },
      outcome: {
        type: 'string',
        description: 'What was done and how it was checked, or why it is cancelled.',
      },
      status: { type: 'string', enum: ['completed', 'cancelled'], description: 'Default: completed.' },
    },
    required: ['todoId', 'outcome'],
    additionalProperties: false,
  },
  async run({ todoId, outcome, status = 'completed' }, context) {
    const change = { type: 'todo-completed', todoId, status, outcome } as const;
    const { reply, session, checks } = await changePlan(context, change);
    const refusal = wholeRefusal(reply);
    if (refusal !== null) return refusal;
    const [todo] = reply.changed;
    if (todo === undefined)
      return failed('unchanged', 'The todo was in this state already. Nothing changed.');
    if (checks !== null) {
      await waitForChecks(checks, context.checkPatienceMs ?? checkPatienceMs);
      return checkedResult(todo, reply.notices, context);
    }
    const output = {
      id: todo.id,
      title: shownTitle(todo),
      status: todo.status,
      verification: shownVerification(todo, session),
      outcome: shownNote(todo.outcome ?? todo.reason),
      completedAt: todo.completedAt,
      remaining: remaining(session),
    };
    return succeeded(output, reply.notices);
  },
});

/** What the checks made of the claim: passed, still running, or open again with what failed. */
async function checkedResult(
  claimed: Todo,
  notices: readonly string[],
  context: ToolCallContext,
): Promise<ToolResult> {
  const plan = await readPlan(context);
  const todo = plan?.todos.find((placed) => placed.todo.id === claimed.id)?.todo ?? claimed;
  const output = {
    ...viewChecked(todo),
    outcome: shownNote(todo.outcome),
    completedAt: todo.completedAt,
    remaining: plan === null ? 0 : remaining(plan.session),
  };
  const open = todo.verification === 'failed' ? ['Its check failed, so the todo is open again.'] : [];
  return succeeded(output, [...notices, ...open]);
}

// todo_verify (M8): waits for the checks of claimed todos and gives their results. It changes nothing by itself and
// counts neither as work nor as stagnation.
import { quoteForModel } from '../core/safe-text.ts';
import type { Session } from '../core/session.ts';
import { defineTodoTool, failed, succeeded } from './todo-tool.ts';
import { readPlan, remaining, shownNote } from './todo-view.ts';
import { checkPatienceMs, viewChecked, waitForChecks } from './wait-for-checks.ts';

/** Results that one answer lists. */
const mostListed = 50;

export const todoVerify = defineTodoTool({
  name: 'todo_verify',
  description:
    'Wait for the checks of completed todos and get their results, at most 45 seconds a call. Call it when you are told that checks are still running. Not needed after complete_todo has already said passed or failed.',
  inputSchema: {
    type: 'object',
    properties: {
      todoId: { type: 'string', description: 'Only the checks of this todo; default: all that are due.' },
    },
    required: [],
    additionalProperties: false,
  },
  async run({ todoId }, context) {
    const { engine, sessionId, clock, identifiers } = context;
    if (todoId !== undefined && !(await isKnown(todoId, context))) {
      return failed('unknown-todo', `There is no todo with the id ${quoteForModel(todoId, 80)}.`);
    }
    const { checks } = await engine.handle({
      type: 'verification-asked',
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
      todoId: todoId ?? null,
    });
    const ended = await waitForChecks(checks, context.checkPatienceMs ?? checkPatienceMs);
    const plan = await readPlan(context);
    const checked = (plan?.todos ?? [])
      .map(({ todo }) => todo)
      .filter((todo) => todo.checks.length > 0 && todo.verification !== 'none')
      .filter((todo) => todoId === undefined || todo.id === todoId || todo.hostKey === todoId);
    return succeeded({
      finished: ended,
      todos: checked.slice(0, mostListed).map(viewChecked),
      goal: plan === null ? [] : viewGoal(plan.session),
      remaining: plan === null ? 0 : remaining(plan.session),
      ...(ended
        ? {}
        : { next: 'The checks still run: call todo_verify again, or stop and they are waited for.' }),
    });
  },
});

async function isKnown(todoId: string, context: Parameters<typeof readPlan>[0]): Promise<boolean> {
  const plan = await readPlan(context);
  return plan?.todos.some(({ todo }) => todo.id === todoId || todo.hostKey === todoId) ?? false;
}

function viewGoal({ goal }: Session) {
  return Object.entries(goal)
    .filter(([, { state }]) => state !== 'none')
    .map(([check, { state, tail }]) => ({
      check,
      state,
      ...(tail === null ? {} : { failure: shownNote(tail) }),
    }));
}

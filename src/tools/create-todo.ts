// create_todo (M1): adds todos one by one, at the end or at a position; bad items are refused, good ones apply.

import { excerpt } from '../core/config/excerpt.ts';
import type { NewTodo } from '../core/events.ts';
import { planSize } from '../core/session.ts';
import { priorities, type Todo } from '../core/todo.ts';
import { type ChangedPlan, changePlan, refusedItems, wholeRefusal } from './change-plan.ts';
import type { InputOf } from './input-schema.ts';
import { readItems, refusedStatus, unlessBlank } from './read-items.ts';
import { defineTodoTool, failed, succeeded, type ToolCallContext } from './todo-tool.ts';
import { readPlan, shownTitle } from './todo-view.ts';

const itemSchema = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'What is to be done, short and concrete.' },
    context: { type: 'string', description: 'What one has to know to do it.' },
    completionCriteria: { type: 'string', description: 'How anyone can see that it is done.' },
    agentType: { type: 'string', description: 'The type of worker it is for, if workers are configured.' },
    priority: { type: 'string', enum: priorities, description: 'Default: medium.' },
    order: { type: 'integer', minimum: 1, description: 'Position in the plan, from 1. Default: at the end.' },
    check: { type: 'string', description: 'Name of a check, allowed by the human, that proves it.' },
  },
  required: ['title'],
  additionalProperties: false,
} as const;

type Item = Partial<InputOf<typeof itemSchema>>;

export const createTodo = defineTodoTool({
  name: 'create_todo',
  description:
    'Add todos to the plan. Use it before you start work that takes three or more steps, and whenever you find further work; send all new todos in one call. Do not use it for a single quick answer, nor to repeat todos that are already in the plan.',
  inputSchema: {
    type: 'object',
    properties: { items: { type: 'array', items: itemSchema, description: 'The todos to add, in order.' } },
    required: ['items'],
    additionalProperties: false,
  },
  async run(input, context) {
    if (input.items.length === 0) return failed('invalid-input', '"items" is empty: send at least one todo.');
    const { items, bad, notices } = readItems(itemSchema, input.items);
    const own = new Map(bad);
    items.forEach((item, index) => {
      const problem = checkProblem(item, context);
      if (problem !== null && !own.has(index)) own.set(index, `item ${index + 1} ${problem}.`);
    });
    const wanted = items.map((item, index) => newTodo(item, own.has(index), context));
    const changed = await changePlan(context, { type: 'todos-created', items: wanted });
    const { reply, session } = changed;
    const whole = wholeRefusal(reply);
    if (whole !== null) return whole;
    const { refused, notices: more } = refusedItems(reply.refused, own);
    if (reply.created.length === 0) {
      const messages = refused.map(({ message }) => message);
      return failed(
        refused[0]?.code ?? 'invalid-input',
        [...messages, ...more, 'Nothing was added.'].join(' '),
      );
    }
    const positions = await positionsOf(changed, wanted, context);
    const created = reply.created.map((todo) => ({
      id: todo.id,
      title: shownTitle(todo),
      order: positions.get(todo.id) ?? planSize(session.counts),
    }));
    const output = { created, totalPending: session.counts.pending };
    return succeeded(refused.length === 0 ? output : { ...output, refused }, [
      ...reply.notices,
      ...notices,
      ...more,
    ]);
  },
});

function newTodo(item: Item, isBad: boolean, context: ToolCallContext): NewTodo {
  const proposed = unlessBlank(item.check);
  const check = proposed === undefined ? null : resolveCheck(proposed, context);
  return {
    id: context.identifiers.next(),
    title: item.title ?? '',
    context: item.context,
    completionCriteria: item.completionCriteria,
    agentType: unlessBlank(item.agentType),
    priority: unlessBlank(item.priority),
    order: item.order,
    checks: check === null || isBad ? undefined : [check],
    ...(isBad ? { status: refusedStatus } : {}),
  };
}

/** V3: a check that an agent names counts only if a human allowed it. */
function checkProblem(item: Item, context: ToolCallContext): string | null {
  const { allowedChecks = [] } = context;
  const check = unlessBlank(item.check);
  if (check === undefined || resolveCheck(check, context) !== null) return null;
  const known = allowedChecks.length === 0 ? 'none is' : `allowed are ${allowedChecks.join(', ')}`;
  return `names the check ${excerpt(check)}, which no human allowed; ${known}`;
}

function resolveCheck(
  proposal: string,
  { allowedChecks = [], resolveCheck: byHuman }: ToolCallContext,
): string | null {
  if (byHuman !== undefined) return byHuman(proposal);
  return allowedChecks.includes(proposal) ? proposal : null;
}

/** Without positions in the input all were appended, and the plan need not be read to know where they stand. */
async function positionsOf(
  { reply, session }: ChangedPlan,
  wanted: readonly NewTodo[],
  context: ToolCallContext,
): Promise<ReadonlyMap<string, number>> {
  if (wanted.every(({ order }) => order === undefined)) {
    const before = planSize(session.counts) - reply.created.length;
    return new Map(reply.created.map((todo: Todo, index) => [todo.id, before + index + 1]));
  }
  const plan = await readPlan(context);
  return new Map(plan?.todos.map(({ todo, position }) => [todo.id, position]));
}

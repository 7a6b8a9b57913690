// todo_write (M5): the whole list at once. Items find their rows by id, then by title, then as reworded; what is
// left out is dropped, not deleted, and the result says so.
import type { WrittenTodo } from '../core/events.ts';
import { quoteForModel } from '../core/safe-text.ts';
import { isOpen, priorities, type Todo, todoStatuses } from '../core/todo.ts';
import { type ChangedPlan, changePlan, refusedItems, wholeRefusal } from './change-plan.ts';
import type { InputOf } from './input-schema.ts';
import { readItems, refusedStatus, unlessBlank } from './read-items.ts';
import { defineTodoTool, succeeded, type ToolCallContext } from './todo-tool.ts';
import { fitting, leftOutNotice, readPlan, remaining, viewListed } from './todo-view.ts';

const itemSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The id from todo_read; leave it out for a new todo.' },
    content: { type: 'string', description: 'What is to be done, short and concrete.' },
    status: { type: 'string', enum: todoStatuses, description: 'Default: pending.' },
    priority: { type: 'string', enum: priorities, description: 'Default: medium for a new todo.' },
    reason: { type: 'string', description: 'Why it is cancelled or blocked; required for both.' },
  },
  required: ['content', 'status'],
  additionalProperties: false,
} as const;

/** Fields that todo_read shows and models send back. */
const echoedFields = ['verification', 'dropped'];

export const todoWrite = defineTodoTool({
  name: 'todo_write',
  description:
    'Write the whole todo list: every todo with its present status, those that are completed included. Use it to plan work of three or more steps and after each finished todo. Keep one in_progress. Leaving a todo out does not end it: cancel it with a reason instead. Do not call it when nothing changed.',
  inputSchema: {
    type: 'object',
    properties: { todos: { type: 'array', items: itemSchema, description: 'The complete list, in order.' } },
    required: ['todos'],
    additionalProperties: false,
  },
  async run(input, context) {
    const { items, bad, notices } = readItems(itemSchema, input.todos, echoedFields);
    const written = items.map((item, index) => writtenTodo(item, bad.has(index), context));
    const changed = await changePlan(context, { type: 'plan-written', items: written });
    const { reply, session } = changed;
    const whole = wholeRefusal(reply);
    if (whole !== null) return whole;
    const { refused, notices: more } = refusedItems(reply.refused, bad);
    const plan = await readPlan(context);
    const { listed, leftOut } = fitting(plan?.todos ?? []);
    const all = [...reply.notices, ...dropNotices(changed), ...notices, ...more, ...leftOutNotice(leftOut)];
    const output = {
      todos: listed.map((placed) => viewListed(placed, session)),
      remaining: remaining(session),
      refused,
      notices: all,
    };
    const result = succeeded(leftOut === 0 ? output : { ...output, leftOut }, all);
    return { ...result, duplicate: reply.duplicate };
  },
});

function writtenTodo(
  item: Partial<InputOf<typeof itemSchema>>,
  isBad: boolean,
  { identifiers }: ToolCallContext,
): WrittenTodo {
  return {
    id: unlessBlank(item.id),
    content: item.content ?? '',
    status: isBad ? refusedStatus : unlessBlank(item.status),
    priority: unlessBlank(item.priority),
    reason: unlessBlank(item.reason),
    freshId: identifiers.next(),
  };
}

/** Titles that one notice names. */
const namedTitles = 8;

function dropNotices({ reply, at }: ChangedPlan): readonly string[] {
  const dropped = reply.changed.filter((todo) => isOpen(todo) && todo.droppedAt === at);
  const unexplained = reply.changed.filter(
    (todo) => todo.status === 'cancelled' && todo.reason === null && todo.completedAt === at,
  );
  return [
    ...(dropped.length === 0
      ? []
      : [
          `Left out or cancelled without a reason, and therefore still open: ${titles(dropped)}. Put each one back, or cancel it with a reason.`,
        ]),
    ...(unexplained.length === 0
      ? []
      : [`Left out again, and now recorded as cancelled without a reason: ${titles(unexplained)}.`]),
  ];
}

function titles(todos: readonly Todo[]): string {
  const named = todos.slice(0, namedTitles).map((todo) => quoteForModel(todo.title, 120));
  const more = todos.length > namedTitles ? ` and ${todos.length - namedTitles} more` : '';
  return `${named.join(', ')}${more}`;
}

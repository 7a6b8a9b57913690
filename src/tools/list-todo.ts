// list_todo (M2): the plan as it stands, by status; by default what is open.

import { noCounts } from '../core/session.ts';
import { isOpen, type Todo, todoStatuses } from '../core/todo.ts';
import { defineTodoTool, succeeded } from './todo-tool.ts';
import { fitting, leftOutNotice, readPlan, summarise, viewTodo } from './todo-view.ts';

const emptySummary = summarise({ counts: noCounts });

export const listTodo = defineTodoTool({
  name: 'list_todo',
  description:
    'Show the plan with ids, notes and a summary. Use it to find ids, after the conversation was shortened, or to see what is left. Without a status it shows the open todos.',
  inputSchema: {
    type: 'object',
    properties: {
      status: {
        type: 'string',
        enum: [...todoStatuses, 'all'],
        description: 'Show only todos with this status, or all. Default: the open ones.',
      },
    },
    required: [],
    additionalProperties: false,
  },
  async run({ status }, context) {
    const plan = await readPlan(context);
    if (plan === null) return succeeded({ items: [], summary: emptySummary });
    const { listed, leftOut } = fitting(plan.todos.filter(({ todo }) => isWanted(todo, status)));
    const items = listed.map((placed) => viewTodo(placed, plan.session));
    const output = { items, summary: summarise(plan.session) };
    return succeeded(leftOut === 0 ? output : { ...output, leftOut }, leftOutNotice(leftOut));
  },
});

function isWanted(todo: Todo, status: Todo['status'] | 'all' | undefined): boolean {
  if (status === undefined) return isOpen(todo);
  return status === 'all' || todo.status === status;
}

// todo_read (M5): the whole list in the shape that todo_write takes.
import { defineTodoTool, succeeded } from './todo-tool.ts';
import { fitting, leftOutNotice, readPlan, remaining, viewListed } from './todo-view.ts';

export const todoRead = defineTodoTool({
  name: 'todo_read',
  description:
    'Read the whole todo list with ids, in the shape that todo_write takes. Use it before todo_write when you are not sure of the present list.',
  inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  async run(_input, context) {
    const plan = await readPlan(context);
    if (plan === null) return succeeded({ todos: [], remaining: 0 });
    const { listed, leftOut } = fitting(plan.todos);
    const todos = listed.map((placed) => viewListed(placed, plan.session));
    const output = { todos, remaining: remaining(plan.session) };
    return succeeded(leftOut === 0 ? output : { ...output, leftOut }, leftOutNotice(leftOut));
  },
});

// 01: the smallest program. A plan, an agent that stops too early, and what it is told.
// Run it, after npm run build, with: node_modules/.bin/node examples/01-first-plan.ts (or
// npm run examples)
import { openSession } from 'untildone';

const session = await openSession({
  goal: 'Write the parser and its tests.',
  store: ':memory:',
});
const { create_todo, complete_todo } = session.tools;

// Your agent: this one plans, finishes one todo a call, and says each time that all is
// done.
async function agent(messages: { content: string }[]) {
  console.log(`told: ${messages.at(-1)?.content}\n`);
  if (session.plan.length === 0)
    await create_todo.execute({
      items: [{ title: 'Write the parser' }, { title: 'Write its tests' }],
    });
  const todo = session.plan.find(({ status }) => status === 'pending');
  await complete_todo.execute({ todoId: todo?.id, outcome: 'written' });
  return 'All done!';
}

await session.hold(agent);
console.log(`${session.outcome}: ${(await session.why())?.sentence}`);
await session.close();

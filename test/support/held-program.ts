// A program that holds an agent of five todos: it finishes one each time it is called and
// then claims that all is done. It prints what it found, was told and finished, so that
// whoever kills it knows what must be there afterwards (V5).
// Usage: node held-program.ts STORE DIRECTORY [MILLISECONDS that the agent works on after each todo]
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSession } from '../../src/session/session.ts';

const [store = '', directory = '', milliseconds = '0'] = process.argv.slice(2);
const print = (line: object) => console.log(JSON.stringify(line));
const titles = ['a', 'b', 'c', 'd', 'e'];

const checks = ['test -f e'];
const session = await openSession({
  id: 'nightly',
  goal: 'migrate the tests',
  checks,
  store,
  directory,
});
const { create_todo, complete_todo } = session.tools;
print({ found: session.plan.map(({ title, status }) => `${title} ${status}`) });
await session.hold(async (messages: { content: string }[]) => {
  print({ told: messages.map(({ content }) => content) });
  if (session.plan.length === 0)
    await create_todo.execute({ items: titles.map((title) => ({ title })) });
  const todo = session.plan.find(({ status }) => status === 'pending');
  if (todo === undefined) return 'All done!';
  writeFileSync(join(directory, todo.title), '');
  await complete_todo.execute({ todoId: todo.id, outcome: 'written' });
  print({ finished: todo.title });
  await sleep(Number(milliseconds));
  return 'All done!';
});
print({ outcome: session.outcome });
await session.close();

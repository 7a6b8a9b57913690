// 03: a plan that outlives the process. Run it twice: the second run finds what the first
// one left, and ends it. Run it, after npm run build: node_modules/.bin/node
// examples/03-durable-plan.ts (npm run examples does so)
import { rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { openSession } from 'untildone';

const folder = join(tmpdir(), `untildone-example-03-${userInfo().username}`);
const session = await openSession({
  id: 'example',
  goal: 'Build it.',
  store: join(folder, 'store.db'),
});
if (session.plan.length === 0)
  await session.tools.create_todo.execute({
    items: [{ title: 'Write the parser' }, { title: 'Test it' }],
  });

const todo = session.plan.find(({ status }) => status === 'pending');
await session.tools.complete_todo.execute({ todoId: todo?.id, outcome: 'written' });
const { answer, sentence } = await session.stop({ text: 'All done!' });
for (const { status, title } of session.plan) console.log(`${status}: ${title}`);
console.log(`${answer}: ${sentence}\n`);

await session.close();
// The example leaves nothing behind: once the agent may stop, the next run begins a new
// plan.
if (answer === 'let-go') rmSync(folder, { recursive: true });

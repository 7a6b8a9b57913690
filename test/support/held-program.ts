// A program that plans, finishes one todo and then works until it is killed: the plan must outlive it (V5).
import { openSession } from '../../src/session/session.ts';

const [store = '', directory = ''] = process.argv.slice(2);
const session = await openSession({ id: 'nightly', goal: 'migrate the tests', store, directory });
const { create_todo, complete_todo } = session.tools;
const { created } = (await create_todo.execute({
  items: [{ title: 'a' }, { title: 'b' }, { title: 'c' }],
})) as {
  created: { id: string }[];
};
await complete_todo.execute({ todoId: created[0]?.id, outcome: 'written' });
console.log('planned');
setInterval(() => {}, 1000);

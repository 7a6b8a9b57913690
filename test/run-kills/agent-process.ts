// The process that is killed: our own agent on a SQLite store. A session that the store knows is resumed, as
// `untildone run --resume` does it; otherwise the run is begun. It prints a line for every event of the run.
// Usage: node agent-process.ts DIRECTORY URL [WORKER,WORKER…]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runScriptedAgent } from '../../bench/agent/scripted-agent.ts';
import { systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { goal } from './story.ts';

const [directory = '', url = '', workers = ''] = process.argv.slice(2);
const sessionId = 'killed';
const work = join(directory, 'work');
mkdirSync(work, { recursive: true });
const store = await openSqliteStore({ path: join(directory, 'store.db'), clock: systemClock });
const isKnown = (await store.state(sessionId)) !== null;
const ended = await runScriptedAgent({
  url,
  // Of the four protocols the one that marks a failed call: the model must see which one was interrupted.
  api: 'anthropic',
  store,
  directory: work,
  sessionId,
  goal: isKnown ? null : goal,
  workers: workers === '' ? [] : workers.split(','),
  emit: ({ type }) => process.stdout.write(`${type}\n`),
});
await store.close();
process.stdout.write(`${JSON.stringify({ outcome: ended.outcome, reason: ended.reason })}\n`);
process.exitCode = ended.exitCode;

// The agent's process of the long run: prints its memory at 50, 100 and 200 finished
// todos, and how it ended.
// Usage: node --expose-gc long-run-agent.ts DIRECTORY URL CONTEXT_LIMIT
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { runScriptedAgent } from './scripted-agent.ts';

export type LongRunLine =
  | {
      readonly kind: 'memory';
      readonly completed: number;
      readonly heap: number;
      readonly rss: number;
    }
  | {
      readonly kind: 'end';
      readonly completed: number;
      readonly outcome: string;
      readonly continuations: number;
      readonly compactions: number;
      readonly milliseconds: number;
    };

const [directory = '', url = '', contextLimit = ''] = process.argv.slice(2);
const write = (line: LongRunLine): void =>
  void process.stdout.write(`${JSON.stringify(line)}\n`);
const work = join(directory, 'work');
mkdirSync(work);
const store = await openSqliteStore({
  path: join(directory, 'store.db'),
  clock: systemClock,
});

const measured = new Set<number>();
let compactions = 0;

function watch(event: AgentEvent): void {
  if (event.type === 'compacted') compactions += 1;
  if (event.type !== 'plan-changed' || event.completed === 0) return;
  const { completed, total } = event;
  if (measured.has(completed) || ![total / 4, total / 2, total].includes(completed))
    return;
  measured.add(completed);
  // Twice: what the first collection finds only then becomes free.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  write({ kind: 'memory', completed, heap: heapUsed, rss });
}

const ended = await runScriptedAgent({
  url,
  contextLimit: Number(contextLimit),
  store,
  directory: work,
  sessionId: 'long-run',
  goal: 'Write every part, one by one.',
  emit: watch,
});
await store.close();
write({
  kind: 'end',
  completed: ended.todos.filter(({ status }) => status === 'completed').length,
  outcome: ended.outcome,
  continuations: ended.continuations.reduce((sum, { count }) => sum + count, 0),
  compactions,
  milliseconds: ended.milliseconds,
});

// The process that is killed: our own agent on a SQLite store. A session that the store
// knows is resumed, as `untildone run --resume` does it; otherwise the run is begun. It
// prints a line for every event of the run. Its clock is set by a file, and one check on
// the goal passes as soon as there is work.
// Usage: node agent-process.ts DIRECTORY URL [WORKER,WORKER…]
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runScriptedAgent } from '../../bench/agent/scripted-agent.ts';
import { createCommandCheck } from '../../src/core/check-specs.ts';
import type { Checker } from '../../src/engine/host.ts';
import { createIdentifiers, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { setClock } from '../support/set-clock.ts';
import { goal } from './story.ts';

const [directory = '', url = '', workers = ''] = process.argv.slice(2);
const sessionId = 'killed';
const work = join(directory, 'work');
mkdirSync(work, { recursive: true });
setClock(join(directory, 'clock'));

const look = () => (readdirSync(work).length > 0 ? 'passed' : 'failed');
const identifiers = createIdentifiers();
const checker: Checker = {
  async run({ id }, { checks, stop }, report) {
    const base = () => ({ id: identifiers.next(), sessionId: id, at: systemClock.now() });
    const seen = {
      result: look(),
      flaky: false,
      tail: null,
      fingerprint: null,
      writes: null,
    } as const;
    for (const asked of checks)
      await report({
        ...base(),
        ...asked,
        ...seen,
        type: 'check-finished',
        final: stop !== null,
      });
    if (stop !== null)
      await report({ ...base(), type: 'final-run-ended', stop, edited: [] });
  },
};
const store = await openSqliteStore({
  path: join(directory, 'store.db'),
  clock: systemClock,
});
const isKnown = (await store.state(sessionId)) !== null;
const ended = await runScriptedAgent({
  url,
  // Of the four protocols the one that marks a failed call: the model must see which one
  // was interrupted.
  api: 'anthropic',
  store,
  directory: work,
  sessionId,
  goal: isKnown ? null : goal,
  goalChecks: ['work'],
  checks: { work: createCommandCheck('work', { shell: 'test -n "$(ls)"' }) },
  checker,
  workers: workers === '' ? [] : workers.split(','),
  emit: ({ type }) => process.stdout.write(`${type}\n`),
});
await store.close();
process.stdout.write(
  `${JSON.stringify({ outcome: ended.outcome, reason: ended.reason })}\n`,
);
process.exitCode = ended.exitCode;

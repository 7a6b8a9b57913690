// A process that asks for a check of the goal and waits for it, as a hook does. Usage:
// node asker.js SESSION FOLDER
import { createChecker, startRunner } from '../../src/checks/checker.ts';
import { createState } from '../../src/core/state.ts';
import { createIdentifiers, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

const [first = '', folder = ''] = process.argv.slice(2);

async function ask(sessionId: string, directory: string): Promise<void> {
  const store = await openSqliteStore({
    path: storePath(process.env),
    clock: systemClock,
  });
  const checker = createChecker({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(systemClock),
    startRunner: (folder, holder) => startRunner(folder, holder, process.env),
    signal: () => new AbortController().signal,
  });
  const session = createState(sessionId, systemClock.now());
  const asking = {
    ...session,
    descriptor: { ...session.descriptor, directory },
    policyHash: process.env['POLICY'] ?? null,
  };
  const checks = [{ todoId: null, check: 'count' }];
  // The clock's timers do not hold a process.
  const alive = setInterval(() => {}, 1000);
  await checker.run(asking, { checks, stop: `stop of ${sessionId}` }, async (event) => {
    if (event.type === 'check-finished') process.stdout.write(`${event.result}\n`);
  });
  clearInterval(alive);
  await store.close();
}

await ask(first, folder);

// A process that asks for a check of the goal and waits for it, as a hook does; and the runner that such a process
// starts. Usage: node asker.mjs SESSION FOLDER, and by itself: node asker.mjs check-runner FOLDER HOLDER
import { createChecker } from '../../src/checks/checker.ts';
import { startDetachedRunner } from '../../src/checks/queue.ts';
import { runQueueProcess } from '../../src/cli/queue-process.ts';
import { createSession } from '../../src/core/session.ts';
import { createIdentifiers, sha256, systemClock } from '../../src/engine/system.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';

const [first = '', ...rest] = process.argv.slice(2);

async function ask(sessionId: string, directory: string): Promise<void> {
  const store = await openSqliteStore({ path: storePath(process.env), clock: systemClock });
  const program = [process.execPath, process.argv[1] ?? ''];
  const checker = createChecker({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(systemClock),
    hash: sha256,
    startRunner: (folder, holder) => startDetachedRunner(program, folder, holder, process.env),
    signal: () => new AbortController().signal,
  });
  const session = createSession(sessionId, systemClock.now());
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

if (first === 'check-runner') await runQueueProcess(rest);
else await ask(first, rest[0] ?? '');

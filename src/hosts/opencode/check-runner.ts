// How checks get run from inside the host: by a process of its own that outlives it. There is no Node here, but the
// host's own program runs a script when it is told to, and the script is the plugin's file itself.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runQueue } from '../../checks/queue.ts';
import { systemClock } from '../../engine/system.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { storePath } from '../../store/state-directory.ts';

export const runnerCommand = 'check-runner';

/** Makes a program that is built on Bun run a script instead of itself. */
const bunSwitch = 'BUN_BE_BUN';

/** The command line that starts the runner; null: its file is not there, and checks run in this process. */
export function runnerProgram(): readonly string[] | null {
  const here = fileURLToPath(import.meta.url);
  const folders = [dirname(here), dirname(dirname(here))];
  const file = folders.map((folder) => join(folder, 'server.js')).find((path) => existsSync(path));
  return file === undefined ? null : [process.execPath, file];
}

export function runnerEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return process.versions['bun'] === undefined ? environment : { ...environment, [bunSwitch]: '1' };
}

/** In the process that was started for it: checks must not inherit what made it a script. */
export async function runChecks([directory, holder]: readonly string[]): Promise<void> {
  if (directory === undefined || holder === undefined) return;
  const { [bunSwitch]: _, ...environment } = process.env;
  const store = await openSqliteStore({ path: storePath(environment), clock: systemClock });
  try {
    await runQueue({ store, clock: systemClock, directory, holder, environment });
  } finally {
    await store.close();
  }
}

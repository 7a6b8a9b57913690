// Each hook call is a process that leaves the store without closing it, and so the next one finds SQLite's log as after
// a crash: it reads all of it, and forgets how much of it is in the store already. With nobody else to look after it
// the log would grow with every call, and every call with the log. It decides nothing and can be left out at any time.
import { statSync } from 'node:fs';
import { openDatabase } from '../../store/sqlite/open-database.ts';
import { storePath } from '../../store/state-directory.ts';
import type { HookMoment } from './hook-request.ts';

/**
 * About fifty calls. Half of it is read again by each call, which takes under a millisecond; copying it into the store
 * waits for the disk, which takes several, and should be rare.
 */
const mostLogBytes = 1_048_576;

/** After the answer is out. Where another process is at work in the store, the next call does it. */
export async function keepLogShort(environment: HookMoment['environment']): Promise<void> {
  const path = storePath(environment);
  try {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size < mostLogBytes) return;
    const database = await openDatabase(path);
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Safe: nothing is lost, the log only stays as long as it is.
  }
}

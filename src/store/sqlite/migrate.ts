// Brings a store to the layout that this program knows: forward only, all missing steps in one transaction, so
// that any number of processes may open a new store at once. A newer store, or another program's, is refused.
import { UntildoneError } from '../../core/untildone-error.ts';
import { checkSchema } from './check-schema.ts';
import type { Connection } from './connection.ts';
import { firstSchema } from './schema.ts';
import { transcriptSchema } from './transcript-schema.ts';
import { type LockPatience, waitForLock } from './wait-for-lock.ts';

/** The SQL that leads from version n to version n + 1 stands at index n. Entries are only ever appended. */
export const migrations: readonly string[] = [firstSchema, transcriptSchema, checkSchema];

/** "untd": tells our files from those of other programs. */
const applicationId = 0x756e7464;

export async function migrate(
  connection: Connection,
  steps: readonly string[],
  now: number,
  patience: LockPatience,
): Promise<void> {
  let found = 0;
  await waitForLock(() => {
    found = assertOurs(connection, steps.length);
  }, patience);
  if (found === steps.length) return;
  await waitForLock(() => connection.exec('BEGIN IMMEDIATE'), patience);
  try {
    // Another process may have been faster while this one waited for the lock.
    for (let version = assertOurs(connection, steps.length); version < steps.length; version += 1) {
      connection.exec(steps[version] ?? '');
      connection.query(
        'INSERT INTO meta (key, value) VALUES (?, ?)',
        `version ${version + 1} since`,
        String(now),
      );
    }
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`);
    // A new file has no write-ahead log yet, so that readers can hold up a commit.
    await waitForLock(() => connection.exec('COMMIT'), patience);
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

export function versionOf(connection: Connection): number {
  return Number(connection.get('storeVersion')?.['user_version']);
}

export function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK');
  } catch {
    // SQLite rolls back by itself after a full disk or an I/O error; then there is nothing left to undo, and
    // the error that led here is the one worth telling.
  }
}

export function storeNewer(path: string, found: number, known: number): UntildoneError {
  return new UntildoneError(
    'store-newer',
    `The store at ${path} was written by a newer untildone (layout ${found}, this one knows ${known}): ` +
      'update untildone, or set UNTILDONE_HOME to another directory.',
  );
}

/** The version that was found. */
function assertOurs(connection: Connection, known: number): number {
  // In this order: another process may commit the first migration between two of these questions.
  const tables = connection.query('SELECT 1 FROM sqlite_schema LIMIT 1').length;
  const id = connection.query('PRAGMA application_id')[0]?.['application_id'];
  const version = versionOf(connection);
  if (tables > 0 && id !== applicationId) {
    throw new UntildoneError(
      'store-unavailable',
      `The file ${connection.path} is a database of another program; name another file for the store.`,
    );
  }
  if (version > known) throw storeNewer(connection.path, version, known);
  return version;
}

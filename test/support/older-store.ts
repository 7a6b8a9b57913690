// For tests: a store as versions made it that were never published.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

/** The last layout of an unpublished version. */
const olderLayout = 5;

export const olderStoreSentence = (path: string) =>
  `made by an unpublished version: move it away (${path})`;

export async function makeOlderStore(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await (await openSqliteStore({ path })).close();
  const database = await openDatabase(path);
  database.exec(`PRAGMA user_version = ${olderLayout}`);
  database.close();
}

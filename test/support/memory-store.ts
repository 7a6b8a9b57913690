// A store that ends with the test: the real one, in memory. Made at once, opened while
// its first call waits.
import type { Store } from '../../src/engine/store.ts';
import {
  migrateStore,
  migrations,
  newestLayout,
} from '../../src/store/sqlite/migrate.ts';
import {
  createConnection,
  type Database,
  openDatabase,
} from '../../src/store/sqlite/open-database.ts';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

export function createMemoryStore(): Store {
  const opening = openInMemory();
  return new Proxy({} as Store, {
    // A promise may be resolved with it: nobody must take it for one.
    get: (_target, name: keyof Store | 'then') =>
      name === 'then'
        ? undefined
        : async (...values: unknown[]) =>
            Reflect.apply((await opening)[name], undefined, values),
  });
}

/** Newer Nodes can copy a database. */
type Copied = Database & {
  serialize?(): Uint8Array;
  deserialize?(bytes: Uint8Array): void;
};

/**
 * With its tables, which take longer to make than most tests that use them; null: not
 * made yet.
 */
let empty: Uint8Array | null = null;

async function openInMemory(): Promise<Store> {
  const database: Copied = await openDatabase(':memory:');
  const connection = createConnection(database, ':memory:', 30_000);
  if (empty !== null) database.deserialize?.(empty);
  else await migrateStore(connection, migrations, Date.now());
  empty ??= database.serialize?.() ?? null;
  return createSqliteStore(connection, newestLayout(migrations), Date);
}

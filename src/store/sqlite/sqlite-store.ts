// The embedded default store: one SQLite file that many short-lived hooks and long-lived plugins write at once.
// One connection writes, a second one (opened when first needed) reads without ever waiting for the write lock.
import type { Clock } from '../../engine/clock.ts';
import type { Store, StoreReader, StoreTransaction } from '../../engine/store.ts';
import { storeClosed } from '../refused-writes.ts';
import { SerialQueue } from '../serial-queue.ts';
import { type Connection, connect } from './connection.ts';
import { migrate, migrations, rollBack, storeNewer, versionOf } from './migrate.ts';
import { prepareFile } from './prepare-file.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { StatementScope } from './statement-scope.ts';
import { type LockPatience, waitForLock } from './wait-for-lock.ts';

export interface SqliteStoreOptions {
  readonly path: string;
  /** Only for the times at which rows were archived and layouts changed. */
  readonly clock: Pick<Clock, 'now'>;
  /** How long to wait for other writers, without blocking; 30 s: far longer than any honest queue of hooks. */
  readonly busyTimeoutMs?: number;
  /** For tests of the migrations themselves. */
  readonly migrations?: readonly string[];
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const steps = options.migrations ?? migrations;
  const patience = { totalMs: options.busyTimeoutMs ?? 30_000, path: options.path };
  prepareFile(options.path);
  const writer = await connect(options.path);
  try {
    await waitForLock(() => configure(writer), patience);
    await migrate(writer, steps, options.clock.now(), patience);
    await useWriteAheadLog(writer, patience);
  } catch (error) {
    writer.close();
    throw error;
  }
  return new SqliteStore(writer, options, steps.length, patience);
}

function configure(connection: Connection): void {
  // SQLite would wait by blocking the thread: a host's event loop, or that of the very store that holds the lock.
  connection.exec('PRAGMA busy_timeout = 0');
  // A killed process loses nothing that was committed. A power cut may lose the last commits before it, never
  // the store itself: for that, every commit would have to wait for the disk, some milliseconds per hook.
  connection.exec('PRAGMA synchronous = NORMAL');
  // Finds a damaged page when it is read instead of following it; and gives disk space back after bursts.
  connection.exec('PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216');
}

/** The mode is kept in the file. Where the file system cannot do it, SQLite stays with its rollback journal. */
async function useWriteAheadLog(connection: Connection, patience: LockPatience): Promise<void> {
  await waitForLock(() => {
    if (connection.query('PRAGMA journal_mode')[0]?.['journal_mode'] === 'wal') return;
    connection.query('PRAGMA journal_mode = WAL');
  }, patience);
}

/** Over a connection that is configured and migrated; callers want openSqliteStore. */
export class SqliteStore implements Store {
  readonly #writer: Connection;
  readonly #options: SqliteStoreOptions;
  readonly #version: number;
  readonly #patience: LockPatience;
  readonly #writes = new SerialQueue();
  readonly #reads = new SerialQueue();
  readonly #now: () => number;
  #reader: Connection | null = null;
  #closed = false;

  constructor(writer: Connection, options: SqliteStoreOptions, version: number, patience: LockPatience) {
    this.#writer = writer;
    this.#options = options;
    this.#version = version;
    this.#patience = patience;
    this.#now = () => options.clock.now();
  }

  transact<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed());
    return this.#writes.run(async () => {
      const connection = this.#writer;
      await waitForLock(() => connection.exec('BEGIN IMMEDIATE'), this.#patience);
      const scope = new StatementScope(connection);
      try {
        this.#assertVersion(connection);
        const result = await work(new SqliteTransaction(scope, this.#now));
        scope.end();
        await waitForLock(() => connection.exec('COMMIT'), this.#patience);
        return result;
      } catch (error) {
        scope.end();
        rollBack(connection);
        throw error;
      }
    });
  }

  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed());
    return this.#reads.run(async () => {
      const connection = await this.#readConnection();
      await waitForLock(() => beginSnapshot(connection), this.#patience);
      const scope = new StatementScope(connection);
      try {
        this.#assertVersion(connection);
        return await work(new SqliteReader(scope));
      } finally {
        scope.end();
        // Nothing was written, so there is nothing to commit either.
        rollBack(connection);
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Behind everything that was asked for before.
    await this.#reads.run(async () => this.#reader?.close());
    await this.#writes.run(async () => this.#writer.close());
  }

  async #readConnection(): Promise<Connection> {
    if (this.#reader) return this.#reader;
    const reader = await connect(this.#options.path);
    await waitForLock(() => configure(reader), this.#patience);
    reader.exec('PRAGMA query_only = ON');
    this.#reader = reader;
    return reader;
  }

  /** A newer program may have changed the layout since this one opened the file: then it must not write on. */
  #assertVersion(connection: Connection): void {
    const found = versionOf(connection);
    if (found !== this.#version) throw storeNewer(this.#options.path, found, this.#version);
  }
}

function beginSnapshot(connection: Connection): void {
  connection.exec('BEGIN');
  try {
    connection.get('beginSnapshot');
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

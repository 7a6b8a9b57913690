// The one place that opens a database file: node:sqlite under Node, bun:sqlite under Bun, seen through the few methods
// that both have; and what the errors of both mean. It knows nothing of tables, starts no transaction and never guesses
// that a damaged store might be fine.
import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ErrorCode, UntildoneError } from '../../core/error.ts';
import { makeFolder } from '../../engine/system.ts';

type Bound = string | number | null;
export type Value = Bound | boolean | object;
export type Row = Record<string, unknown>;

interface Statement {
  run(...values: Bound[]): { readonly changes: number | bigint };
  /** Node answers undefined, Bun null, when there is no row. */
  get(...values: Bound[]): Row | null | undefined;
  all(...values: Bound[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** A database that exists in this process alone. */
export const inMemory = ':memory:';

export async function openDatabase(path: string): Promise<Database> {
  if (!process.versions['bun']) return new (loadNodeSqlite().DatabaseSync)(path) as Database;
  // A variable, so that neither Node's loader nor a bundler looks for a module that only Bun has.
  const specifier = 'bun:sqlite';
  const bun = (await import(specifier)) as { Database: new (path: string) => Database };
  return new bun.Database(path);
}

/**
 * Node 22 warns that SQLite is experimental when the module is first loaded. Hooks must not print that into
 * someone's terminal; every other warning passes.
 */
export function loadNodeSqlite(): { readonly DatabaseSync: new (path: string) => unknown } {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (rest[0] === 'ExperimentalWarning' && text.startsWith('SQLite')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Makes the place: directory 0700, file 0600, since plans may hold secrets. Never opens a file that exists: closing it
 * again would drop the locks that this process holds on it.
 */
export function prepareFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory())
    throw new UntildoneError(
      'store-unavailable',
      `The store at ${path} is a directory; name a file instead.`,
    );
  if (found) return;
  makeFolder(dirname(path), 0o700);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process created it in this very moment: it is there, which is all that was wanted.
    if ((error as DriverError).code !== 'EEXIST') throw error;
  }
}

/**
 * A database whose statements are each prepared once. Values are bound in the order of plain question marks, which is
 * all that Node 22.13 knows: texts in their column form, objects as JSON. A row's properties are its columns.
 */
export class Connection {
  /** Rows written so far. */
  changes = 0;
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #inserts = new Map<string, { readonly sql: string; readonly keys: readonly string[] }>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Says how many rows changed. */
  run(sql: string, ...values: readonly Value[]): number {
    const changed = Number(this.#statement(sql).run(...values.map(bound)).changes);
    this.changes += changed;
    return changed;
  }

  get(sql: string, ...values: readonly Value[]): Row | null {
    return this.#statement(sql).get(...values.map(bound)) ?? null;
  }

  all(sql: string, ...values: readonly Value[]): Row[] {
    return this.#statement(sql).all(...values.map(bound));
  }

  /** The rows as they were inserted. */
  rows<T>(sql: string, ...values: readonly Value[]): T[] {
    const camelCase = (column: string) =>
      column.replace(/_(.)/gu, (_, letter: string) => letter.toUpperCase());
    const text = (value: unknown) => (typeof value === 'string' ? fromColumn(value) : value);
    return this.all(sql, ...values).map(
      (row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [camelCase(column), text(value)]),
        ) as T,
    );
  }

  /** The values in the JSON column `body`: `bodies('usage WHERE session_id = ?', id)`. */
  bodies<T>(from: string, ...values: readonly Value[]): T[] {
    return this.all(`SELECT body FROM ${from}`, ...values).map(
      (row) => JSON.parse(row['body'] as string) as T,
    );
  }

  /** A row that is there already stays as it is or, with `key`, gets the new values, as far as `condition` allows. */
  insert(table: string, row: Readonly<Record<string, Value>>, key = '', condition = ''): number {
    let insert = this.#inserts.get(table + key);
    if (insert === undefined) {
      const keys = Object.keys(row);
      const columns = keys.map((name) => name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`));
      const values = columns.map((column) => `${column} = excluded.${column}`).join(', ');
      const conflict = key === '' ? 'DO NOTHING' : `(${key}) DO UPDATE SET ${values} ${condition}`;
      const marks = columns.map(() => '?').join(', ');
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks}) ON CONFLICT ${conflict}`;
      insert = { sql, keys };
      this.#inserts.set(table + key, insert);
    }
    return this.run(insert.sql, ...insert.keys.map((name) => row[name] ?? null));
  }

  /** Statements without values; one that comes again and again is cheaper by `command`. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  command(sql: string): void {
    this.#statement(sql).run();
  }

  close(): void {
    this.#database.close();
  }

  #statement(sql: string): Statement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

function bound(value: Value): Bound {
  if (typeof value === 'string') return toColumn(value);
  if (value === null || typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value);
}

/**
 * Text must come back as it went in, on every runtime. SQLite's text is UTF-8, which has no lone surrogates, and drivers
 * disagree about NUL: such text is kept as a JSON string instead, and so is text that begins with a quotation mark, so
 * that no two texts share a form. JSON itself escapes both.
 */
export function toColumn(text: string): string {
  const { isWellFormed } = text as string & { isWellFormed(): boolean };
  const isPlain = !text.startsWith('"') && isWellFormed.call(text) && !text.includes('\0');
  return isPlain ? text : JSON.stringify(text);
}

export function fromColumn(column: string): string {
  return column.startsWith('"') ? (JSON.parse(column) as string) : column;
}

/** SQLite's result codes, the primary ones and those extended ones of IOERR that say more; and those of the system. */
const meanings: Readonly<Partial<Record<ErrorCode, readonly (number | string)[]>>> = {
  // BUSY, LOCKED, PROTOCOL (lost a race for WAL locks, which is worth another try)
  'store-busy': [5, 6, 15],
  // PERM, READONLY
  'store-read-only': [3, 8, 'EACCES', 'EPERM', 'EROFS'],
  // CORRUPT, NOTADB, SHORT_READ (the file is shorter than it says), CORRUPTFS
  'store-corrupt': [11, 26, 522, 8458],
  // FULL, SHMSIZE (no room for the shared index of the WAL)
  'store-full': [13, 4874, 'ENOSPC', 'EDQUOT'],
};

const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  'store-busy': 'is locked by another process that does not let go; end that process and try again.',
  'store-corrupt':
    'is damaged; move it (with its -wal and -shm files) out of the way, or put a backup in its place.',
  'store-full':
    'cannot grow because the disk is full; free some space and try again. Nothing was half-written.',
  'store-read-only':
    'cannot be written; give yourself write access to it and its directory, or set UNTILDONE_HOME.',
  'store-unavailable': 'cannot be used; see the cause, or set UNTILDONE_HOME to another directory.',
};

interface DriverError {
  /** Node: SQLite's extended result code. Bun has it in `errno`, where file system errors have a negative number. */
  readonly errcode?: unknown;
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Of the driver or of a damaged row; what the work inside a transaction throws is its own. */
export function isStoreFailure(error: unknown): boolean {
  const { errcode, errno } = (error ?? {}) as DriverError;
  return typeof errcode === 'number' || typeof errno === 'number' || error instanceof SyntaxError;
}

export function toStoreError(error: unknown, path: string): UntildoneError {
  if (error instanceof UntildoneError) return error;
  const code = codeOf(error) ?? codeOfPlace(path) ?? 'store-unavailable';
  const detail = String((error as DriverError | null)?.message ?? error);
  return new UntildoneError(code, `The store at ${path} ${sentences[code]} (${detail})`, error);
}

function codeOf(error: unknown): ErrorCode | null {
  const { errcode, errno, code } = (error ?? {}) as DriverError;
  if (error instanceof SyntaxError) return 'store-corrupt';
  const result = typeof errcode === 'number' ? errcode : Number(errno);
  const wanted = result > 0 ? [result, result & 0xff] : [code];
  for (const [meaning, numbers] of Object.entries(meanings))
    if (wanted.some((one) => numbers.includes(one as number | string))) return meaning as ErrorCode;
  return null;
}

/** SQLite says only "unable to open" when it may not create the files that stand beside the database. */
function codeOfPlace(path: string): ErrorCode | null {
  // Where the path begins to be missing: making a directory in a read-only place says only "no such directory".
  let place = dirname(path);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  try {
    accessSync(place, constants.W_OK);
    return null;
  } catch (error) {
    // It cannot be written; its own error says why, and if that says nothing new the code stays what it was.
    return codeOf(error);
  }
}

export function isBusy(error: unknown): boolean {
  return (error instanceof UntildoneError ? error.code : codeOf(error)) === 'store-busy';
}

export interface LockPatience {
  /** How long to go on trying in all. */
  readonly totalMs: number;
  readonly path: string;
}

/** The first pause between two tries, and the longest; in between they double. */
const [firstPauseMs, longestPauseMs] = [1, 20];

/**
 * Tries again while another process holds a lock, so that "database is locked" never reaches a caller who could simply
 * have waited. It awaits and never blocks. Real time, not the store's clock: a real process holds the lock.
 */
export async function waitForLock<T>(attempt: () => T, { totalMs, path }: LockPatience): Promise<T> {
  // Not `performance`: only asking for it loads a part of Node that a hook does not need.
  const now = (): number => process.uptime() * 1000;
  const deadline = now() + totalMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (now() >= deadline) throw stillBusy(path, totalMs, error);
    }
    // Random, so that processes that failed together do not come back together.
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
  }
}

function stillBusy(path: string, totalMs: number, cause: unknown): UntildoneError {
  const seconds = Math.round(totalMs / 100) / 10;
  const sentence = `was locked by another process for ${seconds} s; end that process and try again.`;
  return new UntildoneError('store-busy', `The store at ${path} ${sentence}`, cause);
}

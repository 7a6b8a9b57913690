// Opens a database file with node:sqlite or bun:sqlite, through the few methods that both
// have, and explains their errors. It knows no tables and starts no transaction.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type ErrorCode, messageOf, UntildoneError } from '../../core/error.ts';
import { errorCode, makeFolder } from '../../engine/system.ts';

type Bound = string | number | null;
type Value = Bound | boolean | object;
type Row = Record<string, unknown>;

interface Statement {
  run(...values: Bound[]): { readonly changes: number | bigint };
  /** If there is no row, Node returns undefined and Bun null. */
  get(...values: Bound[]): Row | null | undefined;
  all(...values: Bound[]): Row[];
}

/** The methods that both drivers have. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** Opens the file with the driver of this runtime. */
export async function openDatabase(path: string, readOnly = false): Promise<Database> {
  if (!process.versions['bun'])
    return new (loadNodeSqlite().DatabaseSync)(path, { readOnly }) as Database;
  // A variable, so that no bundler looks for the module.
  const specifier = 'bun:sqlite';
  const bun = (await import(specifier)) as { Database: OpenBun };
  return readOnly ? new bun.Database(path, { readonly: true }) : new bun.Database(path);
}
type OpenBun = new (path: string, options?: { readonly: true }) => Database;

/** Longer texts are cut. */
const mostLetters = 4000;

/**
 * Reads a table in another program's database: its rows as texts, in the order in which
 * they were added. Null: there is no such table, it has more than `most` rows, or it
 * cannot be read now. Nothing is written, and no lock outlives the call.
 */
export async function readTable(
  path: string,
  table: string,
  columns: readonly string[],
  most: number,
) {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
  let database: Database | null = null;
  try {
    database = await openDatabase(path, true);
    database.exec('PRAGMA busy_timeout = 1000');
    // A view may be any query, also one that never ends.
    const isTable = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?`;
    if (!database.prepare(isTable).get(table)) return null;
    const texts = columns.map(
      (name) => `substr(CAST("${name}" AS TEXT), 1, ${mostLetters}) AS "${name}"`,
    );
    const sql = `SELECT ${texts.join(', ')} FROM "${table}" ORDER BY rowid LIMIT ${most + 1}`;
    const rows = database.prepare(sql).all();
    return rows.length > most ? null : rows;
  } catch {
    // Safe: the caller takes null to mean that nothing is known.
    return null;
  } finally {
    database?.close();
  }
}

/** What SQLite finds wrong with a file, in its own words; null: nothing. */
export async function damageOf(path: string): Promise<string | null> {
  const database = await openDatabase(path);
  try {
    const [row] = database.prepare('PRAGMA quick_check(1)').all();
    const answer = String(Object.values(row ?? {})[0] ?? '');
    return answer === 'ok' ? null : answer;
  } finally {
    database.close();
  }
}

type OpenNode = new (path: string, options?: { readonly readOnly: boolean }) => unknown;

/**
 * Loads node:sqlite without Node 22's warning that it is experimental: hooks must not
 * print it.
 */
export function loadNodeSqlite(): { readonly DatabaseSync: OpenNode } {
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
 * Creates the file for the user alone, since plans may hold secrets. An existing file is
 * not opened: closing it would drop our locks on it.
 */
export function prepareFile(path: string): void {
  if (path === ':memory:') return;
  const found = statSync(path, { throwIfNoEntry: false });
  const sentence = `The store at ${path} is a directory; name a file instead.`;
  if (found?.isDirectory()) throw new UntildoneError('store-unavailable', sentence);
  if (found) return;
  makeFolder(dirname(path), 0o700);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Safe: another process has just created the file.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** An open file with the statements that the store uses. */
export type Connection = ReturnType<typeof createConnection>;

/**
 * Prepares each statement once. Texts are bound in column form and objects as JSON,
 * always by "?", since Node 22.13 knows no other way.
 */
export function createConnection(database: Database, path: string, patienceMs: number) {
  const prepared = new Map<string, Statement>();
  const inserts = new Map<string, Readonly<{ sql: string; keys: readonly string[] }>>();

  function statement(sql: string): Statement {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  }

  /**
   * Repeats the attempt while another process holds a lock, without blocking. The time is
   * real: a real process holds the lock.
   */
  async function retry<T>(attempt: () => T): Promise<T> {
    // Not `performance`: it loads a part of Node that a hook does not need.
    const now = (): number => process.uptime() * 1000;
    const deadline = now() + patienceMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 20)) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (now() >= deadline) throw stillBusy(error);
      }
      // The pause is random: processes that failed together must not come back together.
      await new Promise((resolve) =>
        setTimeout(resolve, pauseMs * (0.5 + Math.random())),
      );
    }
  }

  function stillBusy(cause: unknown): UntildoneError {
    const locked = `was locked by another process for ${Math.round(patienceMs / 100) / 10} s`;
    const sentence = `The store at ${path} ${locked}; end that process and try again.`;
    return new UntildoneError('store-busy', sentence, cause);
  }

  /** Runs a statement; returns how many rows it wrote. */
  function run(sql: string, ...values: readonly Value[]): number {
    return Number(statement(sql).run(...values.map(bound)).changes);
  }

  /** The first column of the first row; null: there is no row. */
  function value<T>(sql: string, ...values: readonly Value[]): T | null {
    const [first = null] = Object.values(statement(sql).get(...values.map(bound)) ?? {});
    return fromColumn(first) as T | null;
  }

  /** The rows, as they were inserted. */
  function rows<T>(sql: string, ...values: readonly Value[]): T[] {
    const property = ([column, held]: [string, unknown]) => [
      column.replace(/_(.)/gu, (_, letter: string) => letter.toUpperCase()),
      fromColumn(held),
    ];
    const toRow = (row: Row) =>
      Object.fromEntries(Object.entries(row).map(property)) as T;
    return statement(sql)
      .all(...values.map(bound))
      .map(toRow);
  }

  /** The values in the JSON column `body`: `bodies('usage WHERE session_id = ?', id)`. */
  function bodies<T>(from: string, ...values: readonly Value[]): T[] {
    const found = statement(`SELECT body FROM ${from}`).all(...values.map(bound));
    return found.map(({ body }) => JSON.parse(body as string) as T);
  }

  /**
   * Inserts a row; returns how many rows it wrote. An existing row stays or, with `key`,
   * gets the new values if `condition` allows it.
   */
  function insert(
    table: string,
    row: Readonly<Record<string, Value>>,
    key = '',
    condition = '',
  ): number {
    let known = inserts.get(table + key);
    if (known === undefined) {
      const keys = Object.keys(row);
      const columns = keys.map((name) =>
        name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
      );
      const news = columns.map((column) => `${column} = excluded.${column}`).join(', ');
      const conflict =
        key === '' ? 'DO NOTHING' : `(${key}) DO UPDATE SET ${news} ${condition}`;
      const marks = columns.map(() => '?').join(', ');
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks}) ON CONFLICT ${conflict}`;
      known = { sql, keys };
      inserts.set(table + key, known);
    }
    return run(known.sql, ...known.keys.map((name) => row[name] ?? null));
  }

  return {
    path,
    retry,
    run,
    value,
    rows,
    bodies,
    insert,
    /** Runs a statement without preparing it. */
    exec: (sql: string): void => database.exec(sql),
    close: (): void => database.close(),
  };
}

function bound(value: Value): Bound {
  if (typeof value === 'string') return toColumn(value);
  if (value === null || typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value);
}

/**
 * SQLite has no lone surrogates, and the drivers disagree about NUL: such text becomes
 * JSON, and so does text that looks like JSON.
 */
export function toColumn(text: string): string {
  const { isWellFormed } = text as string & { isWellFormed(): boolean };
  const isPlain =
    !text.startsWith('"') && isWellFormed.call(text) && !text.includes('\0');
  return isPlain ? text : JSON.stringify(text);
}

/** The value that `toColumn` stored. */
export function fromColumn(column: unknown): unknown {
  return typeof column === 'string' && column.startsWith('"')
    ? JSON.parse(column)
    : column;
}

/** Which codes of SQLite and of the system have which meaning. */
const meanings: readonly (readonly [ErrorCode, ...(number | string)[]])[] = [
  ['store-busy', 5, 6, 15], // BUSY, LOCKED, PROTOCOL (lost a race for WAL locks)
  ['store-read-only', 3, 8, 'EACCES', 'EPERM', 'EROFS'], // PERM, READONLY
  ['store-corrupt', 11, 26, 522, 8458], // CORRUPT, NOTADB, SHORT_READ, CORRUPTFS
  ['store-full', 13, 4874, 'ENOSPC', 'EDQUOT'], // FULL, SHMSIZE (no room for the index of the WAL)
];

const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  'store-busy': 'is locked by another process; end that process and try again.',
  'store-corrupt':
    'is damaged; move it (with its -wal and -shm files) out of the way, or put a backup in its place.',
  'store-full':
    'cannot grow because the disk is full; free some space and try again. Nothing was half-written.',
  'store-read-only':
    'cannot be written; give yourself write access to it and its directory, or set UNTILDONE_HOME.',
  'store-unavailable':
    'cannot be used; see the cause, or set UNTILDONE_HOME to another directory.',
};

/**
 * Node has the code in `errcode`, Bun in `errno`, where those of the system are negative.
 */
function resultCode(error: unknown): number | null {
  const { errcode, errno } = (error ?? {}) as {
    readonly errcode?: unknown;
    readonly errno?: unknown;
  };
  const code = errcode ?? errno;
  return typeof code === 'number' ? code : null;
}

/**
 * True for an error of the driver or of a damaged row; false for an error of the work
 * inside a transaction.
 */
export function isStoreFailure(error: unknown): boolean {
  return resultCode(error) !== null || error instanceof SyntaxError;
}

/** The error as one that callers expect, with what to do about it. */
export function toStoreError(error: unknown, path: string): UntildoneError {
  if (error instanceof UntildoneError) return error;
  const code = codeOf(error) ?? folderErrorCode(path) ?? 'store-unavailable';
  return new UntildoneError(
    code,
    `The store at ${path} ${sentences[code]} (${messageOf(error)})`,
    error,
  );
}

function codeOf(error: unknown): ErrorCode | undefined {
  if (error instanceof UntildoneError) return error.code;
  if (error instanceof SyntaxError) return 'store-corrupt';
  const result = resultCode(error) ?? 0;
  const words = result > 0 ? [result, result & 0xff] : [errorCode(error)];
  return meanings.find(([, ...numbers]) =>
    words.some((word) => numbers.includes(word)),
  )?.[0];
}

/**
 * Looks for the cause in the folder: SQLite only says "unable to open" if it may not
 * create the files beside the database.
 */
function folderErrorCode(path: string): ErrorCode | undefined {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    // Safe: the error gives the reason.
    return codeOf(error);
  }
}

/** Tells whether the error means that another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === 'store-busy';
}

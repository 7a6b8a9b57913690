// One open connection with its prepared statements, by name. Every error leaves it as an UntildoneError.
// It starts no transaction by itself.
import { arrangeValues, toPlainParameters } from './numbered-parameters.ts';
import { type Database, openDatabase, type Row, type Statement, type Value } from './open-database.ts';
import { type StatementName, statements } from './statements.ts';
import { toStoreError } from './store-errors.ts';

export class Connection {
  readonly path: string;
  readonly #database: Database;
  readonly #prepared = new Map<StatementName, Prepared>();

  constructor(database: Database, path: string) {
    this.#database = database;
    this.path = path;
  }

  exec(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  /** For the few statements that are run once, at opening. */
  query(sql: string, ...values: Value[]): Row[] {
    try {
      return this.#database.prepare(sql).all(...values);
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  /** Says how many rows changed. */
  run(name: StatementName, ...values: Value[]): number {
    try {
      const { statement, order } = this.#prepare(name);
      return Number(statement.run(...arrangeValues(order, values)).changes);
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  get(name: StatementName, ...values: Value[]): Row | null {
    try {
      const { statement, order } = this.#prepare(name);
      return statement.get(...arrangeValues(order, values)) ?? null;
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  all(name: StatementName, ...values: Value[]): Row[] {
    try {
      const { statement, order } = this.#prepare(name);
      return statement.all(...arrangeValues(order, values));
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  close(): void {
    try {
      this.#database.close();
    } catch (error) {
      throw toStoreError(error, this.path);
    }
  }

  #prepare(name: StatementName): Prepared {
    let prepared = this.#prepared.get(name);
    if (!prepared) {
      const { sql, order } = toPlainParameters(statements[name]);
      prepared = { statement: this.#database.prepare(sql), order };
      this.#prepared.set(name, prepared);
    }
    return prepared;
  }
}

interface Prepared {
  readonly statement: Statement;
  readonly order: readonly number[] | null;
}

export async function connect(path: string): Promise<Connection> {
  try {
    return new Connection(await openDatabase(path), path);
  } catch (error) {
    throw toStoreError(error, path);
  }
}

/** The JSON column of a row. */
export function parseBody<T>(row: Row, path: string): T {
  try {
    return JSON.parse(row['body'] as string) as T;
  } catch (error) {
    throw toStoreError(error, path);
  }
}

// The statements of a connection for the length of one transaction. Once that has ended every call is refused:
// a late write would otherwise be committed on its own, outside of everything.
import { transactionEnded } from '../refused-writes.ts';
import { type Connection, parseBody } from './connection.ts';
import type { Row, Value } from './open-database.ts';
import type { StatementName } from './statements.ts';

export class StatementScope {
  #connection: Connection | null;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  run(name: StatementName, ...values: Value[]): number {
    return this.#open().run(name, ...values);
  }

  get(name: StatementName, ...values: Value[]): Row | null {
    return this.#open().get(name, ...values);
  }

  all(name: StatementName, ...values: Value[]): Row[] {
    return this.#open().all(name, ...values);
  }

  body<T>(name: StatementName, ...values: Value[]): T | null {
    const connection = this.#open();
    const row = connection.get(name, ...values);
    return row ? parseBody<T>(row, connection.path) : null;
  }

  bodies<T>(name: StatementName, ...values: Value[]): T[] {
    const connection = this.#open();
    return connection.all(name, ...values).map((row) => parseBody<T>(row, connection.path));
  }

  parse<T>(row: Row): T {
    return parseBody<T>(row, this.#open().path);
  }

  end(): void {
    this.#connection = null;
  }

  #open(): Connection {
    if (this.#connection) return this.#connection;
    throw transactionEnded();
  }
}

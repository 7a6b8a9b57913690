// Edits of the store behind the system's back, with SQLite's own tools, as a process of
// the same user could make them. Naive ones: nobody here rebuilds a chain or a hash.
import { DatabaseSync } from 'node:sqlite';

type Body = Record<string, unknown>;

export interface StoreEditor {
  /** Changes the JSON of the rows of a table that fit; the columns beside it follow. */
  change(
    table: Table,
    fits: (body: Body) => boolean,
    changes: (body: Body) => Body,
  ): void;
  run(sql: string, ...values: (string | number)[]): void;
  all(sql: string): Record<string, unknown>[];
  close(): void;
}

type Table = 'todos' | 'sessions' | 'ledger';

const keyColumns: Readonly<Record<Table, readonly string[]>> = {
  todos: ['id'],
  sessions: ['id'],
  ledger: ['plan_id', 'sequence'],
};

/**
 * Columns that repeat a field of the body: an edit of one without the other would be
 * found for the wrong reason.
 */
const mirrored: Readonly<Record<Table, Readonly<Record<string, string>>>> = {
  todos: { status: 'status', plan_id: 'planId' },
  sessions: { plan_id: 'planId' },
  ledger: {},
};

export function editStore(path: string): StoreEditor {
  const database = new DatabaseSync(path, { timeout: 2000 });
  return {
    change(table, fits, changes) {
      for (const row of database.prepare(`SELECT * FROM ${table}`).all()) {
        const body = JSON.parse(String(row['body'])) as Body;
        if (!fits(body)) continue;
        const after = changes(body);
        const columns = Object.entries(mirrored[table]).map(
          ([column, field]) => [column, String(after[field] ?? row[column])] as const,
        );
        const set = ['body = ?', ...columns.map(([column]) => `${column} = ?`)].join(
          ', ',
        );
        const where = keyColumns[table].map((column) => `${column} = ?`).join(' AND ');
        const keys = keyColumns[table].map((column) => row[column] as string | number);
        const values = [
          JSON.stringify(after),
          ...columns.map(([, value]) => value),
          ...keys,
        ];
        database.prepare(`UPDATE ${table} SET ${set} WHERE ${where}`).run(...values);
      }
    },
    run: (sql, ...values) => void database.prepare(sql).run(...values),
    all: (sql) => database.prepare(sql).all(),
    close: () => database.close(),
  };
}

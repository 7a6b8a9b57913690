// The one place that opens a database file: node:sqlite under Node, bun:sqlite under Bun, seen through the
// few methods that both have. It knows nothing of tables and turns no error into another.

export type Value = string | number | null;
export type Row = Record<string, unknown>;

export interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint };
  /** Node answers undefined, Bun null, when there is no row. */
  get(...values: Value[]): Row | null | undefined;
  all(...values: Value[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export async function openDatabase(path: string): Promise<Database> {
  return process.versions['bun'] ? openUnderBun(path) : openUnderNode(path);
}

function openUnderNode(path: string): Database {
  const { DatabaseSync } = loadNodeSqlite();
  return new DatabaseSync(path) as Database;
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

async function openUnderBun(path: string): Promise<Database> {
  // A variable, so that neither Node's loader nor a bundler looks for a module that only Bun has.
  const specifier = 'bun:sqlite';
  const bun = (await import(specifier)) as { Database: new (path: string) => Database };
  return new bun.Database(path);
}

// The layout of the store, and how an older store is brought to it. It refuses a newer
// store, one of an unpublished version, and another program's file.
import { UntildoneError } from '../../core/error.ts';
import { type Connection, createConnection, openDatabase } from './open-database.ts';

/**
 * The columns that a table and its archive share. Each row has its whole value as JSON in
 * `body`; the other columns are those that statements search and sort by. There are no
 * foreign keys: an event may come before its session, and archiving moves whole sessions.
 */
const shared = {
  events: `id TEXT NOT NULL, session_id TEXT NOT NULL, type TEXT NOT NULL, at REAL NOT NULL, applied INTEGER,
    body TEXT NOT NULL`,
  decisions: 'session_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL',
  evidence: `session_id TEXT NOT NULL, kind TEXT NOT NULL, fingerprint TEXT NOT NULL, at REAL NOT NULL, todo_id TEXT,
    check_id TEXT, result TEXT, tail TEXT, body TEXT`,
  outbox: `session_id TEXT NOT NULL, epoch REAL NOT NULL, instance TEXT NOT NULL, state TEXT NOT NULL,
    created_at REAL NOT NULL, body TEXT NOT NULL`,
  usage: 'session_id TEXT NOT NULL, body TEXT NOT NULL',
  messages: `session_id TEXT NOT NULL, sequence INTEGER NOT NULL, turn_id TEXT, at REAL NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL`,
  calls: `session_id TEXT NOT NULL, call_id TEXT NOT NULL, step_id TEXT NOT NULL, tool TEXT NOT NULL,
    read_only INTEGER NOT NULL, input TEXT NOT NULL, started_at REAL NOT NULL, result TEXT, ended_at REAL,
    settled INTEGER NOT NULL DEFAULT 0`,
  todos: `id TEXT NOT NULL, plan_id TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL,
    position INTEGER NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL`,
  ledger: 'plan_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL',
  shown: 'session_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL',
};

/**
 * `revision` rises with each change of the plan, so that a process with a cached plan
 * sees that another one wrote it.
 */
const sessions = `id TEXT NOT NULL PRIMARY KEY, plan_id TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
  directory TEXT, updated_at REAL NOT NULL, body TEXT NOT NULL, revision INTEGER NOT NULL`;

export type MovedTable = keyof typeof shared | 'sessions';

/** The names of a table's columns, separated by commas. */
export function columnsOf(table: MovedTable): string {
  const columns = table === 'sessions' ? sessions : shared[table];
  return columns.replace(/\s*(\w+)[^,]*/gu, '$1');
}

const withArchive = (
  table: keyof typeof shared,
  key: 'session' | 'plan',
  rest: string,
): string => `
CREATE TABLE ${table} (${shared[table]}${rest};
CREATE TABLE archived_${table} (${shared[table]}) STRICT;
CREATE INDEX archived_${table}_by_${key} ON archived_${table} (${key}_id);`;

/**
 * How many rows of what a run showed are kept: enough for a long day. The newest row
 * replaces the oldest.
 */
export const shownRows = 4000;

/** The layout of a new store, in one piece. */
const schema = `
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE sessions (${sessions}) STRICT;
CREATE INDEX sessions_by_age ON sessions (updated_at DESC, id, host, directory);
CREATE INDEX sessions_by_plan ON sessions (plan_id);
CREATE TABLE archived_sessions (${sessions}, archived_at REAL NOT NULL) STRICT;

-- A plan is loaded whole, in the order of position.
${withArchive('todos', 'plan', ', UNIQUE (id)) STRICT')}
CREATE INDEX todos_of_plan ON todos (plan_id, position);
CREATE INDEX todos_by_turn ON todos (turn_id, status);
CREATE INDEX todos_by_session ON todos (session_id, turn_id);
CREATE INDEX archived_todos_by_session ON archived_todos (session_id, plan_id);

-- applied is null in the inbox.
${withArchive('events', 'session', ', arrival INTEGER PRIMARY KEY, UNIQUE (id)) STRICT')}
CREATE INDEX events_by_session ON events (session_id, applied);
CREATE UNIQUE INDEX archived_events_by_id ON archived_events (id);
${withArchive('decisions', 'session', ', UNIQUE (session_id, sequence)) STRICT')}
${withArchive('ledger', 'plan', ', PRIMARY KEY (plan_id, sequence)) STRICT, WITHOUT ROWID')}

-- kind 'workspace': a fingerprint that was seen. kind 'check': a row with a body; its other columns are for people.
${withArchive('evidence', 'session', ') STRICT')}
CREATE INDEX evidence_by_fingerprint ON evidence (session_id, kind, fingerprint);
${withArchive('outbox', 'session', ', PRIMARY KEY (session_id, epoch)) STRICT')}
CREATE INDEX outbox_open ON outbox (instance, created_at, session_id, epoch) WHERE state IN ('intended', 'sent');

CREATE TABLE timers (
  session_id TEXT NOT NULL PRIMARY KEY, instance TEXT NOT NULL, due_at REAL NOT NULL, purpose TEXT NOT NULL,
  epoch REAL NOT NULL
) STRICT;
CREATE INDEX timers_by_instance ON timers (instance, due_at, session_id);
CREATE TABLE policies (hash TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT;
${withArchive('usage', 'session', ') STRICT')}
CREATE INDEX usage_by_session ON usage (session_id);
CREATE TABLE leases (instance TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, expires_at REAL NOT NULL) STRICT;
${withArchive('messages', 'session', ', UNIQUE (session_id, sequence)) STRICT')}

-- settled is 1 once the messages of the step are written.
${withArchive('calls', 'session', ', UNIQUE (session_id, call_id)) STRICT')}
CREATE INDEX calls_unsettled ON calls (session_id, step_id) WHERE settled = 0;

CREATE TABLE check_runs (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, directory TEXT NOT NULL, state TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX check_runs_active ON check_runs (directory, arrival) WHERE state IN ('asked', 'running');

-- What a run shows, for those who look on from elsewhere. Nothing is decided by it.
${withArchive('shown', 'session', ') STRICT')}
CREATE UNIQUE INDEX shown_in_turn ON shown (session_id, sequence % ${shownRows});
CREATE INDEX shown_in_order ON shown (session_id, sequence);
`;

/** Stores up to this layout are refused: no version that made one was ever published. */
const lastUnpublished = 5;

/** SQL, or a function, that brings a store from one layout to the next. */
export type Migration = string | ((db: Connection) => void);

/**
 * The first step creates a new store; each further one brings a store from one layout to
 * the next. Steps are only ever appended.
 */
export const migrations: readonly Migration[] = [schema];

/** The layout that these steps lead to. */
export function newestLayout(steps: readonly Migration[]): number {
  return lastUnpublished + steps.length;
}

/** "untd": tells our files from those of other programs. */
const applicationId = 0x756e7464;

/**
 * Runs all missing steps in one transaction. Returns true if it brought an older store to
 * this layout.
 */
export async function migrateStore(
  db: Connection,
  steps: readonly Migration[],
  now: number,
): Promise<boolean> {
  const newest = newestLayout(steps);
  const find = () => findLayout(db, newest);
  if ((await db.retry(find)) === newest) return false;
  await db.retry(() => db.exec('BEGIN IMMEDIATE'));
  try {
    // Asked again, since another process may have been faster.
    const found = find();
    for (let layout = found ?? lastUnpublished; layout < newest; layout += 1) {
      const step = steps[layout - lastUnpublished];
      if (typeof step === 'function') step(db);
      else if (step !== undefined) db.exec(step);
      db.insert('meta', { key: `version ${layout + 1} since`, value: String(now) });
    }
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${newest}`);
    // Before the write-ahead log is on, readers can delay a commit.
    await db.retry(() => db.exec('COMMIT'));
    return found !== null && found < newest;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** Ends a transaction without its changes. */
export function rollBack(db: Connection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // Safe: SQLite has rolled back by itself, and the first error is the one to report.
  }
}

/**
 * Throws `store-newer` if the file has a newer layout: a newer program may have changed
 * it since this one opened the file. Returns the layout.
 */
export function assertVersion(db: Connection, known: number): number {
  const found = db.value<number>('PRAGMA user_version') ?? 0;
  if (found <= known) return found;
  const writer = `a newer untildone (layout ${found}, this one knows ${known})`;
  const help = 'update untildone, or set UNTILDONE_HOME to another directory.';
  throw new UntildoneError(
    'store-newer',
    `The store at ${db.path} was written by ${writer}: ${help}`,
  );
}

const moveOffer = '`untildone init` offers that at a terminal.';

/** Returns the layout of the file; null: the file is new. */
function findLayout(db: Connection, known: number): number | null {
  // In this order, since another process may migrate in between.
  const isEmpty = db.value('SELECT 1 FROM sqlite_schema') === null;
  const id = db.value('PRAGMA application_id');
  if (id !== applicationId) {
    if (isEmpty) return null;
    const sentence = `The file ${db.path} is a database of another program; name another file for the store.`;
    throw new UntildoneError('store-unavailable', sentence);
  }
  const found = assertVersion(db, known);
  if (found > lastUnpublished) return found;
  const sentence = `The store was made by an unpublished version: move it away (${db.path}).`;
  throw new UntildoneError('store-older', `${sentence} ${moveOffer}`);
}

/**
 * Says why the store is refused as one of an unpublished version; null: it is not one, or
 * cannot be read. Its files stay as they are.
 */
export async function whyOlder(path: string): Promise<string | null> {
  let db: Connection | null = null;
  try {
    db = createConnection(await openDatabase(path, true), path, 0);
    findLayout(db, Number.POSITIVE_INFINITY);
    return null;
  } catch (error) {
    // Safe: opening the store reports everything else that is wrong with it.
    const isOlder = error instanceof UntildoneError && error.code === 'store-older';
    return isOlder ? error.message : null;
  } finally {
    db?.close();
  }
}

// The layout of the store, and how an older one is brought to it: forward only, all missing steps in one transaction,
// so that any number of processes may open a new store at once. A newer store, or another program's, is refused.
// Each row keeps its whole value as JSON in `body`; the other columns are what statements search and sort by.
// No foreign keys: an event may reach the inbox before its session exists, and archiving moves whole sessions.
import { UntildoneError } from '../../core/error.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session } from '../../core/state.ts';
import { sealOf, sha256 } from '../../engine/system.ts';
import { type Connection, type LockPatience, waitForLock } from './open-database.ts';

/** An archived row has the columns of its table, none of the constraints, and an index to be found by. */
const archived = (table: string, key: string, columns: string): string => `
CREATE TABLE archived_${table} (${columns}) STRICT;
CREATE INDEX archived_${table}_by_${key.replace('_id', '')} ON archived_${table} (${key});`;

const timed = 'session_id TEXT NOT NULL, sequence INTEGER NOT NULL';
const messages = `${timed}, turn_id TEXT, at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL`;
const calls = `session_id TEXT NOT NULL, call_id TEXT NOT NULL, step_id TEXT NOT NULL, tool TEXT NOT NULL,
  read_only INTEGER NOT NULL, input TEXT NOT NULL, started_at REAL NOT NULL, result TEXT, ended_at REAL`;
const evidence = `session_id TEXT NOT NULL, kind TEXT NOT NULL, fingerprint TEXT NOT NULL, at REAL NOT NULL,
  todo_id TEXT, check_id TEXT, result TEXT, tail TEXT, body TEXT`;
const outbox = `session_id TEXT NOT NULL, epoch REAL NOT NULL, instance TEXT NOT NULL, state TEXT NOT NULL,
  created_at REAL NOT NULL, body TEXT NOT NULL`;
const sessions = `id TEXT NOT NULL PRIMARY KEY, plan_id TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
  directory TEXT, updated_at REAL NOT NULL, body TEXT NOT NULL`;
const marks = 'next_rank INTEGER, unnamed_drop INTEGER, check_failed INTEGER, unverified INTEGER';
const todosOf3 = `plan_id TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, host_key TEXT, title_key TEXT,
  status TEXT NOT NULL, priority TEXT, verification TEXT, rank REAL NOT NULL, ${marks}, body TEXT NOT NULL`;

/** Version 3, the layout of 0.1.0; what came before it was never released. Of its indexes those that are kept. */
const released = `
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE sessions (${sessions}) STRICT;
CREATE INDEX sessions_by_age ON sessions (updated_at DESC, id, host, directory);
CREATE INDEX sessions_by_plan ON sessions (plan_id);
CREATE TABLE archived_sessions (${sessions}, archived_at REAL NOT NULL) STRICT;

CREATE TABLE todos (arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ${todosOf3}) STRICT;
CREATE TABLE archived_todos (id TEXT NOT NULL, ${todosOf3}) STRICT;

-- The inbox (applied is null) and the record of what was applied, in its order.
CREATE TABLE events (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, type TEXT NOT NULL,
  at REAL NOT NULL, applied INTEGER, body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session_id, applied, at);
${archived('events', 'session_id', 'id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, at REAL NOT NULL, applied INTEGER, body TEXT NOT NULL')}

CREATE TABLE decisions (${timed}, body TEXT NOT NULL, UNIQUE (session_id, sequence)) STRICT;
${archived('decisions', 'session_id', `${timed}, body TEXT NOT NULL`)}

CREATE TABLE ledger (
  plan_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (plan_id, sequence)
) STRICT, WITHOUT ROWID;
${archived('ledger', 'plan_id', 'plan_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL')}

-- kind 'workspace': a fingerprint that was seen. kind 'check': the whole row is in body; the columns beside it are for
-- people who look with their own tools.
CREATE TABLE evidence (${evidence}) STRICT;
CREATE INDEX evidence_by_fingerprint ON evidence (session_id, kind, fingerprint);
${archived('evidence', 'session_id', evidence)}

CREATE TABLE outbox (${outbox}, PRIMARY KEY (session_id, epoch)) STRICT;
CREATE INDEX outbox_open ON outbox (instance, created_at, session_id, epoch) WHERE state IN ('intended', 'sent');
${archived('outbox', 'session_id', outbox)}

CREATE TABLE timers (
  session_id TEXT NOT NULL PRIMARY KEY, instance TEXT NOT NULL, due_at REAL NOT NULL, purpose TEXT NOT NULL,
  epoch REAL NOT NULL
) STRICT;
CREATE INDEX timers_by_instance ON timers (instance, due_at, session_id);

CREATE TABLE policies (hash TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT;

CREATE TABLE usage (session_id TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE INDEX usage_by_session ON usage (session_id);
${archived('usage', 'session_id', 'session_id TEXT NOT NULL, body TEXT NOT NULL')}

CREATE TABLE leases (instance TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, expires_at REAL NOT NULL) STRICT;

CREATE TABLE messages (${messages}, UNIQUE (session_id, sequence)) STRICT;
${archived('messages', 'session_id', messages)}

-- settled is 1 once the messages of the step are written: from then on the call is history.
CREATE TABLE calls (${calls}, settled INTEGER NOT NULL DEFAULT 0, UNIQUE (session_id, call_id)) STRICT;
CREATE INDEX calls_unsettled ON calls (session_id, step_id) WHERE settled = 0;
${archived('calls', 'session_id', `${calls}, settled INTEGER NOT NULL`)}

CREATE TABLE check_runs (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, directory TEXT NOT NULL, state TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX check_runs_active ON check_runs (directory, arrival) WHERE state IN ('asked', 'running');
`;

/** The plan is loaded whole and keeps its order by `position`: only what finds a plan or a turn is indexed (T4). */
const todos = `id TEXT NOT NULL, plan_id TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL,
  position INTEGER NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL`;
const reshape = (table: string, constraint: string, arrival: string): string => `
CREATE TABLE ${table}_of_4 (${todos}${constraint}) STRICT;
INSERT INTO ${table}_of_4 (id, plan_id, session_id, turn_id, position, status, body)
  SELECT id, plan_id, session_id, turn_id, row_number() OVER (PARTITION BY plan_id ORDER BY rank, ${arrival}) - 1,
    status, body FROM ${table} ORDER BY plan_id, rank, ${arrival};
DROP TABLE ${table};
ALTER TABLE ${table}_of_4 RENAME TO ${table};`;

const wholePlans = `
${reshape('todos', ', UNIQUE (id)', 'arrival')}
CREATE INDEX todos_of_plan ON todos (plan_id, position);
CREATE INDEX todos_by_turn ON todos (turn_id, status);
CREATE INDEX todos_by_session ON todos (session_id, turn_id);
${reshape('archived_todos', '', 'rowid')}
CREATE INDEX archived_todos_by_plan ON archived_todos (plan_id);
CREATE INDEX archived_todos_by_session ON archived_todos (session_id, plan_id);
-- Rises with each change of the session's plan, so that a process that keeps the plan sees that another wrote it.
ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE archived_sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
DROP INDEX events_by_session;
CREATE INDEX events_by_session ON events (session_id, applied);
`;

/** Version 4: sessions no longer count their todos and are sealed with the plan; one whose seal was broken stays so. */
function toWholePlans(connection: Connection): void {
  connection.exec(wholePlans);
  for (const table of ['sessions', 'archived_sessions']) {
    for (const { id } of connection.all(`SELECT id FROM ${table}`)) {
      const row = connection.get(`SELECT plan_id, body FROM ${table} WHERE id = ?`, id as string);
      const planId = row?.['plan_id'] as string;
      const old = JSON.parse(row?.['body'] as string) as Session & Record<'counts' | 'lastOrder', unknown>;
      const isSound = old.seal === sha256(JSON.stringify({ ...old, seal: undefined }));
      const { counts: _, lastOrder: __, ...session } = old;
      const sealed = isSound
        ? { ...session, seal: sealOf(session, ...endOf(connection, planId), sha256) }
        : session;
      connection.run(`UPDATE ${table} SET body = ? WHERE id = ?`, JSON.stringify(sealed), id as string);
    }
  }
}

function endOf(connection: Connection, planId: string): [head: string | null, length: number] {
  const inBoth = (what: string, table: string): string =>
    `SELECT ${what} FROM ${table} WHERE plan_id = ? UNION ALL SELECT ${what} FROM archived_${table} WHERE plan_id = ?`;
  const last = `${inBoth('sequence, body', 'ledger')} ORDER BY sequence DESC LIMIT 1`;
  const entry = connection.get(last, planId, planId);
  const head = entry === null ? null : (JSON.parse(entry['body'] as string) as LedgerEntry).hash;
  return [head, connection.all(inBoth('1', 'todos'), planId, planId).length];
}

export type Migration = string | ((connection: Connection) => void);

/** What leads from version n to version n + 1 stands at index n. Entries are only ever appended. */
export const migrations: readonly Migration[] = [released, '', '', toWholePlans];

/** "untd": tells our files from those of other programs. */
const applicationId = 0x756e7464;

/** Answers with the version that it found; 0: a new file. */
export async function migrate(
  connection: Connection,
  steps: readonly Migration[],
  now: number,
  patience: LockPatience,
): Promise<number> {
  const found = await waitForLock(() => assertOurs(connection, steps.length, patience.path), patience);
  if (found === steps.length) return found;
  await waitForLock(() => connection.exec('BEGIN IMMEDIATE'), patience);
  try {
    // Another process may have been faster while this one waited for the lock.
    for (
      let version = assertOurs(connection, steps.length, patience.path);
      version < steps.length;
      version += 1
    ) {
      const step = steps[version];
      if (typeof step === 'function') step(connection);
      // bun:sqlite refuses a statement without words.
      else if (step) connection.exec(step);
      connection.run(
        'INSERT INTO meta (key, value) VALUES (?, ?)',
        `version ${version + 1} since`,
        String(now),
      );
    }
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`);
    // A new file has no write-ahead log yet, so that readers can hold up a commit.
    await waitForLock(() => connection.exec('COMMIT'), patience);
    return found;
  } catch (error) {
    rollBack(connection);
    throw error;
  }
}

export function rollBack(connection: Connection): void {
  try {
    connection.exec('ROLLBACK');
  } catch {
    // SQLite rolls back by itself after a full disk or an I/O error; then there is nothing left to undo, and
    // the error that led here is the one worth telling.
  }
}

/** The version that was found; a newer program may have changed the layout since this one opened the file. */
export function assertVersion(connection: Connection, known: number, path: string): number {
  const found = Number(connection.get('PRAGMA user_version')?.['user_version']);
  if (found <= known) return found;
  throw new UntildoneError(
    'store-newer',
    `The store at ${path} was written by a newer untildone (layout ${found}, this one knows ${known}): ` +
      'update untildone, or set UNTILDONE_HOME to another directory.',
  );
}

function assertOurs(connection: Connection, known: number, path: string): number {
  // In this order: another process may commit the first migration between two of these questions.
  const tables = connection.all('SELECT 1 FROM sqlite_schema LIMIT 1').length;
  const id = connection.get('PRAGMA application_id')?.['application_id'];
  if (tables === 0 || id === applicationId) return assertVersion(connection, known, path);
  throw new UntildoneError(
    'store-unavailable',
    `The file ${path} is a database of another program; name another file for the store.`,
  );
}

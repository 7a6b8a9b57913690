// The layout of the store, and how an older one is brought to it. A newer store, or
// another program's, is refused. Each row has its whole value as JSON in `body`; the
// other columns are what statements search and sort by. No foreign keys: an event may
// come before its session, and archiving moves whole sessions.
import { UntildoneError } from '../../core/error.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session } from '../../core/state.ts';
import { sealOf, sha256 } from '../../engine/system.ts';
import type { Connection } from './open-database.ts';

/** What a table and its archive both have. */
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
const sessions = `id TEXT NOT NULL PRIMARY KEY, plan_id TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
  directory TEXT, updated_at REAL NOT NULL, body TEXT NOT NULL`;

export type MovedTable = keyof typeof shared | 'sessions';

export function columnsOf(table: MovedTable): string {
  const columns = table === 'sessions' ? `${sessions}, revision INTEGER` : shared[table];
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

/** Version 3, the layout of 0.1.0, as far as it is kept; none before it was released. */
const released = `
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE sessions (${sessions}) STRICT;
CREATE INDEX sessions_by_age ON sessions (updated_at DESC, id, host, directory);
CREATE INDEX sessions_by_plan ON sessions (plan_id);
CREATE TABLE archived_sessions (${sessions}, archived_at REAL NOT NULL) STRICT;

-- As far as the next step reads them.
CREATE TABLE todos (${shared.todos}, rank REAL, arrival INTEGER PRIMARY KEY) STRICT;
CREATE TABLE archived_todos (${shared.todos}, rank REAL) STRICT;

-- applied is null in the inbox.
${withArchive('events', 'session', ', arrival INTEGER PRIMARY KEY, UNIQUE (id)) STRICT')}
CREATE INDEX events_by_session ON events (session_id, applied, at);
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
`;

/** The plan is loaded whole, in the order of `position` (T4). */
const reshape = (table: string, constraint: string, arrival: string): string => `
CREATE TABLE ${table}_of_4 (${shared.todos}${constraint}) STRICT;
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
-- Rises with each change of the plan, so that a process that keeps the plan sees that another wrote it.
ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE archived_sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
DROP INDEX events_by_session;
CREATE INDEX events_by_session ON events (session_id, applied);
`;

type OldSession = Session & Record<'counts' | 'lastOrder', unknown>;

/**
 * Version 4: sessions no longer count their todos and are sealed with the plan; a broken
 * seal stays broken.
 */
function toWholePlans(db: Connection): void {
  db.exec(wholePlans);
  for (const table of ['sessions', 'archived_sessions']) {
    // One at a time: there may be very many.
    for (const { id } of db.rows<Pick<Session, 'id'>>(`SELECT id FROM ${table}`))
      for (const old of db.bodies<OldSession>(`${table} WHERE id = ?`, id)) {
        const isSound = old.seal === sha256(JSON.stringify({ ...old, seal: undefined }));
        const { counts: _, lastOrder: __, ...session } = old;
        const seal = isSound
          ? sealOf(session, ...endOf(db, old.planId), sha256)
          : old.seal;
        db.run(`UPDATE ${table} SET body = ? WHERE id = ?`, { ...session, seal }, id);
      }
  }
}

function endOf(db: Connection, planId: string): [head: string | null, length: number] {
  const inBoth = (what: string, table: string): string =>
    `SELECT ${what} FROM ${table} WHERE plan_id = ? UNION ALL SELECT ${what} FROM archived_${table} WHERE plan_id = ?`;
  const newest = `${inBoth('body, sequence', 'ledger')} ORDER BY sequence DESC LIMIT 1`;
  const last = db.value<string>(newest, planId, planId);
  const head = last === null ? null : (JSON.parse(last) as LedgerEntry).hash;
  return [head, db.rows(inBoth('1', 'todos'), planId, planId).length];
}

/**
 * Of what a run showed: enough for a long day, and a bound. The newest row takes the
 * place of the oldest.
 */
export const shownRows = 4000;

/**
 * Version 5: what a run shows, for those who look on from elsewhere. Nothing is decided
 * by it.
 */
const shownStream = `
${withArchive('shown', 'session', ') STRICT')}
CREATE UNIQUE INDEX shown_in_turn ON shown (session_id, sequence % ${shownRows});
CREATE INDEX shown_in_order ON shown (session_id, sequence);
`;

export type Migration = string | ((db: Connection) => void);

/** From version n to n + 1 at index n; only ever appended to. */
export const migrations: readonly Migration[] = [
  released,
  '',
  '',
  toWholePlans,
  shownStream,
];

/** "untd": tells our files from those of other programs. */
const applicationId = 0x756e7464;

/**
 * All missing steps in one transaction. Answers with the version that it found; 0: a new
 * file.
 */
export async function migrate(
  db: Connection,
  steps: readonly Migration[],
  now: number,
): Promise<number> {
  const find = () => assertOurs(db, steps.length);
  const found = await db.retry(find);
  if (found === steps.length) return found;
  await db.retry(() => db.exec('BEGIN IMMEDIATE'));
  try {
    // Asked again: another process may have been faster.
    for (let version = find(); version < steps.length; version += 1) {
      const step = steps[version];
      if (typeof step === 'function') step(db);
      // bun:sqlite refuses a statement without words.
      else if (step) db.exec(step);
      db.insert('meta', { key: `version ${version + 1} since`, value: String(now) });
    }
    db.exec(
      `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`,
    );
    // Before the write-ahead log is on, readers can hold up a commit.
    await db.retry(() => db.exec('COMMIT'));
    return found;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

export function rollBack(db: Connection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // Safe: SQLite has rolled back by itself; the error that led here is the one to tell.
  }
}

/** A newer program may have changed the layout since this one opened the file. */
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

function assertOurs(db: Connection, known: number): number {
  // In this order: another process may migrate in between.
  const isEmpty = db.value('SELECT 1 FROM sqlite_schema') === null;
  const id = db.value('PRAGMA application_id');
  if (isEmpty || id === applicationId) return assertVersion(db, known);
  const sentence = `The file ${db.path} is a database of another program; name another file for the store.`;
  throw new UntildoneError('store-unavailable', sentence);
}

// Version 1 of the layout, as it was first written. Never edited once released: a change is a new migration.
// Each row keeps its whole value as JSON in `body`; the other columns are what statements search and sort by.
// No foreign keys: an event may reach the inbox before its session exists, and archiving moves whole sessions.

/** What archived rows look like: the same columns, none of the constraints but what finding them needs. */
const archive = `
CREATE TABLE archived_sessions (
  id TEXT NOT NULL PRIMARY KEY, plan_id TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
  directory TEXT, updated_at REAL NOT NULL, body TEXT NOT NULL, archived_at REAL NOT NULL
) STRICT;

CREATE TABLE archived_todos (
  id TEXT NOT NULL, plan_id TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL, host_key TEXT,
  title_key TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL, verification TEXT NOT NULL,
  rank REAL NOT NULL, next_rank INTEGER, unnamed_drop INTEGER NOT NULL, check_failed INTEGER NOT NULL,
  unverified INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_todos_by_plan ON archived_todos (plan_id);
CREATE INDEX archived_todos_by_session ON archived_todos (session_id, plan_id);

CREATE TABLE archived_events (
  id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, at REAL NOT NULL, applied INTEGER,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_events_by_session ON archived_events (session_id);

CREATE TABLE archived_decisions (
  session_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_decisions_by_session ON archived_decisions (session_id);

CREATE TABLE archived_ledger (
  plan_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_ledger_by_plan ON archived_ledger (plan_id);

CREATE TABLE archived_evidence (
  session_id TEXT NOT NULL, kind TEXT NOT NULL, fingerprint TEXT NOT NULL, at REAL NOT NULL, todo_id TEXT,
  check_id TEXT, result TEXT, tail TEXT
) STRICT;
CREATE INDEX archived_evidence_by_session ON archived_evidence (session_id);

CREATE TABLE archived_outbox (
  session_id TEXT NOT NULL, epoch REAL NOT NULL, instance TEXT NOT NULL, state TEXT NOT NULL,
  created_at REAL NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_outbox_by_session ON archived_outbox (session_id);

CREATE TABLE archived_usage (
  session_id TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_usage_by_session ON archived_usage (session_id);
`;

export const firstSchema = `
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE sessions (
  id TEXT NOT NULL PRIMARY KEY, plan_id TEXT NOT NULL, host TEXT NOT NULL, instance TEXT NOT NULL,
  directory TEXT, updated_at REAL NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_age ON sessions (updated_at DESC, id, host, directory);
CREATE INDEX sessions_by_plan ON sessions (plan_id);

-- arrival breaks ties between equal ranks: every index ends in it. next_rank is T5 as one number, null: not open.
CREATE TABLE todos (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, plan_id TEXT NOT NULL, session_id TEXT NOT NULL,
  turn_id TEXT NOT NULL, host_key TEXT, title_key TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL,
  verification TEXT NOT NULL, rank REAL NOT NULL, next_rank INTEGER, unnamed_drop INTEGER NOT NULL,
  check_failed INTEGER NOT NULL, unverified INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX todos_by_turn ON todos (turn_id, status);
CREATE INDEX todos_by_session ON todos (session_id, turn_id);
CREATE INDEX todos_in_order ON todos (plan_id, rank);
CREATE INDEX todos_next ON todos (plan_id, next_rank, rank) WHERE next_rank IS NOT NULL;
CREATE INDEX todos_by_host_key ON todos (plan_id, host_key, rank) WHERE host_key IS NOT NULL;
CREATE INDEX todos_by_title ON todos (plan_id, title_key, rank)
  WHERE status IN ('pending', 'in_progress', 'blocked');
CREATE INDEX todos_dropped ON todos (plan_id, rank) WHERE unnamed_drop = 1;
CREATE INDEX todos_failed ON todos (plan_id, rank) WHERE check_failed = 1;
CREATE INDEX todos_in_progress ON todos (plan_id, rank) WHERE status = 'in_progress';
CREATE INDEX todos_unverified ON todos (plan_id, rank) WHERE unverified = 1;

-- The inbox (applied is null) and the record of what was applied, in its order.
CREATE TABLE events (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, type TEXT NOT NULL,
  at REAL NOT NULL, applied INTEGER, body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_session ON events (session_id, applied, at);

CREATE TABLE decisions (
  session_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (session_id, sequence)
) STRICT;

CREATE TABLE ledger (
  plan_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (plan_id, sequence)
) STRICT, WITHOUT ROWID;

-- kind 'workspace': a fingerprint that was seen. The other columns are for the results of checks.
CREATE TABLE evidence (
  session_id TEXT NOT NULL, kind TEXT NOT NULL, fingerprint TEXT NOT NULL, at REAL NOT NULL, todo_id TEXT,
  check_id TEXT, result TEXT, tail TEXT
) STRICT;
CREATE INDEX evidence_by_fingerprint ON evidence (session_id, kind, fingerprint);

CREATE TABLE outbox (
  session_id TEXT NOT NULL, epoch REAL NOT NULL, instance TEXT NOT NULL, state TEXT NOT NULL,
  created_at REAL NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session_id, epoch)
) STRICT;
CREATE INDEX outbox_open ON outbox (instance, created_at, session_id, epoch)
  WHERE state IN ('intended', 'sent');

CREATE TABLE timers (
  session_id TEXT NOT NULL PRIMARY KEY, instance TEXT NOT NULL, due_at REAL NOT NULL, purpose TEXT NOT NULL,
  epoch REAL NOT NULL
) STRICT;
CREATE INDEX timers_by_instance ON timers (instance, due_at, session_id);

CREATE TABLE policies (hash TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT;

CREATE TABLE usage (session_id TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE INDEX usage_by_session ON usage (session_id);

CREATE TABLE leases (instance TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, expires_at REAL NOT NULL) STRICT;
${archive}`;

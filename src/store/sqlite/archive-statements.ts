// The SQL that moves whole sessions and plans into the archive tables and back. A row is only deleted from one
// table in the transaction that wrote it to the other; columns are named, so that both sides may grow apart.

const session = 'id, plan_id, host, instance, directory, updated_at, body';
const todo = `id, plan_id, session_id, turn_id, host_key, title_key, status, priority, verification, rank,
  next_rank, unnamed_drop, check_failed, unverified, body`;
const event = 'id, session_id, type, at, applied, body';
const decision = 'session_id, sequence, body';
const ledger = 'plan_id, sequence, body';
const evidence = 'session_id, kind, fingerprint, at, todo_id, check_id, result, tail, body';
const outbox = 'session_id, epoch, instance, state, created_at, body';
const usage = 'session_id, body';
const message = 'session_id, sequence, turn_id, at, kind, body';
const call = 'session_id, call_id, step_id, tool, read_only, input, started_at, result, ended_at, settled';

/** Sorted by rowid, so that the order of arrival survives both ways. */
function copy(from: string, to: string, columns: string, key: string): string {
  return `INSERT INTO ${to} (${columns}) SELECT ${columns} FROM ${from} WHERE ${key} = ? ORDER BY rowid`;
}

export const archiveStatements = {
  sessionsToArchive: `SELECT id, plan_id FROM sessions
    WHERE updated_at < ?1 AND NOT EXISTS (SELECT 1 FROM timers WHERE session_id = sessions.id)
      AND NOT EXISTS (
        SELECT 1 FROM events WHERE session_id = sessions.id AND applied IS NULL AND at >= ?1)
    ORDER BY updated_at LIMIT ?2`,
  plansOfSession: 'SELECT DISTINCT plan_id FROM todos WHERE session_id = ?',
  isPlanShared: `SELECT EXISTS (SELECT 1 FROM sessions WHERE plan_id = ?1 AND id <> ?2)
    OR EXISTS (
      SELECT 1 FROM todos WHERE plan_id = ?1 AND session_id <> ?2
        AND EXISTS (SELECT 1 FROM sessions WHERE sessions.id = todos.session_id)) AS shared`,
  archiveSession: `INSERT INTO archived_sessions (${session}, archived_at) SELECT ${session}, ?2
    FROM sessions WHERE id = ?1`,
  archiveTodos: copy('todos', 'archived_todos', todo, 'plan_id'),
  archiveEvents: copy('events', 'archived_events', event, 'session_id'),
  archiveDecisions: copy('decisions', 'archived_decisions', decision, 'session_id'),
  archiveLedger: `INSERT INTO archived_ledger (${ledger}) SELECT ${ledger} FROM ledger WHERE plan_id = ?`,
  archiveEvidence: copy('evidence', 'archived_evidence', evidence, 'session_id'),
  archiveOutbox: copy('outbox', 'archived_outbox', outbox, 'session_id'),
  archiveUsage: copy('usage', 'archived_usage', usage, 'session_id'),
  archiveMessages: copy('messages', 'archived_messages', message, 'session_id'),
  archiveCalls: copy('calls', 'archived_calls', call, 'session_id'),
  removeSession: 'DELETE FROM sessions WHERE id = ?',
  removeTodos: 'DELETE FROM todos WHERE plan_id = ?',
  removeEvents: 'DELETE FROM events WHERE session_id = ?',
  removeDecisions: 'DELETE FROM decisions WHERE session_id = ?',
  removeLedger: 'DELETE FROM ledger WHERE plan_id = ?',
  removeEvidence: 'DELETE FROM evidence WHERE session_id = ?',
  removeOutbox: 'DELETE FROM outbox WHERE session_id = ?',
  removeUsage: 'DELETE FROM usage WHERE session_id = ?',
  removeMessages: 'DELETE FROM messages WHERE session_id = ?',
  removeCalls: 'DELETE FROM calls WHERE session_id = ?',

  archivedSession: 'SELECT plan_id FROM archived_sessions WHERE id = ?',
  archivedPlansOfSession: 'SELECT DISTINCT plan_id FROM archived_todos WHERE session_id = ?',
  isPlanLive: `SELECT EXISTS (SELECT 1 FROM todos WHERE plan_id = ?1)
    OR EXISTS (SELECT 1 FROM ledger WHERE plan_id = ?1) AS live`,
  restoreSession: copy('archived_sessions', 'sessions', session, 'id'),
  restoreTodos: copy('archived_todos', 'todos', todo, 'plan_id'),
  restoreEvents: copy('archived_events', 'events', event, 'session_id'),
  restoreDecisions: copy('archived_decisions', 'decisions', decision, 'session_id'),
  restoreLedger: copy('archived_ledger', 'ledger', ledger, 'plan_id'),
  restoreEvidence: copy('archived_evidence', 'evidence', evidence, 'session_id'),
  restoreOutbox: copy('archived_outbox', 'outbox', outbox, 'session_id'),
  restoreUsage: copy('archived_usage', 'usage', usage, 'session_id'),
  restoreMessages: copy('archived_messages', 'messages', message, 'session_id'),
  restoreCalls: copy('archived_calls', 'calls', call, 'session_id'),
  forgetArchivedSession: 'DELETE FROM archived_sessions WHERE id = ?',
  forgetArchivedTodos: 'DELETE FROM archived_todos WHERE plan_id = ?',
  forgetArchivedEvents: 'DELETE FROM archived_events WHERE session_id = ?',
  forgetArchivedDecisions: 'DELETE FROM archived_decisions WHERE session_id = ?',
  forgetArchivedLedger: 'DELETE FROM archived_ledger WHERE plan_id = ?',
  forgetArchivedEvidence: 'DELETE FROM archived_evidence WHERE session_id = ?',
  forgetArchivedOutbox: 'DELETE FROM archived_outbox WHERE session_id = ?',
  forgetArchivedUsage: 'DELETE FROM archived_usage WHERE session_id = ?',
  forgetArchivedMessages: 'DELETE FROM archived_messages WHERE session_id = ?',
  forgetArchivedCalls: 'DELETE FROM archived_calls WHERE session_id = ?',
} as const;

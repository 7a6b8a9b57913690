// Archiving: the rows of whole sessions and plans change tables inside one transaction, and come back the same way.
// A row is only deleted from one table in the transaction that wrote it to the other. The archive is in the same file,
// because two files cannot be committed as one in WAL mode.
import { type Connection, fromColumn, type Row } from './open-database.ts';

/** Table, columns and order. Columns are named, so that both sides may grow apart. */
const ofSession = [
  ['events', 'id, session_id, type, at, applied, body'],
  ['decisions', 'session_id, sequence, body'],
  ['evidence', 'session_id, kind, fingerprint, at, todo_id, check_id, result, tail, body'],
  ['outbox', 'session_id, epoch, instance, state, created_at, body'],
  ['usage', 'session_id, body'],
  ['messages', 'session_id, sequence, turn_id, at, kind, body'],
  ['calls', 'session_id, call_id, step_id, tool, read_only, input, started_at, result, ended_at, settled'],
] as const;
const ofPlan = [
  ['todos', 'id, plan_id, session_id, turn_id, position, status, body', 'rowid'],
  ['ledger', 'plan_id, sequence, body', 'sequence'],
] as const;
const session = 'id, plan_id, host, instance, directory, updated_at, body, revision';

/** `from` and `to` are put before the names of the tables: one of them is empty. */
function move(
  connection: Connection,
  from: string,
  to: string,
  id: string,
  planIds: readonly string[],
): void {
  const moveRows = (table: string, columns: string, key: string, value: string, order: string): void => {
    const rows = `FROM ${from}${table} WHERE ${key} = ?`;
    connection.run(
      `INSERT INTO ${to}${table} (${columns}) SELECT ${columns} ${rows} ORDER BY ${order}`,
      value,
    );
    connection.run(`DELETE ${rows}`, value);
  };
  for (const [table, columns] of ofSession) moveRows(table, columns, 'session_id', id, 'rowid');
  for (const planId of planIds)
    for (const [table, columns, order] of ofPlan) moveRows(table, columns, 'plan_id', planId, order);
}

/** The plan that the session works on, and those that it left. */
function plansOf(connection: Connection, row: Row, todos: string, id: string): string[] {
  const left = connection.all(`SELECT DISTINCT plan_id FROM ${todos} WHERE session_id = ?`, id);
  return [...new Set([row, ...left].map((plan) => fromColumn(plan['plan_id'] as string)))];
}

export function archiveSessions(connection: Connection, before: number, limit: number, now: number): number {
  const old = connection.all(
    `SELECT id, plan_id FROM sessions
      WHERE updated_at < ? AND NOT EXISTS (SELECT 1 FROM timers WHERE session_id = sessions.id)
        AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id AND applied IS NULL AND at >= ?)
      ORDER BY updated_at LIMIT ?`,
    ...[before, before, limit],
  );
  const isShared = `SELECT 1 FROM sessions WHERE plan_id = ? AND id <> ? UNION ALL
    SELECT 1 FROM todos WHERE plan_id = ? AND session_id <> ?
      AND EXISTS (SELECT 1 FROM sessions WHERE sessions.id = todos.session_id) LIMIT 1`;
  for (const row of old) {
    const id = fromColumn(row['id'] as string);
    const plans = plansOf(connection, row, 'todos', id);
    const own = plans.filter((planId) => connection.get(isShared, planId, id, planId, id) === null);
    connection.run(
      `INSERT INTO archived_sessions (${session}, archived_at) SELECT ${session}, ? FROM sessions WHERE id = ?`,
      ...[now, id],
    );
    connection.run('DELETE FROM sessions WHERE id = ?', id);
    move(connection, '', 'archived_', id, own);
  }
  return old.length;
}

/** Brings a session and its plans back; false: it is not in the archive. */
export function restoreSession(connection: Connection, id: string): boolean {
  const row = connection.get('SELECT plan_id FROM archived_sessions WHERE id = ?', id);
  if (row === null) return false;
  const isLive =
    'SELECT 1 FROM todos WHERE plan_id = ? UNION ALL SELECT 1 FROM ledger WHERE plan_id = ? LIMIT 1';
  const plans = plansOf(connection, row, 'archived_todos', id);
  const own = plans.filter((planId) => connection.get(isLive, planId, planId) === null);
  connection.run(
    `INSERT INTO sessions (${session}) SELECT ${session} FROM archived_sessions WHERE id = ?`,
    id,
  );
  connection.run('DELETE FROM archived_sessions WHERE id = ?', id);
  move(connection, 'archived_', '', id, own);
  return true;
}

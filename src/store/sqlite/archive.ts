// Archiving: the rows of whole sessions and plans change tables in one transaction, and come back the same way. In the
// same file, because two cannot be committed as one in WAL mode.
import { columnsOf, type MovedTable } from './migrate.ts';
import { type Connection, fromColumn, type Row } from './open-database.ts';

/** Prefixes of tables. */
type Way = readonly [from: string, to: string];

function moveRows(db: Connection, [from, to]: Way, tables: MovedTable[], key: string, value: string): void {
  for (const table of tables) {
    const columns = columnsOf(table);
    const rows = `FROM ${from}${table} WHERE ${key} = ?`;
    const order = table === 'ledger' ? 'sequence' : 'rowid';
    db.run(`INSERT INTO ${to}${table} (${columns}) SELECT ${columns} ${rows} ORDER BY ${order}`, value);
    db.run(`DELETE ${rows}`, value);
  }
}

function moveAll(db: Connection, way: Way, id: string, planIds: readonly string[]): void {
  const tables: MovedTable[] = ['events', 'decisions', 'evidence', 'outbox', 'usage', 'messages', 'calls'];
  moveRows(db, way, tables, 'session_id', id);
  for (const planId of planIds) moveRows(db, way, ['todos', 'ledger'], 'plan_id', planId);
}

/** The plan that the session works on, and those that it left. */
function plansOf(db: Connection, row: Row, todos: string, id: string): string[] {
  const left = db.all(`SELECT DISTINCT plan_id FROM ${todos} WHERE session_id = ?`, id);
  return [...new Set([row, ...left].map((plan) => fromColumn(plan['plan_id'] as string)))];
}

export function archiveSessions(db: Connection, before: number, limit: number, now: number): number {
  const old = db.all(
    `SELECT id, plan_id FROM sessions
      WHERE updated_at < ? AND NOT EXISTS (SELECT 1 FROM timers WHERE session_id = sessions.id)
        AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id AND applied IS NULL AND at >= ?)
      ORDER BY updated_at LIMIT ?`,
    ...[before, before, limit],
  );
  const isShared = `SELECT 1 FROM sessions WHERE plan_id = ? AND id <> ? UNION ALL
    SELECT 1 FROM todos WHERE plan_id = ? AND session_id <> ?
      AND EXISTS (SELECT 1 FROM sessions WHERE sessions.id = todos.session_id) LIMIT 1`;
  const columns = columnsOf('sessions');
  const archive = `INSERT INTO archived_sessions (${columns}, archived_at) SELECT ${columns}, ? FROM sessions WHERE id = ?`;
  for (const row of old) {
    const id = fromColumn(row['id'] as string);
    const plans = plansOf(db, row, 'todos', id);
    const own = plans.filter((planId) => db.get(isShared, planId, id, planId, id) === null);
    db.run(archive, now, id);
    db.run('DELETE FROM sessions WHERE id = ?', id);
    moveAll(db, ['', 'archived_'], id, own);
  }
  return old.length;
}

/** False: it is not in the archive. */
export function restoreSession(db: Connection, id: string): boolean {
  const row = db.get('SELECT plan_id FROM archived_sessions WHERE id = ?', id);
  if (row === null) return false;
  const isLive =
    'SELECT 1 FROM todos WHERE plan_id = ? UNION ALL SELECT 1 FROM ledger WHERE plan_id = ? LIMIT 1';
  const plans = plansOf(db, row, 'archived_todos', id);
  const own = plans.filter((planId) => db.get(isLive, planId, planId) === null);
  moveRows(db, ['archived_', ''], ['sessions'], 'id', id);
  moveAll(db, ['archived_', ''], id, own);
  return true;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTodo } from '../../../test/support/builders.ts';
import { toPlainParameters } from './numbered-parameters.ts';
import { type Database, openDatabase } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { type StatementName, statements } from './statements.ts';

const directory = mkdtempSync(join(tmpdir(), 'untildone-statements-'));
const path = join(directory, 'store.db');
let database: Database;

beforeAll(async () => {
  const store = await openSqliteStore({ path, clock: { now: () => 0 } });
  await store.transact(async (tx) => tx.createTodos(Array.from({ length: 200 }, () => aTodo())));
  await store.close();
  database = await openDatabase(path);
});
afterAll(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

function queryPlan(statement: string): string[] {
  const { sql } = toPlainParameters(statement);
  const values = [...sql.matchAll(/\?/gu)].map(() => 1);
  return database
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...values)
    .map((row) => String(row['detail']));
}

/** Walks of a whole table or index that are meant, and why. */
const meant: Readonly<Partial<Record<StatementName, RegExp>>> = {
  // Newest first until the limit is reached.
  sessionsNewest: /^SCAN sessions USING INDEX sessions_by_age$/u,
  // The statuses of the question itself, a JSON array of five at most.
  todosByTurnAndStatus: /^SCAN json_each/u,
  // One row.
  beginSnapshot: /^SCAN meta$/u,
};

describe('statements', () => {
  const names = Object.keys(statements) as StatementName[];
  for (const name of names.filter((candidate) => !statements[candidate].startsWith('PRAGMA'))) {
    it(`T4: ${name} finds its rows by an index`, () => {
      const scans = queryPlan(statements[name]).filter((step) => step.startsWith('SCAN'));
      expect(scans.filter((step) => step !== 'SCAN CONSTANT ROW' && !meant[name]?.test(step))).toEqual([]);
    });
  }

  const indexes: Readonly<Partial<Record<StatementName, string>>> = {
    todosByTurn: 'todos_by_turn (turn_id=?)',
    todosByTurnAndStatus: 'todos_by_turn (turn_id=? AND status=?)',
    todoCounts: 'COVERING INDEX todos_by_turn (turn_id=?)',
    plansOfSession: 'todos_by_session (session_id=?)',
    todosOfPlan: 'todos_in_order (plan_id=?)',
    todoAtPosition: 'todos_in_order (plan_id=?)',
    todosNext: 'todos_next (plan_id=?',
    todosDropped: 'todos_dropped (plan_id=?)',
    todosFailed: 'todos_failed (plan_id=?)',
    todosInProgress: 'todos_in_progress (plan_id=?)',
    todosUnverified: 'todos_unverified (plan_id=?)',
    todosByTitle: 'todos_by_title (plan_id=? AND title_key=?)',
    todosByHostKey: 'todos_by_host_key (plan_id=? AND host_key=?)',
    dueTimers: 'timers_by_instance (instance=? AND due_at<?)',
    openOutbox: 'outbox_open (instance=?)',
    pendingEvents: 'events_by_session (session_id=? AND applied=?)',
    appliedEvents: 'events_by_session (session_id=? AND applied>?)',
  };
  for (const [name, index] of Object.entries(indexes)) {
    it(`T4, T5: ${name} stands on ${index.split(' (')[0]}`, () => {
      expect(queryPlan(statements[name as StatementName]).join('\n')).toContain(index);
    });
  }

  const sorted: readonly StatementName[] = [
    'todosNext',
    'todosDropped',
    'todosFailed',
    'todosInProgress',
    'todosUnverified',
    'todosOfPlan',
    'todoAtPosition',
    'todosByTitle',
    'pendingEvents',
    'appliedEvents',
    'decisions',
    'ledger',
    'lastLedgerEntry',
    'dueTimers',
    'nextTimerAt',
    'openOutbox',
    'sessionsNewest',
    'sessionsToArchive',
  ];
  for (const name of sorted) {
    it(`T5: ${name} reads its rows in order instead of sorting them`, () => {
      expect(queryPlan(statements[name]).filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
    });
  }

  it('V7: every archive table can hold every column of its table', () => {
    const columns = (table: string) =>
      database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map((row) => String(row['name']));
    for (const table of [
      'sessions',
      'todos',
      'events',
      'decisions',
      'ledger',
      'evidence',
      'outbox',
      'usage',
    ]) {
      const kept = columns(table).filter((name) => name !== 'arrival');
      expect(columns(`archived_${table}`)).toEqual(expect.arrayContaining(kept));
      for (const direction of ['archive', 'restore']) {
        const name = `${direction}${table[0]?.toUpperCase()}${table.slice(1)}`.replace('Sessions', 'Session');
        const sql = statements[name as StatementName];
        for (const column of kept) expect(sql).toMatch(new RegExp(`\\b${column}\\b`, 'u'));
      }
    }
  });
});

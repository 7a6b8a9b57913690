// Raw node:sqlite writing the same rows per transaction as the engine does for one
// finished todo, in the same tables with the same indexes, with nothing around it: the
// bar that the engine is measured against.
import { DatabaseSync } from 'node:sqlite';

export interface RawWriter {
  /**
   * One transaction: reads the session, the todo and the last ledger entry; writes event,
   * todo, ledger, session.
   */
  write(index: number): void;
  close(): void;
}

/** `path` is a store that was filled like the engine's and closed. */
export function createRawWriter(path: string, sessionId: string): RawWriter {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = NORMAL');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const readSession = database.prepare('SELECT body FROM sessions WHERE id = ?');
  const readTodo = database.prepare('SELECT body FROM todos WHERE id = ?');
  const readLedger = database.prepare(
    'SELECT body FROM ledger WHERE plan_id = ? ORDER BY sequence DESC LIMIT 1',
  );
  const addEvent = database.prepare(
    'INSERT INTO events (id, session_id, type, at, applied, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const saveTodo = database.prepare(
    "UPDATE todos SET status = 'completed', body = ? WHERE id = ?",
  );
  const addLedger = database.prepare(
    'INSERT INTO ledger (plan_id, sequence, body) VALUES (?, ?, ?)',
  );
  const saveSession = database.prepare(
    'UPDATE sessions SET updated_at = ?, body = ? WHERE id = ?',
  );
  const body = (row: unknown): Record<string, unknown> =>
    JSON.parse((row as { body: string }).body);
  return {
    write(index) {
      begin.run();
      const session = body(readSession.get(sessionId));
      const todo = body(readTodo.get(`t${index}`));
      const ledger = body(readLedger.get(sessionId));
      const at = Date.now();
      const event = {
        id: `e${index}`,
        sessionId,
        at,
        type: 'todo-completed',
        todoId: `t${index}`,
        outcome: 'done',
      };
      addEvent.run(
        event.id,
        sessionId,
        event.type,
        at,
        1_000_000 + index,
        JSON.stringify(event),
      );
      saveTodo.run(
        JSON.stringify({ ...todo, status: 'completed', completedAt: at }),
        `t${index}`,
      );
      const sequence = (ledger['sequence'] as number) + 1;
      addLedger.run(sessionId, sequence, JSON.stringify({ ...ledger, sequence, at }));
      saveSession.run(at, JSON.stringify({ ...session, updatedAt: at }), sessionId);
      commit.run();
    },
    close: () => database.close(),
  };
}

// The SQL for todos. Every search stands on an index whose cost does not grow with the plan; only `todoAtPosition`
// walks one, and only `todosOfPlan` reads all rows. A test asks SQLite for the plan of each statement.

const columns = `id, plan_id, session_id, turn_id, host_key, title_key, status, priority, verification, rank,
  next_rank, unnamed_drop, check_failed, unverified, body`;

export const todoStatements = {
  todoById: 'SELECT body FROM todos WHERE id = ?',
  todosByTurn: 'SELECT body FROM todos WHERE turn_id = ? ORDER BY rank, arrival',
  /** The statuses come as one JSON array. */
  todosByTurnAndStatus: `SELECT body FROM todos
    WHERE turn_id = ?1 AND status IN (SELECT value FROM json_each(?2)) ORDER BY rank, arrival`,
  todoCounts: 'SELECT status, count(*) AS count FROM todos WHERE turn_id = ? GROUP BY status',
  todosOfPlan: 'SELECT body FROM todos WHERE plan_id = ? ORDER BY rank, arrival',

  todoOfPlanById: 'SELECT body FROM todos WHERE id = ? AND plan_id = ?',
  todosByHostKey: `SELECT body FROM todos WHERE plan_id = ? AND host_key = ? ORDER BY rank, arrival`,
  todosByTitle: `SELECT body FROM todos
    WHERE plan_id = ? AND title_key = ? AND status IN ('pending', 'in_progress', 'blocked')
    ORDER BY rank, arrival`,
  /** The inner question walks the index alone; only the row that it finds is read. */
  todoAtPosition: `SELECT body FROM todos WHERE arrival = (
      SELECT arrival FROM todos WHERE plan_id = ? ORDER BY rank, arrival LIMIT 1 OFFSET ?)`,
  todosNext: `SELECT body FROM todos
    WHERE plan_id = ? AND next_rank IS NOT NULL ORDER BY next_rank, rank, arrival LIMIT ?`,
  todosDropped:
    'SELECT body FROM todos WHERE plan_id = ? AND unnamed_drop = 1 ORDER BY rank, arrival LIMIT ?',
  todosFailed: 'SELECT body FROM todos WHERE plan_id = ? AND check_failed = 1 ORDER BY rank, arrival LIMIT ?',
  todosInProgress: `SELECT body FROM todos
    WHERE plan_id = ? AND status = 'in_progress' ORDER BY rank, arrival LIMIT ?`,
  todosUnverified:
    'SELECT body FROM todos WHERE plan_id = ? AND unverified = 1 ORDER BY rank, arrival LIMIT ?',

  createTodo: `INSERT INTO todos (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING`,
  /**
   * The usual change: a status, a mark, an outcome. SQLite rewrites the entry of every index on a column that is
   * set, changed or not, so the columns that hardly ever change are compared instead of set.
   */
  updateTodo: `UPDATE todos SET status = ?7, priority = ?8, verification = ?9, next_rank = ?11,
      unnamed_drop = ?12, check_failed = ?13, unverified = ?14, body = ?15
    WHERE id = ?1 AND plan_id = ?2 AND session_id = ?3 AND turn_id = ?4 AND host_key IS ?5 AND title_key = ?6
      AND rank = ?10`,
  /** The rare one: also reworded, moved, carried to another plan. */
  replaceTodo: `UPDATE todos SET plan_id = ?2, session_id = ?3, turn_id = ?4, host_key = ?5, title_key = ?6,
      status = ?7, priority = ?8, verification = ?9, rank = ?10, next_rank = ?11, unnamed_drop = ?12,
      check_failed = ?13, unverified = ?14, body = ?15
    WHERE id = ?1`,
} as const;

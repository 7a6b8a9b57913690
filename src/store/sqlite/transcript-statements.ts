// The SQL for the conversations of our own agent: messages, and tool calls until their step is written down.

export const transcriptStatements = {
  messagesAfter: `SELECT session_id, sequence, turn_id, at, kind, body FROM messages
    WHERE session_id = ? AND sequence > ? ORDER BY sequence`,
  addMessage: `INSERT INTO messages (session_id, sequence, turn_id, at, kind, body)
    VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM messages WHERE session_id = ?1), ?2, ?3, ?4, ?5)`,
  unsettledCalls: `SELECT session_id, call_id, step_id, tool, read_only, input, started_at, result, ended_at
    FROM calls WHERE session_id = ? AND settled = 0 ORDER BY rowid`,
  /** A call that is made again after a crash keeps its row: same id, same step. */
  startCall: `INSERT INTO calls (session_id, call_id, step_id, tool, read_only, input, started_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (session_id, call_id)
    DO UPDATE SET started_at = excluded.started_at WHERE result IS NULL`,
  finishCall: 'UPDATE calls SET result = ?3, ended_at = ?4 WHERE session_id = ?1 AND call_id = ?2',
  settleCalls: 'UPDATE calls SET settled = 1 WHERE session_id = ? AND step_id = ? AND settled = 0',
} as const;

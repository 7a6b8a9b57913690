// The SQL for what reaches hosts and when: timers, outbox, leases; and the policy snapshots.
// All of it is searched by host instance, so that the cost follows the active sessions, never all of them.

export const deliveryStatements = {
  dueTimers: `SELECT session_id, due_at, purpose, epoch FROM timers
    WHERE instance = ? AND due_at <= ? ORDER BY due_at, session_id LIMIT ?`,
  nextTimerAt: 'SELECT due_at FROM timers WHERE instance = ? ORDER BY due_at LIMIT 1',
  saveTimer: `INSERT INTO timers (session_id, instance, due_at, purpose, epoch) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (session_id) DO UPDATE SET instance = ?2, due_at = ?3, purpose = ?4, epoch = ?5`,
  removeTimer: 'DELETE FROM timers WHERE session_id = ?',

  openOutbox: `SELECT body FROM outbox WHERE instance = ? AND state IN ('intended', 'sent')
    ORDER BY created_at, session_id, epoch`,
  outbox: 'SELECT body FROM outbox WHERE session_id = ? ORDER BY epoch',
  outboxRow: 'SELECT body FROM outbox WHERE session_id = ? AND epoch = ?',
  saveOutbox: `INSERT INTO outbox (session_id, epoch, instance, state, created_at, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (session_id, epoch) DO UPDATE SET instance = ?3, state = ?4, created_at = ?5, body = ?6`,

  /** Nothing is written while another holder's lease runs. */
  takeLease: `INSERT INTO leases (instance, holder, expires_at) VALUES (?1, ?2, ?4)
    ON CONFLICT (instance) DO UPDATE SET holder = ?2, expires_at = ?4 WHERE holder = ?2 OR expires_at <= ?3`,
  leaseHolder: 'SELECT holder FROM leases WHERE instance = ?',
  releaseLease: 'DELETE FROM leases WHERE instance = ? AND holder = ?',

  policy: 'SELECT body FROM policies WHERE hash = ?',
  savePolicy: 'INSERT INTO policies (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING',
} as const;

// The SQL for sessions and what happens to them: events, decisions, ledger, evidence, usage.
// Numbered parameters where one value is used twice; every search stands on an index.

export const sessionStatements = {
  sessionById: 'SELECT body FROM sessions WHERE id = ?',
  /** Walks the index newest first; a filter is answered from the index alone. */
  sessionsNewest: `SELECT body FROM sessions
    WHERE (?1 IS NULL OR host = ?1) AND (?2 IS NULL OR directory = ?2) ORDER BY updated_at DESC, id LIMIT ?3`,
  /** No text sorts behind the last code point. */
  sessionsByPrefix: `SELECT body FROM sessions
    WHERE id BETWEEN ?4 AND ?4 || char(1114111)
      AND (?1 IS NULL OR host = ?1) AND (?2 IS NULL OR directory = ?2)
    ORDER BY updated_at DESC, id LIMIT ?3`,
  /** The usual save: what the indexes beside the age stand on is compared instead of set (see updateTodo). */
  updateSession: `UPDATE sessions SET updated_at = ?6, body = ?7
    WHERE id = ?1 AND plan_id = ?2 AND host = ?3 AND instance = ?4 AND directory IS ?5`,
  saveSession: `INSERT INTO sessions (id, plan_id, host, instance, directory, updated_at, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (id) DO UPDATE SET plan_id = ?2, host = ?3, instance = ?4, directory = ?5, updated_at = ?6,
      body = ?7`,

  isEventKnown: `SELECT EXISTS (SELECT 1 FROM events WHERE id = ?1)
    OR EXISTS (SELECT 1 FROM archived_events WHERE id = ?1) AS known`,
  pendingEvents: 'SELECT body FROM events WHERE session_id = ? AND applied IS NULL ORDER BY at, arrival',
  appliedEvents: `SELECT applied, body FROM events WHERE session_id = ? AND applied > ? ORDER BY applied LIMIT ?`,
  addEvent: `INSERT INTO events (id, session_id, type, at, body) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS (SELECT 1 FROM archived_events WHERE id = ?1) ON CONFLICT (id) DO NOTHING`,
  markApplied: `INSERT INTO events (id, session_id, type, at, body, applied)
    SELECT ?1, ?2, ?3, ?4, ?5, coalesce(max(applied), 0) + 1 FROM events WHERE session_id = ?2
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, applied = excluded.applied WHERE applied IS NULL`,

  decisions: 'SELECT sequence, body FROM decisions WHERE session_id = ? ORDER BY sequence DESC LIMIT ?',
  addDecision: `INSERT INTO decisions (session_id, sequence, body)
    SELECT ?1, coalesce(max(sequence), 0) + 1, ?2 FROM decisions WHERE session_id = ?1`,

  ledger: 'SELECT body FROM ledger WHERE plan_id = ? ORDER BY sequence',
  lastLedgerEntry: 'SELECT body FROM ledger WHERE plan_id = ? ORDER BY sequence DESC LIMIT 1',
  /** An entry that does not come after the last one is not written. */
  addLedgerEntry: 'INSERT INTO ledger (plan_id, sequence, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',

  hasFingerprint: `SELECT 1 AS found FROM evidence
    WHERE session_id = ? AND kind = 'workspace' AND fingerprint = ? LIMIT 1`,
  addFingerprint: `INSERT INTO evidence (session_id, kind, fingerprint, at) SELECT ?1, 'workspace', ?2, ?3
    WHERE NOT EXISTS (
      SELECT 1 FROM evidence WHERE session_id = ?1 AND kind = 'workspace' AND fingerprint = ?2)`,

  usage: 'SELECT body FROM usage WHERE session_id = ? ORDER BY rowid',
  addUsage: 'INSERT INTO usage (session_id, body) VALUES (?, ?)',
} as const;

// The SQL for the queue of checks and for what they saw.

export const checkStatements = {
  checkRun: 'SELECT body FROM check_runs WHERE id = ?',
  activeCheckRuns: `SELECT body FROM check_runs
    WHERE directory = ? AND state IN ('asked', 'running') ORDER BY arrival`,
  saveCheckRun: `INSERT INTO check_runs (id, directory, state, body) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (id) DO UPDATE SET state = ?3, body = ?4`,
  evidenceOf: `SELECT body FROM evidence
    WHERE session_id = ? AND kind = 'check' ORDER BY rowid DESC LIMIT ?`,
  addEvidence: `INSERT INTO evidence (session_id, kind, fingerprint, at, todo_id, check_id, result, tail, body)
    VALUES (?1, 'check', ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
} as const;

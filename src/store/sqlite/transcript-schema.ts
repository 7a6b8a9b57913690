// Version 2 of the layout: the conversations of our own agent.

export const transcriptSchema = `
CREATE TABLE messages (
  session_id TEXT NOT NULL, sequence INTEGER NOT NULL, turn_id TEXT, at REAL NOT NULL, kind TEXT NOT NULL,
  body TEXT NOT NULL, UNIQUE (session_id, sequence)
) STRICT;

-- settled is 1 once the messages of the step are written: from then on the call is history.
CREATE TABLE calls (
  session_id TEXT NOT NULL, call_id TEXT NOT NULL, step_id TEXT NOT NULL, tool TEXT NOT NULL,
  read_only INTEGER NOT NULL, input TEXT NOT NULL, started_at REAL NOT NULL, result TEXT, ended_at REAL,
  settled INTEGER NOT NULL DEFAULT 0, UNIQUE (session_id, call_id)
) STRICT;
CREATE INDEX calls_unsettled ON calls (session_id, step_id) WHERE settled = 0;

CREATE TABLE archived_messages (
  session_id TEXT NOT NULL, sequence INTEGER NOT NULL, turn_id TEXT, at REAL NOT NULL, kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX archived_messages_by_session ON archived_messages (session_id);

CREATE TABLE archived_calls (
  session_id TEXT NOT NULL, call_id TEXT NOT NULL, step_id TEXT NOT NULL, tool TEXT NOT NULL,
  read_only INTEGER NOT NULL, input TEXT NOT NULL, started_at REAL NOT NULL, result TEXT, ended_at REAL,
  settled INTEGER NOT NULL
) STRICT;
CREATE INDEX archived_calls_by_session ON archived_calls (session_id);
`;

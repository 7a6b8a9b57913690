// Version 3 of the layout: the queue of checks, and what they saw.

export const checkSchema = `
CREATE TABLE check_runs (
  arrival INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, directory TEXT NOT NULL, state TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX check_runs_active ON check_runs (directory, arrival) WHERE state IN ('asked', 'running');

-- kind 'check': the whole row is in body; the columns beside it are for people who look with their own tools.
ALTER TABLE evidence ADD COLUMN body TEXT;
ALTER TABLE archived_evidence ADD COLUMN body TEXT;
`;

// Every statement of the store by name, so that each is prepared once per connection and tests can ask SQLite
// how it would run each of them. SQL is never put together from values.
import { archiveStatements } from './archive-statements.ts';
import { checkStatements } from './check-statements.ts';
import { deliveryStatements } from './delivery-statements.ts';
import { sessionStatements } from './session-statements.ts';
import { todoStatements } from './todo-statements.ts';
import { transcriptStatements } from './transcript-statements.ts';

export const statements = {
  ...todoStatements,
  ...sessionStatements,
  ...deliveryStatements,
  ...transcriptStatements,
  ...checkStatements,
  ...archiveStatements,
  storeVersion: 'PRAGMA user_version',
  /** Reads one page, so that a reader's snapshot begins here and not at its first question. */
  beginSnapshot: 'SELECT value FROM meta LIMIT 1',
} as const;

export type StatementName = keyof typeof statements;

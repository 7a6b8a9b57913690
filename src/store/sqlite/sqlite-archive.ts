// Archiving in the SQLite store: the rows of whole sessions and plans change tables inside one transaction.
// The archive is in the same file, because two files cannot be committed as one in WAL mode.
import { toColumn } from './column-text.ts';
import type { StatementScope } from './statement-scope.ts';
import type { StatementName } from './statements.ts';

const sessionMoves: readonly StatementName[] = [
  'archiveEvents',
  'removeEvents',
  'archiveDecisions',
  'removeDecisions',
  'archiveEvidence',
  'removeEvidence',
  'archiveOutbox',
  'removeOutbox',
  'archiveUsage',
  'removeUsage',
  'archiveMessages',
  'removeMessages',
  'archiveCalls',
  'removeCalls',
  'removeSession',
];
const planMoves: readonly StatementName[] = ['archiveTodos', 'removeTodos', 'archiveLedger', 'removeLedger'];

const sessionReturns: readonly StatementName[] = [
  'restoreSession',
  'forgetArchivedSession',
  'restoreEvents',
  'forgetArchivedEvents',
  'restoreDecisions',
  'forgetArchivedDecisions',
  'restoreEvidence',
  'forgetArchivedEvidence',
  'restoreOutbox',
  'forgetArchivedOutbox',
  'restoreUsage',
  'forgetArchivedUsage',
  'restoreMessages',
  'forgetArchivedMessages',
  'restoreCalls',
  'forgetArchivedCalls',
];
const planReturns: readonly StatementName[] = [
  'restoreTodos',
  'forgetArchivedTodos',
  'restoreLedger',
  'forgetArchivedLedger',
];

export function archiveSessions(scope: StatementScope, before: number, limit: number, now: number): number {
  const sessions = scope.all('sessionsToArchive', before, limit);
  for (const session of sessions) {
    const id = session['id'] as string;
    const plans = new Set([session['plan_id'] as string]);
    for (const row of scope.all('plansOfSession', id)) plans.add(row['plan_id'] as string);
    for (const planId of plans) {
      if (scope.get('isPlanShared', planId, id)?.['shared'] === 1) continue;
      for (const move of planMoves) scope.run(move, planId);
    }
    scope.run('archiveSession', id, now);
    for (const move of sessionMoves) scope.run(move, id);
  }
  return sessions.length;
}

/** Brings a session and its plans back; false: it is not in the archive. */
export function restoreSession(scope: StatementScope, sessionId: string): boolean {
  const id = toColumn(sessionId);
  const archived = scope.get('archivedSession', id);
  if (!archived) return false;
  const plans = new Set([archived['plan_id'] as string]);
  for (const row of scope.all('archivedPlansOfSession', id)) plans.add(row['plan_id'] as string);
  for (const planId of plans) {
    if (scope.get('isPlanLive', planId)?.['live'] === 1) continue;
    for (const move of planReturns) scope.run(move, planId);
  }
  for (const move of sessionReturns) scope.run(move, id);
  return true;
}

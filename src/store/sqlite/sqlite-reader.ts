// The reading half of the SQLite store, within one transaction. It changes nothing.
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, SessionTimer } from '../../core/session.ts';
import type { CheckRun, EvidenceRow } from '../../engine/check-queue.ts';
import type {
  DueTimer,
  OutboxRow,
  SessionFilter,
  StoredDecision,
  StoredEvent,
  StoreReader,
  UsageRow,
} from '../../engine/store.ts';
import type { CallRow, MessageKind, MessageRow } from '../../engine/transcript.ts';
import { fromColumn, toColumn } from './column-text.ts';
import type { Row } from './open-database.ts';
import { SqliteTodoReader } from './sqlite-todo-reader.ts';

export class SqliteReader extends SqliteTodoReader implements StoreReader {
  session(id: string): Session | null {
    return this.scope.body('sessionById', toColumn(id));
  }

  sessions({ host, directory, idPrefix, limit }: SessionFilter): Session[] {
    const filter = [
      host === undefined ? null : toColumn(host),
      directory === undefined ? null : toColumn(directory),
      limit,
    ] as const;
    if (idPrefix === undefined) return this.scope.bodies('sessionsNewest', ...filter);
    return this.scope.bodies('sessionsByPrefix', ...filter, toColumn(idPrefix));
  }

  messages(sessionId: string, after: number): MessageRow[] {
    return this.scope.all('messagesAfter', toColumn(sessionId), after).map(messageOf);
  }

  unsettledCalls(sessionId: string): CallRow[] {
    return this.scope.all('unsettledCalls', toColumn(sessionId)).map(callOf);
  }

  checkRun(id: string): CheckRun | null {
    return this.scope.body('checkRun', toColumn(id));
  }

  activeCheckRuns(directory: string): CheckRun[] {
    return this.scope.bodies('activeCheckRuns', toColumn(directory));
  }

  evidence(sessionId: string, limit: number): EvidenceRow[] {
    return this.scope.bodies('evidenceOf', toColumn(sessionId), limit);
  }

  hasEvent(eventId: string): boolean {
    return this.scope.get('isEventKnown', toColumn(eventId))?.['known'] === 1;
  }

  pendingEvents(sessionId: string): Event[] {
    return this.scope.bodies('pendingEvents', toColumn(sessionId));
  }

  appliedEvents(sessionId: string, after: number, limit: number): StoredEvent[] {
    const rows = this.scope.all('appliedEvents', toColumn(sessionId), after, limit);
    return rows.map((row) => ({ applied: row['applied'] as number, event: this.scope.parse<Event>(row) }));
  }

  decisions(sessionId: string, limit: number): StoredDecision[] {
    const rows = this.scope.all('decisions', toColumn(sessionId), limit);
    return rows.map((row) => ({
      ...this.scope.parse<Omit<StoredDecision, 'sequence'>>(row),
      sequence: row['sequence'] as number,
    }));
  }

  ledger(planId: string): LedgerEntry[] {
    return this.scope.bodies('ledger', toColumn(planId));
  }

  lastLedgerEntry(planId: string): LedgerEntry | null {
    return this.scope.body('lastLedgerEntry', toColumn(planId));
  }

  policy(hash: string): string | null {
    const row = this.scope.get('policy', toColumn(hash));
    return row ? fromColumn(row['body'] as string) : null;
  }

  dueTimers(instance: string, now: number, limit: number): DueTimer[] {
    const rows = this.scope.all('dueTimers', toColumn(instance), now, limit);
    return rows.map((row) => ({
      sessionId: fromColumn(row['session_id'] as string),
      dueAt: row['due_at'] as number,
      purpose: row['purpose'] as SessionTimer['purpose'],
      epoch: row['epoch'] as number,
    }));
  }

  nextTimerAt(instance: string): number | null {
    const row = this.scope.get('nextTimerAt', toColumn(instance));
    return row ? (row['due_at'] as number) : null;
  }

  openOutbox(instance: string): OutboxRow[] {
    return this.scope.bodies('openOutbox', toColumn(instance));
  }

  outbox(sessionId: string): OutboxRow[] {
    return this.scope.bodies('outbox', toColumn(sessionId));
  }

  outboxRow(sessionId: string, epoch: number): OutboxRow | null {
    return this.scope.body('outboxRow', toColumn(sessionId), epoch);
  }

  usage(sessionId: string): UsageRow[] {
    return this.scope.bodies('usage', toColumn(sessionId));
  }
}

function messageOf(row: Row): MessageRow {
  return {
    sessionId: text(row, 'session_id'),
    sequence: row['sequence'] as number,
    turnId: nullableText(row, 'turn_id'),
    at: row['at'] as number,
    kind: row['kind'] as MessageKind,
    body: text(row, 'body'),
  };
}

function callOf(row: Row): CallRow {
  return {
    sessionId: text(row, 'session_id'),
    callId: text(row, 'call_id'),
    stepId: text(row, 'step_id'),
    tool: text(row, 'tool'),
    readOnly: row['read_only'] === 1,
    input: text(row, 'input'),
    startedAt: row['started_at'] as number,
    result: nullableText(row, 'result'),
    endedAt: row['ended_at'] as number | null,
  };
}

function text(row: Row, column: string): string {
  return fromColumn(row[column] as string);
}

function nullableText(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

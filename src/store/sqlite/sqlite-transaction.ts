// The writing half of the SQLite store, within one transaction that holds the write lock.
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, SessionTimer } from '../../core/session.ts';
import type { Todo } from '../../core/todo.ts';
import type { CheckRun, EvidenceRow } from '../../engine/check-queue.ts';
import type { OutboxRow, StoredDecision, StoreTransaction, UsageRow } from '../../engine/store.ts';
import type { CallRow, MessageRow } from '../../engine/transcript.ts';
import { ledgerForked, todoExists, todoMissing } from '../refused-writes.ts';
import { hasFailedCheck, isUnnamedDrop, isUnverified, nextRank } from '../todo-marks.ts';
import { fromColumn, toColumn, toNullableColumn } from './column-text.ts';
import type { Value } from './open-database.ts';
import { archiveSessions, restoreSession } from './sqlite-archive.ts';
import { SqliteReader } from './sqlite-reader.ts';
import type { StatementScope } from './statement-scope.ts';

export class SqliteTransaction extends SqliteReader implements StoreTransaction {
  readonly #now: () => number;

  constructor(scope: StatementScope, now: () => number) {
    super(scope);
    this.#now = now;
  }

  override session(id: string): Session | null {
    const found = super.session(id);
    if (found) return found;
    return restoreSession(this.scope, id) ? super.session(id) : null;
  }

  saveSession(session: Session): void {
    const values = [
      toColumn(session.id),
      toColumn(session.planId),
      toColumn(session.descriptor.host),
      toColumn(session.descriptor.instance),
      toNullableColumn(session.descriptor.directory),
      session.updatedAt,
      JSON.stringify(session),
    ];
    if (this.scope.run('updateSession', ...values) === 0) this.scope.run('saveSession', ...values);
  }

  addEvent(event: Event): boolean {
    restoreSession(this.scope, event.sessionId);
    return this.scope.run('addEvent', ...eventValues(event)) === 1;
  }

  markApplied(event: Event): boolean {
    return this.scope.run('markApplied', ...eventValues(event)) === 1;
  }

  addDecision(decision: Omit<StoredDecision, 'sequence'>): void {
    this.scope.run('addDecision', toColumn(decision.sessionId), JSON.stringify(decision));
  }

  addLedgerEntries(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      const values = [toColumn(entry.planId), entry.sequence, JSON.stringify(entry)];
      if (this.scope.run('addLedgerEntry', ...values) === 0) throw ledgerForked(entry.planId, entry.sequence);
    }
  }

  addFingerprint(sessionId: string, fingerprint: string, at: number): void {
    this.scope.run('addFingerprint', toColumn(sessionId), toColumn(fingerprint), at);
  }

  createTodo(todo: Todo): void {
    if (this.scope.run('createTodo', ...todoValues(todo)) === 0) throw todoExists(todo.id);
  }

  createTodos(todos: readonly Todo[]): void {
    for (const todo of todos) this.createTodo(todo);
  }

  updateTodo(todo: Todo): void {
    const values = todoValues(todo);
    if (this.scope.run('updateTodo', ...values) === 1) return;
    if (this.scope.run('replaceTodo', ...values) === 0) throw todoMissing(todo.id);
  }

  saveTimer(sessionId: string, instance: string, timer: SessionTimer | null): void {
    const id = toColumn(sessionId);
    if (!timer) this.scope.run('removeTimer', id);
    else this.scope.run('saveTimer', id, toColumn(instance), timer.dueAt, timer.purpose, timer.epoch);
  }

  saveOutbox(row: OutboxRow): void {
    const { sessionId, epoch, instance, state, createdAt } = row;
    const keys = [toColumn(sessionId), epoch, toColumn(instance), state, createdAt];
    this.scope.run('saveOutbox', ...keys, JSON.stringify(row));
  }

  savePolicy(hash: string, policy: string): void {
    this.scope.run('savePolicy', toColumn(hash), toColumn(policy));
  }

  addUsage(row: UsageRow): void {
    this.scope.run('addUsage', toColumn(row.sessionId), JSON.stringify(row));
  }

  addMessages(rows: readonly Omit<MessageRow, 'sequence'>[]): void {
    for (const { sessionId, turnId, at, kind, body } of rows) {
      this.scope.run('addMessage', toColumn(sessionId), toNullableColumn(turnId), at, kind, toColumn(body));
    }
  }

  startCall(row: CallRow): void {
    const { sessionId, callId, stepId, tool, readOnly, input, startedAt } = row;
    const keys = [toColumn(sessionId), toColumn(callId), toColumn(stepId), toColumn(tool)];
    this.scope.run('startCall', ...keys, readOnly ? 1 : 0, toColumn(input), startedAt);
  }

  finishCall(sessionId: string, callId: string, result: string, at: number): void {
    this.scope.run('finishCall', toColumn(sessionId), toColumn(callId), toColumn(result), at);
  }

  settleCalls(sessionId: string, stepId: string): void {
    this.scope.run('settleCalls', toColumn(sessionId), toColumn(stepId));
  }

  saveCheckRun(run: CheckRun): void {
    this.scope.run('saveCheckRun', toColumn(run.id), toColumn(run.directory), run.state, JSON.stringify(run));
  }

  addEvidence(row: EvidenceRow): void {
    const { sessionId, fingerprint, at, todoId, check, result, tail } = row;
    const columns = [toColumn(sessionId), fingerprint ?? '', at, toNullableColumn(todoId), toColumn(check)];
    this.scope.run('addEvidence', ...columns, result, toColumn(tail), JSON.stringify(row));
  }

  takeLease(instance: string, holder: string, now: number, until: number): boolean {
    return this.scope.run('takeLease', toColumn(instance), toColumn(holder), now, until) === 1;
  }

  leaseHolder(instance: string): string | null {
    const holder = this.scope.get('leaseHolder', toColumn(instance))?.['holder'];
    return typeof holder === 'string' ? fromColumn(holder) : null;
  }

  releaseLease(instance: string, holder: string): void {
    this.scope.run('releaseLease', toColumn(instance), toColumn(holder));
  }

  archive(before: number, limit: number): number {
    return archiveSessions(this.scope, before, limit, this.#now());
  }
}

function eventValues(event: Event): Value[] {
  return [toColumn(event.id), toColumn(event.sessionId), event.type, event.at, JSON.stringify(event)];
}

/** In the order of the columns that todo-statements.ts names. */
function todoValues(todo: Todo): Value[] {
  return [
    toColumn(todo.id),
    toColumn(todo.planId),
    toColumn(todo.sessionId),
    toColumn(todo.turnId),
    toNullableColumn(todo.hostKey),
    toColumn(todo.titleKey),
    todo.status,
    todo.priority,
    todo.verification,
    todo.order,
    nextRank(todo),
    Number(isUnnamedDrop(todo)),
    Number(hasFailedCheck(todo)),
    Number(isUnverified(todo)),
    JSON.stringify(todo),
  ];
}

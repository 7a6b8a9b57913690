// The writing half of the memory store: changes the state in place and notes in the undo log how to take it back.
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session, SessionTimer } from '../../core/session.ts';
import type { Todo } from '../../core/todo.ts';
import type { CheckRun, EvidenceRow } from '../../engine/check-queue.ts';
import type { OutboxRow, StoredDecision, StoreTransaction, UsageRow } from '../../engine/store.ts';
import type { CallRow, MessageRow } from '../../engine/transcript.ts';
import { ledgerForked, todoExists, todoMissing } from '../refused-writes.ts';
import { archiveSessions, restoreSession } from './memory-archive.ts';
import { MemoryReader } from './memory-reader.ts';
import {
  createSessionRecord,
  isOutboxOpen,
  type MemoryState,
  outboxKey,
  type PlanRecord,
  type SessionRecord,
} from './memory-state.ts';
import { TimerList } from './timer-list.ts';
import type { UndoLog } from './undo-log.ts';

export class MemoryTransaction extends MemoryReader implements StoreTransaction {
  readonly #undo: UndoLog;

  constructor(state: MemoryState, undo: UndoLog) {
    super(state);
    this.#undo = undo;
  }

  override session(id: string): Session | null {
    restoreSession(this.state, this.#undo, id);
    return super.session(id);
  }

  saveSession(session: Session): void {
    this.#undo.assign(this.#record(session.id), 'session', session);
  }

  addEvent(event: Event): boolean {
    restoreSession(this.state, this.#undo, event.sessionId);
    if (this.state.eventIds.has(event.id)) return false;
    this.#undo.add(this.state.eventIds, event.id);
    const record = this.#record(event.sessionId);
    this.#undo.assign(record, 'inbox', [...record.inbox, event]);
    return true;
  }

  markApplied(event: Event): boolean {
    const record = this.#record(event.sessionId);
    const inbox = record.inbox.filter((waiting) => waiting.id !== event.id);
    if (inbox.length < record.inbox.length) this.#undo.assign(record, 'inbox', inbox);
    else if (this.state.eventIds.has(event.id)) return false;
    this.#undo.add(this.state.eventIds, event.id);
    this.#undo.push(record.applied, event);
    return true;
  }

  addDecision(decision: Omit<StoredDecision, 'sequence'>): void {
    const { decisions } = this.#record(decision.sessionId);
    this.#undo.push(decisions, { ...decision, sequence: decisions.length + 1 });
  }

  addLedgerEntries(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) {
      const { ledger } = this.#plan(entry.planId);
      const last = ledger.at(-1);
      if (last && entry.sequence <= last.sequence) throw ledgerForked(entry.planId, entry.sequence);
      this.#undo.push(ledger, entry);
    }
  }

  addFingerprint(sessionId: string, fingerprint: string, _at: number): void {
    this.#undo.add(this.#record(sessionId).fingerprints, fingerprint);
  }

  createTodo(todo: Todo): void {
    if (this.state.planOfTodo.has(todo.id)) throw todoExists(todo.id);
    this.#place(todo);
  }

  createTodos(todos: readonly Todo[]): void {
    for (const todo of todos) this.createTodo(todo);
  }

  updateTodo(todo: Todo): void {
    const before = this.findTodo(todo.id);
    if (!before) throw todoMissing(todo.id);
    if (before.planId !== todo.planId) this.#undo.remove(this.#plan(before.planId).todos, todo.id);
    this.#place(todo);
  }

  saveTimer(sessionId: string, instance: string, timer: SessionTimer | null): void {
    const before = this.state.timers.get(sessionId);
    if (before) {
      const list = this.#timerList(before.instance);
      this.#undo.note(() => list.insert(before.timer));
      list.remove(before.timer);
      this.#undo.remove(this.state.timers, sessionId);
    }
    if (!timer) return;
    const due = { ...timer, sessionId };
    const list = this.#timerList(instance);
    this.#undo.note(() => list.remove(due));
    list.insert(due);
    this.#undo.set(this.state.timers, sessionId, { instance, timer: due });
  }

  saveOutbox(row: OutboxRow): void {
    const { outbox } = this.#record(row.sessionId);
    const before = outbox.get(row.epoch);
    if (before) this.#undo.remove(this.#openOutbox(before.instance), outboxKey(before));
    this.#undo.set(outbox, row.epoch, row);
    if (isOutboxOpen(row)) this.#undo.set(this.#openOutbox(row.instance), outboxKey(row), row);
  }

  savePolicy(hash: string, policy: string): void {
    if (!this.state.policies.has(hash)) this.#undo.set(this.state.policies, hash, policy);
  }

  addUsage(row: UsageRow): void {
    this.#undo.push(this.#record(row.sessionId).usage, row);
  }

  addMessages(rows: readonly Omit<MessageRow, 'sequence'>[]): void {
    for (const row of rows) {
      const { messages } = this.#record(row.sessionId);
      this.#undo.push(messages, { ...row, sequence: messages.length + 1 });
    }
  }

  startCall(row: CallRow): void {
    const { calls } = this.#record(row.sessionId);
    const known = calls.get(row.callId);
    if (known !== undefined && known.result !== null) return;
    const started =
      known === undefined
        ? { ...row, result: null, endedAt: null, settled: false }
        : { ...known, startedAt: row.startedAt };
    this.#undo.set(calls, row.callId, started);
  }

  finishCall(sessionId: string, callId: string, result: string, at: number): void {
    const { calls } = this.#record(sessionId);
    const call = calls.get(callId);
    if (call !== undefined) this.#undo.set(calls, callId, { ...call, result, endedAt: at });
  }

  settleCalls(sessionId: string, stepId: string): void {
    const { calls } = this.#record(sessionId);
    for (const call of calls.values()) {
      if (call.stepId === stepId && !call.settled)
        this.#undo.set(calls, call.callId, { ...call, settled: true });
    }
  }

  saveCheckRun(run: CheckRun): void {
    this.#undo.set(this.state.checkRuns, run.id, run);
  }

  addEvidence(row: EvidenceRow): void {
    this.#undo.push(this.#record(row.sessionId).evidence, row);
  }

  takeLease(instance: string, holder: string, now: number, until: number): boolean {
    const lease = this.state.leases.get(instance);
    if (lease && lease.holder !== holder && lease.until > now) return false;
    this.#undo.set(this.state.leases, instance, { holder, until });
    return true;
  }

  leaseHolder(instance: string): string | null {
    return this.state.leases.get(instance)?.holder ?? null;
  }

  releaseLease(instance: string, holder: string): void {
    if (this.state.leases.get(instance)?.holder === holder) this.#undo.remove(this.state.leases, instance);
  }

  archive(before: number, limit: number): number {
    return archiveSessions(this.state, this.#undo, before, limit);
  }

  #place(todo: Todo): void {
    this.#undo.set(this.#plan(todo.planId).todos, todo.id, todo);
    if (this.state.planOfTodo.get(todo.id) !== todo.planId) {
      this.#undo.set(this.state.planOfTodo, todo.id, todo.planId);
    }
    let plans = this.state.plansOfTurn.get(todo.turnId);
    if (!plans) {
      plans = new Set();
      this.#undo.set(this.state.plansOfTurn, todo.turnId, plans);
    }
    this.#undo.add(plans, todo.planId);
  }

  #record(sessionId: string): SessionRecord {
    return this.#entry(this.state.sessions, sessionId, createSessionRecord);
  }

  #plan(planId: string): PlanRecord {
    return this.#entry(this.state.plans, planId, () => ({ todos: new Map(), ledger: [] }));
  }

  #timerList(instance: string): TimerList {
    return this.#entry(this.state.timersOfInstance, instance, () => new TimerList());
  }

  #openOutbox(instance: string): Map<string, OutboxRow> {
    return this.#entry(this.state.openOutbox, instance, () => new Map());
  }

  #entry<V>(map: Map<string, V>, key: string, create: () => V): V {
    const found = map.get(key);
    if (found !== undefined) return found;
    const created = create();
    this.#undo.set(map, key, created);
    return created;
  }
}

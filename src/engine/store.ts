// The store port: durable sessions, plans, events, decisions, timers and outbox.
// What must never happen: a half-written transaction that a reader can see; an applied event that is applied again;
// an error that is not an UntildoneError with a store code; a row deleted (gc archives, nothing else removes).
import type { Decision } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { LedgerEntry } from '../core/ledger.ts';
import type { Needs, Rows } from '../core/rows.ts';
import type { Session, SessionTimer } from '../core/session.ts';
import type { Todo, TodoStatus } from '../core/todo.ts';
import type { CheckQueueReader, CheckQueueWriter } from './check-queue.ts';
import type { TranscriptReader, TranscriptWriter } from './transcript.ts';

/** Embedded stores answer at once, others with a promise; callers always await. */
export type Awaitable<T> = T | Promise<T>;

export interface StoredEvent {
  /** Order in which it was applied to its session; null while it waits in the inbox. */
  readonly applied: number | null;
  readonly event: Event;
}

export interface StoredDecision {
  readonly sequence: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly eventId: string;
  readonly at: number;
  readonly policyHash: string | null;
  readonly decision: Decision;
}

export type OutboxState = 'intended' | 'sent' | 'observed' | 'unanswered' | 'failed';

export interface OutboxRow {
  readonly sessionId: string;
  readonly epoch: number;
  readonly instance: string;
  readonly mode: 'asked' | 'told';
  readonly text: string;
  readonly state: OutboxState;
  readonly attempts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface DueTimer extends SessionTimer {
  readonly sessionId: string;
}

export interface UsageRow {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly at: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
}

export interface SessionFilter {
  readonly host?: string;
  readonly directory?: string;
  /** A prefix of the id, as people type it. */
  readonly idPrefix?: string;
  readonly limit: number;
}

/** The todo repository (T4). A turn's todos are those created in it. */
export interface TodoReader {
  findTodo(id: string): Awaitable<Todo | null>;
  findTodosByTurn(turnId: string, statuses?: readonly TodoStatus[]): Awaitable<Todo[]>;
  countTodosByStatus(turnId: string): Awaitable<Record<TodoStatus, number>>;
  /** In order. */
  todosOfPlan(planId: string): Awaitable<Todo[]>;
  /** The rows that `needs` names, and only those, each found by an index. */
  rows(session: Session, needs: Needs): Awaitable<Rows>;
}

export interface TodoWriter {
  createTodo(todo: Todo): Awaitable<void>;
  createTodos(todos: readonly Todo[]): Awaitable<void>;
  updateTodo(todo: Todo): Awaitable<void>;
}

export interface StoreReader extends TodoReader, TranscriptReader, CheckQueueReader {
  session(id: string): Awaitable<Session | null>;
  /** Newest first. */
  sessions(filter: SessionFilter): Awaitable<Session[]>;
  hasEvent(eventId: string): Awaitable<boolean>;
  /** Events of the session that wait in the inbox, by time, then by arrival. */
  pendingEvents(sessionId: string): Awaitable<Event[]>;
  /** Applied events in the order in which they were applied, after `after`. */
  appliedEvents(sessionId: string, after: number, limit: number): Awaitable<StoredEvent[]>;
  /** Newest first; `sequence` counts from 1 in each session. */
  decisions(sessionId: string, limit: number): Awaitable<StoredDecision[]>;
  ledger(planId: string): Awaitable<LedgerEntry[]>;
  lastLedgerEntry(planId: string): Awaitable<LedgerEntry | null>;
  policy(hash: string): Awaitable<string | null>;
  /** Timers of this host instance that are due, earliest first. */
  dueTimers(instance: string, now: number, limit: number): Awaitable<DueTimer[]>;
  /** When the earliest timer of this instance is due; null: none waits. */
  nextTimerAt(instance: string): Awaitable<number | null>;
  /** Rows of this instance that are not settled: intended or sent. */
  openOutbox(instance: string): Awaitable<OutboxRow[]>;
  /** By epoch. */
  outbox(sessionId: string): Awaitable<OutboxRow[]>;
  outboxRow(sessionId: string, epoch: number): Awaitable<OutboxRow | null>;
  /** In the order in which it was added. */
  usage(sessionId: string): Awaitable<UsageRow[]>;
}

export interface StoreTransaction extends StoreReader, TodoWriter, TranscriptWriter, CheckQueueWriter {
  saveSession(session: Session): Awaitable<void>;
  /** Puts an event into the inbox. False: its id is known, nothing was written. Brings an archived session back. */
  addEvent(event: Event): Awaitable<boolean>;
  /**
   * Records that the event was applied to its session now, after all that were applied before, in the form in
   * which it is given here. An event that was never in the inbox is taken in by the same call. False: it was applied
   * before, nothing was written.
   */
  markApplied(event: Event): Awaitable<boolean>;
  addDecision(decision: Omit<StoredDecision, 'sequence'>): Awaitable<void>;
  addLedgerEntries(entries: readonly LedgerEntry[]): Awaitable<void>;
  addFingerprint(sessionId: string, fingerprint: string, at: number): Awaitable<void>;
  /** One timer per session; null removes it. */
  saveTimer(sessionId: string, instance: string, timer: SessionTimer | null): Awaitable<void>;
  saveOutbox(row: OutboxRow): Awaitable<void>;
  savePolicy(hash: string, policy: string): Awaitable<void>;
  addUsage(row: UsageRow): Awaitable<void>;
  /** Takes or renews the lease on a host instance; false: another process holds it. */
  takeLease(instance: string, holder: string, now: number, until: number): Awaitable<boolean>;
  releaseLease(instance: string, holder: string): Awaitable<void>;
  /** Who holds the lease, expired or not; null: nobody. */
  leaseHolder(instance: string): Awaitable<string | null>;
  /**
   * Moves sessions untouched since `before`, without a timer, with all that belongs to them, into the archive;
   * oldest first, at most `limit`; says how many. A plan that another session works on stays. `session` and
   * `addEvent` of a transaction bring a session back whole.
   */
  archive(before: number, limit: number): Awaitable<number>;
}

export interface Store {
  /**
   * One write transaction: everything in `work` or nothing. Concurrent calls queue, so `work` must not wait for
   * another call of the same store, nor for anything slow: the write lock of the whole machine is held meanwhile.
   */
  transact<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T>;
  /** A consistent view, without taking the write lock. */
  read<T>(work: (reader: StoreReader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

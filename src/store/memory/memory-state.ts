// What the memory store holds: one record per session, one per plan, and the few things they share.
// Plain containers; who may change them, and how a change is taken back, is the transaction's business.
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Session } from '../../core/session.ts';
import type { Todo } from '../../core/todo.ts';
import type { CheckRun, EvidenceRow } from '../../engine/check-queue.ts';
import type { DueTimer, OutboxRow, StoredDecision, UsageRow } from '../../engine/store.ts';
import type { CallRow, MessageRow } from '../../engine/transcript.ts';
import type { TimerList } from './timer-list.ts';

export interface SessionRecord {
  /** Null while only its inbox is known. */
  session: Session | null;
  /** In order of arrival. */
  inbox: readonly Event[];
  readonly applied: Event[];
  readonly decisions: StoredDecision[];
  readonly fingerprints: Set<string>;
  readonly outbox: Map<number, OutboxRow>;
  readonly usage: UsageRow[];
  readonly evidence: EvidenceRow[];
  readonly messages: MessageRow[];
  /** By id, in the order in which they started; settled ones stay. */
  readonly calls: Map<string, CallRow & { readonly settled: boolean }>;
}

export interface PlanRecord {
  /** By id, in order of arrival. */
  readonly todos: Map<string, Todo>;
  readonly ledger: LedgerEntry[];
}

export interface MemoryState {
  readonly sessions: Map<string, SessionRecord>;
  readonly plans: Map<string, PlanRecord>;
  readonly archivedSessions: Map<string, SessionRecord>;
  readonly archivedPlans: Map<string, PlanRecord>;
  /** Which plan holds the todo. */
  readonly planOfTodo: Map<string, string>;
  /** Which plans hold todos of the turn. */
  readonly plansOfTurn: Map<string, Set<string>>;
  /** Every event id there ever was, archived ones too: an event is applied once for good. */
  readonly eventIds: Set<string>;
  readonly policies: Map<string, string>;
  /** By id, in order of arrival. */
  readonly checkRuns: Map<string, CheckRun>;
  readonly leases: Map<string, { readonly holder: string; readonly until: number }>;
  readonly timers: Map<string, { readonly instance: string; readonly timer: DueTimer }>;
  readonly timersOfInstance: Map<string, TimerList>;
  /** Rows that are intended or sent, by instance, then by session and epoch. */
  readonly openOutbox: Map<string, Map<string, OutboxRow>>;
}

export function createMemoryState(): MemoryState {
  return {
    sessions: new Map(),
    plans: new Map(),
    archivedSessions: new Map(),
    archivedPlans: new Map(),
    planOfTodo: new Map(),
    plansOfTurn: new Map(),
    eventIds: new Set(),
    policies: new Map(),
    checkRuns: new Map(),
    leases: new Map(),
    timers: new Map(),
    timersOfInstance: new Map(),
    openOutbox: new Map(),
  };
}

export function createSessionRecord(): SessionRecord {
  return {
    session: null,
    inbox: [],
    applied: [],
    decisions: [],
    fingerprints: new Set(),
    outbox: new Map(),
    usage: [],
    evidence: [],
    messages: [],
    calls: new Map(),
  };
}

export function isOutboxOpen(row: OutboxRow): boolean {
  return row.state === 'intended' || row.state === 'sent';
}

export function outboxKey(row: OutboxRow): string {
  return `${row.epoch} ${row.sessionId}`;
}

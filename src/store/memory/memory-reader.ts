// The reading half of the memory store. Values are handed out as they are held: core replaces, never mutates.
import type { Event } from '../../core/events.ts';
import type { LedgerEntry } from '../../core/ledger.ts';
import type { Needs, Rows } from '../../core/rows.ts';
import type { Session } from '../../core/session.ts';
import type { Todo, TodoStatus } from '../../core/todo.ts';
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
import type { CallRow, MessageRow } from '../../engine/transcript.ts';
import { findRows, inOrder } from './find-rows.ts';
import type { MemoryState } from './memory-state.ts';

export class MemoryReader implements StoreReader {
  protected readonly state: MemoryState;

  constructor(state: MemoryState) {
    this.state = state;
  }

  session(id: string): Session | null {
    return this.state.sessions.get(id)?.session ?? null;
  }

  sessions(filter: SessionFilter): Session[] {
    const found: Session[] = [];
    for (const { session } of this.state.sessions.values()) {
      if (session && matches(session, filter)) found.push(session);
    }
    found.sort((one, other) => other.updatedAt - one.updatedAt || compare(one.id, other.id));
    return found.slice(0, filter.limit);
  }

  messages(sessionId: string, after: number): MessageRow[] {
    return (this.state.sessions.get(sessionId)?.messages ?? []).filter(({ sequence }) => sequence > after);
  }

  unsettledCalls(sessionId: string): CallRow[] {
    const calls = this.state.sessions.get(sessionId)?.calls.values() ?? [];
    return [...calls].filter(({ settled }) => !settled).map(({ settled: _, ...call }) => call);
  }

  checkRun(id: string): CheckRun | null {
    return this.state.checkRuns.get(id) ?? null;
  }

  activeCheckRuns(directory: string): CheckRun[] {
    return [...this.state.checkRuns.values()].filter(
      (run) => run.directory === directory && (run.state === 'asked' || run.state === 'running'),
    );
  }

  evidence(sessionId: string, limit: number): EvidenceRow[] {
    return (this.state.sessions.get(sessionId)?.evidence ?? []).slice(-limit).reverse();
  }

  findTodo(id: string): Todo | null {
    const planId = this.state.planOfTodo.get(id);
    return planId === undefined ? null : (this.state.plans.get(planId)?.todos.get(id) ?? null);
  }

  findTodosByTurn(turnId: string, statuses?: readonly TodoStatus[]): Todo[] {
    const found: Todo[] = [];
    for (const planId of this.state.plansOfTurn.get(turnId) ?? []) {
      for (const todo of this.state.plans.get(planId)?.todos.values() ?? []) {
        if (todo.turnId === turnId && (!statuses || statuses.includes(todo.status))) found.push(todo);
      }
    }
    return inOrder(found);
  }

  countTodosByStatus(turnId: string): Record<TodoStatus, number> {
    const counts = { pending: 0, in_progress: 0, completed: 0, cancelled: 0, blocked: 0 };
    for (const todo of this.findTodosByTurn(turnId)) counts[todo.status] += 1;
    return counts;
  }

  todosOfPlan(planId: string): Todo[] {
    return inOrder(this.state.plans.get(planId)?.todos.values() ?? []);
  }

  rows(session: Session, needs: Needs): Rows {
    const todos = this.state.plans.get(session.planId)?.todos.values() ?? [];
    const seen = this.state.sessions.get(session.id)?.fingerprints;
    return findRows(todos, needs, needs.fingerprint !== null && (seen?.has(needs.fingerprint) ?? false));
  }

  hasEvent(eventId: string): boolean {
    return this.state.eventIds.has(eventId);
  }

  pendingEvents(sessionId: string): Event[] {
    const inbox = this.state.sessions.get(sessionId)?.inbox ?? [];
    return [...inbox].sort((one, other) => one.at - other.at);
  }

  appliedEvents(sessionId: string, after: number, limit: number): StoredEvent[] {
    const start = Math.max(0, after);
    const events = this.state.sessions.get(sessionId)?.applied.slice(start, start + limit) ?? [];
    return events.map((event, index) => ({ applied: start + index + 1, event }));
  }

  decisions(sessionId: string, limit: number): StoredDecision[] {
    const decisions = this.state.sessions.get(sessionId)?.decisions ?? [];
    return decisions.slice(Math.max(0, decisions.length - limit)).reverse();
  }

  ledger(planId: string): LedgerEntry[] {
    return [...(this.state.plans.get(planId)?.ledger ?? [])];
  }

  lastLedgerEntry(planId: string): LedgerEntry | null {
    return this.state.plans.get(planId)?.ledger.at(-1) ?? null;
  }

  policy(hash: string): string | null {
    return this.state.policies.get(hash) ?? null;
  }

  dueTimers(instance: string, now: number, limit: number): DueTimer[] {
    return this.state.timersOfInstance.get(instance)?.due(now, limit) ?? [];
  }

  nextTimerAt(instance: string): number | null {
    return this.state.timersOfInstance.get(instance)?.first()?.dueAt ?? null;
  }

  openOutbox(instance: string): OutboxRow[] {
    const rows = this.state.openOutbox.get(instance)?.values() ?? [];
    return [...rows].sort(
      (one, other) =>
        one.createdAt - other.createdAt || compare(one.sessionId, other.sessionId) || one.epoch - other.epoch,
    );
  }

  outbox(sessionId: string): OutboxRow[] {
    const rows = this.state.sessions.get(sessionId)?.outbox.values() ?? [];
    return [...rows].sort((one, other) => one.epoch - other.epoch);
  }

  outboxRow(sessionId: string, epoch: number): OutboxRow | null {
    return this.state.sessions.get(sessionId)?.outbox.get(epoch) ?? null;
  }

  usage(sessionId: string): UsageRow[] {
    return [...(this.state.sessions.get(sessionId)?.usage ?? [])];
  }
}

function matches(session: Session, filter: SessionFilter): boolean {
  if (filter.host !== undefined && session.descriptor.host !== filter.host) return false;
  if (filter.directory !== undefined && session.descriptor.directory !== filter.directory) return false;
  return filter.idPrefix === undefined || session.id.startsWith(filter.idPrefix);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

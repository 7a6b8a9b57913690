// Archiving in the memory store: whole records change maps, nothing is dropped.
// It refuses to move a plan that a session outside the archive still works on.
import type { Session } from '../../core/session.ts';
import { isOutboxOpen, type MemoryState, outboxKey, type SessionRecord } from './memory-state.ts';
import type { UndoLog } from './undo-log.ts';

export function archiveSessions(state: MemoryState, undo: UndoLog, before: number, limit: number): number {
  const old: Session[] = [];
  for (const record of state.sessions.values()) {
    if (record.session && isUntouched(state, record, record.session, before)) old.push(record.session);
  }
  old.sort((one, other) => one.updatedAt - other.updatedAt);
  const chosen = old.slice(0, limit);
  for (const session of chosen) archiveSession(state, undo, session);
  return chosen.length;
}

function isUntouched(state: MemoryState, record: SessionRecord, session: Session, before: number): boolean {
  if (session.updatedAt >= before || state.timers.has(session.id)) return false;
  return record.inbox.every((event) => event.at < before);
}

function archiveSession(state: MemoryState, undo: UndoLog, session: Session): void {
  for (const planId of plansOf(state.plans, session)) {
    const plan = state.plans.get(planId);
    if (!plan || isSharedPlan(state, planId, session.id)) continue;
    undo.remove(state.plans, planId);
    undo.set(state.archivedPlans, planId, plan);
  }
  const record = state.sessions.get(session.id);
  if (!record) return;
  for (const row of record.outbox.values()) {
    const open = state.openOutbox.get(row.instance);
    if (open) undo.remove(open, outboxKey(row));
  }
  undo.remove(state.sessions, session.id);
  undo.set(state.archivedSessions, session.id, record);
}

/** Brings a session and its plans back; nothing happens when it is not in the archive. */
export function restoreSession(state: MemoryState, undo: UndoLog, sessionId: string): void {
  const record = state.archivedSessions.get(sessionId);
  if (!record?.session) return;
  for (const planId of plansOf(state.archivedPlans, record.session)) {
    const plan = state.archivedPlans.get(planId);
    if (!plan || state.plans.has(planId)) continue;
    undo.remove(state.archivedPlans, planId);
    undo.set(state.plans, planId, plan);
  }
  undo.remove(state.archivedSessions, sessionId);
  undo.set(state.sessions, sessionId, record);
  for (const row of record.outbox.values()) {
    const open = state.openOutbox.get(row.instance);
    if (open && isOutboxOpen(row)) undo.set(open, outboxKey(row), row);
  }
}

/** The session's plan and every plan that holds todos of it. */
function plansOf(plans: MemoryState['plans'], session: Session): Set<string> {
  const found = new Set([session.planId]);
  for (const [planId, { todos }] of plans) {
    for (const todo of todos.values()) if (todo.sessionId === session.id) found.add(planId);
  }
  return found;
}

function isSharedPlan(state: MemoryState, planId: string, sessionId: string): boolean {
  for (const [id, { session }] of state.sessions) {
    if (id !== sessionId && session?.planId === planId) return true;
  }
  for (const todo of state.plans.get(planId)?.todos.values() ?? []) {
    if (todo.sessionId !== sessionId && state.sessions.get(todo.sessionId)?.session) return true;
  }
  return false;
}

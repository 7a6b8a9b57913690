// A fresh todo row with the defaults of T6: pending, medium priority, nothing verified.
import type { Session } from '../session.ts';
import { normaliseTitle, type Priority, type Todo, type TodoStatus } from '../todo.ts';

export interface RowSeed {
  readonly id: string;
  readonly title: string;
  readonly order: number;
  readonly status?: TodoStatus;
  readonly priority?: Priority;
  readonly hostKey?: string | null;
  readonly context?: string | null;
  readonly completionCriteria?: string | null;
  readonly agentType?: string | null;
  readonly checks?: readonly string[];
}

export function newRow(seed: RowSeed, session: Session, at: number): Todo {
  return {
    id: seed.id,
    planId: session.planId,
    sessionId: session.id,
    turnId: session.turn?.id ?? session.id,
    hostKey: seed.hostKey ?? null,
    title: seed.title,
    titleKey: normaliseTitle(seed.title),
    context: seed.context ?? null,
    completionCriteria: seed.completionCriteria ?? null,
    agentType: seed.agentType ?? null,
    status: seed.status ?? 'pending',
    priority: seed.priority ?? 'medium',
    order: seed.order,
    outcome: null,
    reason: null,
    attempts: 0,
    verification: 'none',
    checks: seed.checks ?? [],
    failureTail: null,
    evidence: [],
    droppedAt: null,
    droppedNamedAt: null,
    createdAt: at,
    startedAt: seed.status === 'in_progress' ? at : null,
    completedAt: null,
    finalAt: null,
    passedAt: null,
    late: session.turn?.stopSeen ?? false,
    createdWork: session.work.calls,
    createdTrees: session.work.trees,
    idleEnd: false,
  };
}

/** Distance between neighbouring ranks: ten inserts at the same place halve it to one before fractions begin. */
export const orderGap = 1024;

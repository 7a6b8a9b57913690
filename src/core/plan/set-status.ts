// One todo from one status to another: completing is a claim, reopening clears completedAt, cancelling without a
// reason is dropping (T2, V1, V4). Every tool and every host's word ends up here.
import type { LedgerChange } from '../ledger.ts';
import type { Session } from '../session.ts';
import { type Actor, isOpen, type Todo, type TodoStatus } from '../todo.ts';

export interface StatusRequest {
  readonly status: TodoStatus;
  readonly outcome?: string | null;
  readonly reason?: string | null;
}

export interface StatusChange {
  readonly todo: Todo;
  readonly change: LedgerChange;
}

/** Null: nothing would change. */
export function setStatus(
  todo: Todo,
  request: StatusRequest,
  session: Session,
  actor: Actor,
  at: number,
): StatusChange | null {
  switch (request.status) {
    case 'completed':
      return complete(todo, request.outcome ?? null, session, actor, at);
    case 'cancelled':
      return cancel(todo, request.reason ?? null, session, actor, at);
    case 'blocked':
      return block(todo, request.reason ?? null, session, actor);
    case 'in_progress':
    case 'pending':
      return reopenOrMove(todo, request.status, at);
  }
}

const notDropped = { droppedAt: null, droppedNamedAt: null } as const;

function complete(
  todo: Todo,
  outcome: string | null,
  session: Session,
  actor: Actor,
  at: number,
): StatusChange | null {
  if (todo.status === 'completed') return null;
  const idle = isIdle(todo, session, actor);
  return {
    change: idle ? 'claim-idle' : 'completed',
    todo: {
      ...todo,
      ...notDropped,
      status: 'completed',
      outcome,
      reason: null,
      verification: 'claimed',
      evidence: [],
      failureTail: null,
      startedAt: todo.startedAt ?? at,
      completedAt: at,
      idleEnd: idle,
    },
  };
}

function cancel(
  todo: Todo,
  reason: string | null,
  session: Session,
  actor: Actor,
  at: number,
): StatusChange | null {
  const given = reason ?? (actor === 'human' ? 'cancelled by the human' : null);
  if (todo.status === 'cancelled') {
    return given === null || todo.reason !== null
      ? null
      : { change: 'cancelled', todo: { ...todo, reason: given } };
  }
  if (given === null && isOpen(todo)) return drop(todo, at);
  if (given === null) {
    return todo.status === 'completed'
      ? null
      : { change: 'cancelled-unexplained', todo: ended(todo, null, at) };
  }
  const idle = isIdle(todo, session, actor);
  return { change: idle ? 'end-idle' : 'cancelled', todo: { ...ended(todo, given, at), idleEnd: idle } };
}

/** First time: dropped, still open. Once a continuation has named it, leaving it out again settles it (V4, P3). */
export function drop(todo: Todo, at: number): StatusChange | null {
  if (!isOpen(todo)) return null;
  if (todo.droppedAt === null) return { change: 'dropped', todo: { ...todo, droppedAt: at } };
  if (todo.droppedNamedAt === null) return null;
  return { change: 'cancelled-unexplained', todo: ended(todo, null, at) };
}

function ended(todo: Todo, reason: string | null, at: number): Todo {
  return {
    ...todo,
    ...notDropped,
    status: 'cancelled',
    reason,
    completedAt: at,
    verification: 'none',
    failureTail: null,
    idleEnd: false,
  };
}

function block(todo: Todo, reason: string | null, session: Session, actor: Actor): StatusChange | null {
  if (todo.status === 'blocked' && (reason === null || reason === todo.reason)) return null;
  const idle = isIdle(todo, session, actor);
  return {
    change: idle ? 'end-idle' : 'blocked',
    todo: {
      ...todo,
      ...notDropped,
      status: 'blocked',
      reason: reason ?? 'no reason given',
      completedAt: null,
      verification: 'none',
      idleEnd: idle,
    },
  };
}

function reopenOrMove(todo: Todo, status: 'pending' | 'in_progress', at: number): StatusChange | null {
  if (todo.status === status) {
    return todo.droppedAt === null ? null : { change: 'restored', todo: { ...todo, ...notDropped } };
  }
  const wasOpen = isOpen(todo);
  const started = status === 'in_progress' ? (todo.startedAt ?? at) : todo.startedAt;
  const firstStart = wasOpen && status === 'in_progress' && todo.startedAt === null;
  return {
    change: firstStart ? 'started' : wasOpen || todo.finalAt !== null ? 'toggled' : 'reopened',
    todo: {
      ...todo,
      ...notDropped,
      status,
      startedAt: started,
      completedAt: null,
      reason: null,
      idleEnd: false,
      verification: wasOpen ? todo.verification : 'none',
    },
  };
}

/** No work at all since the todo was created: no other tool call, no workspace change, no passed check (V4). */
function isIdle(todo: Todo, session: Session, actor: Actor): boolean {
  if (actor !== 'agent' || !session.descriptor.seesTools || todo.verification === 'passed') return false;
  return session.work.calls <= todo.createdWork && session.work.trees <= todo.createdTrees;
}

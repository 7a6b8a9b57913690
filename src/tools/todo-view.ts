// How a todo looks to the model: the fields of T1, 1-based positions instead of ranks, and none of the marks by
// which the system watches the agent. Stored text is hostile: controls are taken out here, the row keeps them.
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import { openCount, planSize, type Session } from '../core/session.ts';
import {
  isDropped,
  isOpen,
  type Priority,
  type Todo,
  type TodoStatus,
  type Verification,
} from '../core/todo.ts';
import type { ToolCallContext } from './todo-tool.ts';

export interface TodoView {
  readonly id: string;
  readonly title: string;
  readonly context: string | null;
  readonly completionCriteria: string | null;
  readonly agentType: string | null;
  readonly status: TodoStatus;
  readonly reason: string | null;
  readonly priority: Priority;
  /** 1-based position in the whole plan. */
  readonly order: number;
  readonly outcome: string | null;
  readonly attempts: number;
  readonly verification: Verification | 'stale';
  readonly droppedAt: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

/** A row and where it stands. */
export interface PlacedTodo {
  readonly todo: Todo;
  readonly position: number;
}

/** The setting allows titles of up to 64 kB; none is cut on the way out, or it could not be matched on the way in. */
const longestTitle = 65_536;
/** Notes are shown by their beginning: a plan is read often and paid for each time. */
const longestNote = 2000;

export function shownTitle(todo: Todo): string {
  return oneLine(todo.title, longestTitle);
}

export function shownNote(text: string | null): string | null {
  if (text === null) return null;
  const plain = stripTerminalControls(text);
  return plain.length <= longestNote
    ? plain
    : `${plain.slice(0, longestNote - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

export function viewTodo({ todo, position }: PlacedTodo, session: Session): TodoView {
  return {
    id: todo.id,
    title: shownTitle(todo),
    context: shownNote(todo.context),
    completionCriteria: shownNote(todo.completionCriteria),
    agentType: todo.agentType === null ? null : oneLine(todo.agentType, longestNote),
    status: todo.status,
    reason: shownNote(todo.reason),
    priority: todo.priority,
    order: position,
    outcome: shownNote(todo.outcome),
    attempts: todo.attempts,
    verification: shownVerification(todo, session),
    droppedAt: todo.droppedAt,
    createdAt: todo.createdAt,
    startedAt: todo.startedAt,
    completedAt: todo.completedAt,
  };
}

/** Evidence from another state of the workspace is stale (T2, V2). */
export function shownVerification(todo: Todo, session: Session): Verification | 'stale' {
  const { fingerprint } = session.work;
  const outdated = todo.evidence.some(
    (seen) => fingerprint !== null && isWholeWorkspace(seen.fingerprint) && seen.fingerprint !== fingerprint,
  );
  return todo.verification === 'passed' && outdated ? 'stale' : todo.verification;
}

/** A check of some files only may have outlived a change of others; that is looked at when it matters. */
function isWholeWorkspace(fingerprint: string | null): boolean {
  return fingerprint !== null && !fingerprint.startsWith('files:');
}

/** What whole-list tools show: the shape that todo_write takes, so that it can be sent back as it is. */
export function viewListed({ todo }: PlacedTodo, session: Session) {
  const verification = shownVerification(todo, session);
  return {
    id: todo.id,
    content: shownTitle(todo),
    status: todo.status,
    priority: todo.priority,
    ...(todo.reason === null ? {} : { reason: shownNote(todo.reason) }),
    ...(verification === 'none' ? {} : { verification }),
    ...(isDropped(todo) ? { dropped: true } : {}),
  };
}

export interface PlanView {
  readonly session: Session;
  readonly todos: readonly PlacedTodo[];
}

/** Null: nothing has happened in this session yet. */
export function readPlan({ store, sessionId }: ToolCallContext): Promise<PlanView | null> {
  return store.read(async (reader) => {
    const session = await reader.session(sessionId);
    if (session === null) return null;
    const rows = await reader.todosOfPlan(session.planId);
    return { session, todos: rows.map((todo, index) => ({ todo, position: index + 1 })) };
  });
}

export function summarise(session: Pick<Session, 'counts'>) {
  const { counts } = session;
  return {
    total: planSize(counts),
    pending: counts.pending,
    inProgress: counts.inProgress,
    completed: counts.completed,
    cancelled: counts.cancelled,
    blocked: counts.blocked,
  };
}

export function remaining(session: Session): number {
  return openCount(session.counts);
}

/** Todos that one result lists: more would fill the model's context without helping it choose. */
const mostListed = 200;

/** What fits into one result, in plan order; where not all fit, open todos are the last to be left out. */
export function fitting(todos: readonly PlacedTodo[]): {
  readonly listed: readonly PlacedTodo[];
  readonly leftOut: number;
} {
  if (todos.length <= mostListed) return { listed: todos, leftOut: 0 };
  const open = todos.filter(({ todo }) => isOpen(todo));
  const settled = todos.filter(({ todo }) => !isOpen(todo));
  const listed = [...open, ...settled].slice(0, mostListed).sort((a, b) => a.position - b.position);
  return { listed, leftOut: todos.length - listed.length };
}

export function leftOutNotice(leftOut: number): readonly string[] {
  return leftOut === 0
    ? []
    : [`${leftOut} more todos are not shown here; they are part of the plan all the same.`];
}

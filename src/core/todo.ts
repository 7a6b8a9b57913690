// One todo (T1, T2), and what its own fields tell about it. Nothing here knows the plan.

/** The statuses of a todo. */
export const todoStatuses = [
  'pending',
  'in_progress',
  'completed',
  'cancelled',
  'blocked',
] as const;
/** The status of a todo. */
export type TodoStatus = (typeof todoStatuses)[number];

/** The priorities, the highest first. */
export const priorities = ['high', 'medium', 'low'] as const;
/** The priority of a todo. */
export type Priority = (typeof priorities)[number];

/** How far a claim is proved. `stale` is derived from fingerprints and never stored. */
export const verifications = ['none', 'claimed', 'running', 'passed', 'failed'] as const;
/** How far a claim is proved. */
export type Verification = (typeof verifications)[number];

/** The authors of changes. Checks and challenges hold agents to account, never humans. */
export const actors = ['human', 'agent', 'worker', 'file', 'system'] as const;
/** The author of a change of the plan. */
export type Actor = (typeof actors)[number];

/** The proof of a todo by one check. */
export type TodoEvidence = Readonly<{
  check: string;
  /**
   * The fingerprint of the check's files. Null: they may have changed meanwhile, so the
   * check runs again before it settles anything.
   */
  fingerprint: string | null;
  flaky: boolean;
}>;

/** The first values of the fields that a new todo need not give. */
export const plainTodo = {
  hostKey: null as string | null,
  context: null as string | null,
  completionCriteria: null as string | null,
  agentType: null as string | null,
  status: 'pending' as TodoStatus,
  priority: 'medium' as Priority,
  outcome: null as string | null,
  /** A todo that was cancelled without a reason is "cancelled-unexplained". */
  reason: null as string | null,
  attempts: 0,
  verification: 'none' as Verification,
  checks: [] as readonly string[],
  failureTail: null as string | null,
  evidence: [] as readonly TodoEvidence[],
  droppedAt: null as number | null,
  /**
   * When a continuation named the dropped todo; only then may a second omission settle
   * it.
   */
  droppedNamedAt: null as number | null,
  startedAt: null as number | null,
  completedAt: null as number | null,
  /** The first time; it is never cleared, because progress is monotonic (G7). */
  finalAt: null as number | null,
  passedAt: null as number | null,
  /**
   * Added after a stop attempt of the turn: its completion counts only with work before
   * it (G7).
   */
  late: false,
  /** The session's count of calls when the todo was created. */
  createdWork: 0,
  /**
   * The epoch in which an agent ended it; null: it is not ended, or not by an agent (V4).
   */
  endedIn: null as number | null,
  workerFailures: 0,
};

/** One todo of the plan: what it says, how it stands, and what supports that. */
export type Todo = Readonly<typeof plainTodo> &
  Readonly<{
    id: string;
    planId: string;
    sessionId: string;
    turnId: string;
    title: string;
    /** Todos with equal keys are one todo, whichever tools wrote them. */
    titleKey: string;
    /** The rank, with gaps: an insert touches one todo. Tools show 1-based positions. */
    order: number;
    createdAt: number;
  }>;

/** Whether work on the todo is left: it is pending or in progress. */
export function isOpen(todo: Todo): boolean {
  return todo.status === 'pending' || todo.status === 'in_progress';
}

/** Whether the todo is completed or cancelled. */
export function isEnded({ status }: Pick<Todo, 'status'>): boolean {
  return status === 'completed' || status === 'cancelled';
}

/**
 * Whether nothing is left to do or to prove: passed or without checks, or cancelled with
 * a reason.
 */
export function isFinal(todo: Todo): boolean {
  if (todo.status === 'completed')
    return todo.checks.length === 0 || todo.verification === 'passed';
  return todo.status === 'cancelled' && todo.reason !== null;
}

/** Whether an agent left the open todo out or cancelled it without a reason. */
export function isDropped(todo: Todo): boolean {
  return isOpen(todo) && todo.droppedAt !== null;
}

/** Whether the todo was dropped and no continuation has named it yet. */
export function isUnnamedDrop(todo: Todo): boolean {
  return isDropped(todo) && todo.droppedNamedAt === null;
}

/** Whether the todo is claimed and its checks have not proved it yet. */
export function isUnverified(todo: Todo): boolean {
  return todo.status === 'completed' && !isFinal(todo);
}

/**
 * Whether a claimed todo has a check that cannot start. A failure would have reopened it.
 */
export function isUnstartable(todo: Todo): boolean {
  return isUnverified(todo) && todo.failureTail !== null;
}

/** The checks of a todo that have not passed since it was claimed. */
export function checksOf(todo: Todo): { todoId: string; check: string }[] {
  return todo.checks
    .filter((id) => !todo.evidence.some(({ check }) => check === id))
    .map((check) => ({ todoId: todo.id, check }));
}

const statusWords: Readonly<Record<TodoStatus, readonly string[]>> = {
  pending: ['pending', 'todo', 'open', 'not_started'],
  in_progress: ['in_progress', 'inprogress', 'active', 'doing'],
  completed: ['completed', 'complete', 'done'],
  cancelled: ['cancelled', 'canceled', 'deleted', 'removed'],
  blocked: ['blocked'],
};

/** The status that a host's word means (T2); null: we do not know the word. */
export function statusFromWord(word: string): TodoStatus | null {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return todoStatuses.find((status) => statusWords[status].includes(key)) ?? null;
}

/** The priority that a word means; null: we do not know the word. */
export function priorityFromWord(word: string): Priority | null {
  const key = word.trim().toLowerCase();
  return priorities.find((priority) => priority === key) ?? null;
}

/**
 * A key for titles that mean the same todo: letter case, spacing, list markers and end
 * punctuation do not matter.
 */
export function normaliseTitle(title: string): string {
  return bareWords(title, /^(?:[-*•]|\d+[.)]) /u, /[\s.!;:,…]+$/u);
}

/**
 * A text in lower case without the given start and end. "!!!" stays "!!!", so that texts
 * of mere punctuation are not all equal.
 */
export function bareWords(text: string, start: RegExp, end: RegExp): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(start, '').replace(end, '') || plain;
}

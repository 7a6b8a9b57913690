// A todo (T1, T2), and what can be told from it alone.

export const todoStatuses = [
  'pending',
  'in_progress',
  'completed',
  'cancelled',
  'blocked',
] as const;
export type TodoStatus = (typeof todoStatuses)[number];

export const priorities = ['high', 'medium', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** `stale` is derived from fingerprints and never stored. */
export const verifications = ['none', 'claimed', 'running', 'passed', 'failed'] as const;
export type Verification = (typeof verifications)[number];

/** Checks and challenges hold agents to account, never humans. */
export const actors = ['human', 'agent', 'worker', 'file', 'system'] as const;
export type Actor = (typeof actors)[number];

export type TodoEvidence = Readonly<{
  check: string;
  /**
   * Of its files. null: they may have changed meanwhile, so it is run again before it
   * settles anything.
   */
  fingerprint: string | null;
  flaky: boolean;
}>;

export const plainTodo = {
  hostKey: null as string | null,
  context: null as string | null,
  completionCriteria: null as string | null,
  agentType: null as string | null,
  status: 'pending' as TodoStatus,
  priority: 'medium' as Priority,
  outcome: null as string | null,
  /** Cancelled without one is "cancelled-unexplained". */
  reason: null as string | null,
  attempts: 0,
  verification: 'none' as Verification,
  checks: [] as readonly string[],
  failureTail: null as string | null,
  evidence: [] as readonly TodoEvidence[],
  droppedAt: null as number | null,
  /** By a continuation; only then may a second omission settle it. */
  droppedNamedAt: null as number | null,
  startedAt: null as number | null,
  completedAt: null as number | null,
  /** First time; never cleared: progress is monotonic (G7). */
  finalAt: null as number | null,
  passedAt: null as number | null,
  /**
   * Added after a stop attempt of the turn: counts only with work before its completion
   * (G7).
   */
  late: false,
  /** The session's calls then. */
  createdWork: 0,
  /**
   * The epoch in which an agent ended it; null: nobody did, or it was someone else (V4).
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
    /** Equal keys are the same todo across tool families. */
    titleKey: string;
    /** Gapped rank: inserting touches one todo. Tools show 1-based positions. */
    order: number;
    createdAt: number;
  }>;

export function isOpen(todo: Todo): boolean {
  return todo.status === 'pending' || todo.status === 'in_progress';
}

export function isEnded({ status }: Pick<Todo, 'status'>): boolean {
  return status === 'completed' || status === 'cancelled';
}

export function isFinal(todo: Todo): boolean {
  if (todo.status === 'completed')
    return todo.checks.length === 0 || todo.verification === 'passed';
  return todo.status === 'cancelled' && todo.reason !== null;
}

export function isDropped(todo: Todo): boolean {
  return isOpen(todo) && todo.droppedAt !== null;
}

export function isUnnamedDrop(todo: Todo): boolean {
  return isDropped(todo) && todo.droppedNamedAt === null;
}

export function isUnverified(todo: Todo): boolean {
  return todo.status === 'completed' && !isFinal(todo);
}

/** Claimed, with a check that cannot start: a failure would have reopened it. */
export function isUnstartable(todo: Todo): boolean {
  return isUnverified(todo) && todo.failureTail !== null;
}

/** Not passed since it was claimed. */
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

/** Hosts have their own words (T2). */
export function statusFromWord(word: string): TodoStatus | null {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return todoStatuses.find((status) => statusWords[status].includes(key)) ?? null;
}

export function priorityFromWord(word: string): Priority | null {
  const key = word.trim().toLowerCase();
  return priorities.find((priority) => priority === key) ?? null;
}

/**
 * The same todo: letter case, spacing, list markers and end punctuation do not matter.
 */
export function normaliseTitle(title: string): string {
  return bareWords(title, /^(?:[-*•]|\d+[.)]) /u, /[\s.!;:,…]+$/u);
}

/** "!!!" still means "!!!": texts of mere punctuation are not all equal. */
export function bareWords(text: string, start: RegExp, end: RegExp): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(start, '').replace(end, '') || plain;
}

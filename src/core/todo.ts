// A todo: one item of a plan, as core sees it and stores keep it (T1, T2).
// Types and what can be told from one todo alone; changing todos is the business of plan.ts.

export const todoStatuses = ['pending', 'in_progress', 'completed', 'cancelled', 'blocked'] as const;
export type TodoStatus = (typeof todoStatuses)[number];

export const priorities = ['high', 'medium', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** `stale` is derived from fingerprints when it is asked for; a todo never stores it. */
export type Verification = 'none' | 'claimed' | 'running' | 'passed' | 'failed';

/** Who made a change. Checks and challenges hold agents to account, never humans. */
export const actors = ['human', 'agent', 'worker', 'file', 'system'] as const;
export type Actor = (typeof actors)[number];

/** One check of a todo that passed, and the state of its files when it did. */
export interface TodoEvidence {
  readonly check: string;
  /** null: the workspace may have changed while the check ran, so it must be run again before it settles anything. */
  readonly fingerprint: string | null;
  readonly flaky: boolean;
}

export interface Todo {
  readonly id: string;
  readonly planId: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** The host's own id for this todo, where the host has ids. */
  readonly hostKey: string | null;
  readonly title: string;
  /** Normalised title: equal keys are the same todo across tool families. */
  readonly titleKey: string;
  readonly context: string | null;
  readonly completionCriteria: string | null;
  readonly agentType: string | null;
  readonly status: TodoStatus;
  readonly priority: Priority;
  /** Gapped rank, rising along the plan: inserting touches one todo. The tools show 1-based positions instead. */
  readonly order: number;
  readonly outcome: string | null;
  /** Why it is blocked or cancelled. A cancelled todo without one is "cancelled-unexplained". */
  readonly reason: string | null;
  readonly attempts: number;
  /** How often a worker could not do it; absent: never. The second time it is blocked (S6). */
  readonly workerFailures?: number;
  readonly verification: Verification;
  /** Ids of the checks that prove this todo; empty: nothing of its own does. */
  readonly checks: readonly string[];
  /** Output tail of the failing check, quoted by the next continuation. */
  readonly failureTail: string | null;
  /** Its checks that have passed since it was last claimed. */
  readonly evidence: readonly TodoEvidence[];
  readonly droppedAt: number | null;
  /** When a continuation named it as dropped; only then may a second omission settle it. */
  readonly droppedNamedAt: number | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** First time it became final. Never cleared: progress is monotonic (G7). */
  readonly finalAt: number | null;
  /** First time its checks passed. Never cleared. */
  readonly passedAt: number | null;
  /** Added after the first stop attempt of the turn: its completion counts only with work before it (G7). */
  readonly late: boolean;
  /** Session's work-call count when it was created: claims without any call since are suspicious (V4). */
  readonly createdWork: number;
  /** Session's count of workspace changes when it was created. */
  readonly createdTrees: number;
  /** Ended (claimed, blocked or cancelled) by an agent without any work since it was created (V4). */
  readonly idleEnd: boolean;
}

/** What a todo is as long as nobody says otherwise (T6): pending, medium priority, nothing verified. */
export const plainTodo = {
  hostKey: null,
  context: null,
  completionCriteria: null,
  agentType: null,
  status: 'pending',
  priority: 'medium',
  outcome: null,
  reason: null,
  attempts: 0,
  verification: 'none',
  checks: [],
  failureTail: null,
  evidence: [],
  droppedAt: null,
  droppedNamedAt: null,
  startedAt: null,
  completedAt: null,
  finalAt: null,
  passedAt: null,
  late: false,
  createdWork: 0,
  createdTrees: 0,
  idleEnd: false,
} as const satisfies Partial<Todo>;

export function isOpen(todo: Todo): boolean {
  return todo.status === 'pending' || todo.status === 'in_progress';
}

export function isFinal(todo: Todo): boolean {
  if (todo.status === 'completed') return todo.checks.length === 0 || todo.verification === 'passed';
  return todo.status === 'cancelled' && todo.reason !== null;
}

export function isDropped(todo: Todo): boolean {
  return isOpen(todo) && todo.droppedAt !== null;
}

/** Dropped, and no continuation has named it yet. */
export function isUnnamedDrop(todo: Todo): boolean {
  return isDropped(todo) && todo.droppedNamedAt === null;
}

/** Completed, with checks of its own that have not passed. */
export function isUnverified(todo: Todo): boolean {
  return todo.status === 'completed' && todo.checks.length > 0 && todo.verification !== 'passed';
}

/** The checks of a todo that have not passed since it was claimed. */
export function checksOf(todo: Todo): { readonly todoId: string; readonly check: string }[] {
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

/** Hosts' words for a status, mapped to ours (T2); null when the word is unknown. */
export function statusFromWord(word: string): TodoStatus | null {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return todoStatuses.find((status) => statusWords[status].includes(key)) ?? null;
}

/** Two titles with the same key are the same todo: letter case, spacing, list markers and end punctuation do not matter. */
export function normaliseTitle(title: string): string {
  const plain = title.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const bare = plain.replace(/^(?:[-*•]|\d+[.)]) /u, '').replace(/[\s.!;:,…]+$/u, '');
  return bare === '' ? plain : bare;
}

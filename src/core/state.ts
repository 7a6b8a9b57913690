// The state of one session and of its whole plan, as one value: plain data, replaced and never mutated. What can be
// counted from the plan is counted where it is needed and never kept beside it.
import type { Outcome } from './decision.ts';
import type {
  AgentDescriptor,
  Job,
  PermissionAnswer,
  PermissionSubject,
  SessionDescriptor,
  SourceKind,
  StopEnd,
  WorkerResult,
} from './events.ts';
import { isOpen, priorities, type Todo } from './todo.ts';

export type Turn = Readonly<ReturnType<typeof newTurn>>;

/** G6. Zeroed only by a genuine human message, progress, and first finals or passes. */
export interface Counters {
  readonly stagnant: number;
  readonly continuations: number;
  readonly total: number;
}

export interface GoalCheck {
  readonly state: 'none' | 'running' | 'passed' | 'failed';
  readonly passedBefore: boolean;
  readonly flaky: boolean;
  readonly tail: string | null;
  readonly fingerprint: string | null;
}

/** The last run of checks at a stop with nothing open (V2). */
export interface FinalRun {
  /** Id of the stop attempt that started it. */
  readonly stop: string;
  /** All its checks have been looked at, those that were stale too. */
  readonly ended: boolean;
  /** The agent was told to wait for it: the next stop takes it up again if nothing was written since. */
  readonly overdue: boolean;
  readonly writes: number;
}

/** A stop attempt that waits for its cause to end, then is decided again. */
export interface ParkedStop {
  readonly eventId: string;
  readonly at: number;
  readonly end: StopEnd;
  readonly question: boolean;
  readonly toolError: string | null;
  readonly fingerprint: string | null;
  /** The rule that made it wait. */
  readonly cause: string;
}

export interface Pause {
  readonly by: 'human' | 'model' | 'rejection' | 'system';
  readonly reason: string | null;
  readonly at: number;
}

/** A request of our own agent, from the question until its call begins. */
export interface PermissionRequest extends PermissionSubject {
  readonly requestId: string;
  readonly askedAt: number;
  /** null: the human has not answered. */
  readonly answer: PermissionAnswer | null;
}

export interface PermissionGrant {
  readonly tool: string;
  readonly pattern: string;
  readonly remembered: 'session' | 'always';
  readonly at: number;
}

export interface SessionPermissions {
  readonly requests: readonly PermissionRequest[];
  readonly grants: readonly PermissionGrant[];
  /** The human said no to these: they are not asked for again before the human speaks. */
  readonly refused: readonly { readonly tool: string; readonly pattern: string }[];
}

/** What the human said while the agent worked; the loop takes it up between two steps. */
export interface QueuedWords {
  readonly messageId: string;
  readonly text: string;
  readonly at: number;
}

/** The last todo that was handed to a worker; only one works at a time (S4). */
export interface Delegation {
  readonly workerId: string;
  readonly todoId: string;
  readonly agentType: string;
  readonly callId: string;
  readonly startedAt: number;
  /** null: it is at work, or the process died while it was. */
  readonly ended: { readonly result: WorkerResult; readonly sentence: string; readonly at: number } | null;
}

export interface SessionTimer {
  readonly purpose: 'due' | 'resend';
  readonly dueAt: number;
  readonly epoch: number;
}

export interface Injection {
  readonly epoch: number;
  readonly state: 'intended' | 'sent' | 'observed' | 'unanswered' | 'failed';
  readonly attempts: number;
  readonly at: number;
}

/** Where the turn of a host stands that tells us of it by hooks, each a process of its own. */
export interface HostTrail {
  readonly promptId: string | null;
  /** The last thing that the main agent or its host did; null: nothing yet. */
  readonly last: SourceKind | null;
  /** Error of the last tool call, if it failed and nothing came after it. */
  readonly toolError: string | null;
  /** Stop attempts since the main agent last called a tool or a prompt came. */
  readonly stops: number;
}

/** One todo of a host's own list, as that list last said it. */
export interface HostTodo {
  /** The host's own id; null: its list has none. */
  readonly key: string | null;
  readonly title: string;
  /** The host's word for it; `gone`: it has left the list. */
  readonly status: string;
  readonly priority?: string | undefined;
}

export interface Session {
  readonly id: string;
  readonly planId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly descriptor: SessionDescriptor;
  readonly agent: AgentDescriptor;
  readonly policyHash: string | null;
  readonly deleted: boolean;
  /** The host ended it; opening it again or a human's word takes that back. */
  readonly closed?: boolean;
  readonly turn: Turn | null;
  /** Rises at each human message, latch, pause, cancelled countdown and injection; older timers are void. */
  readonly epoch: number;
  /** Open todos that earlier turns left behind, in turn scope. */
  readonly leftOver: { readonly planId: string; readonly open: number } | null;
  readonly counters: Counters;
  readonly latch: { readonly how: string; readonly at: number } | null;
  readonly pause: Pause | null;
  readonly waits: {
    readonly recovering: boolean;
    readonly compacting: boolean;
    readonly permissions: readonly string[];
    readonly questions: readonly string[];
  };
  /** Absent: our own agent asked for nothing yet. */
  readonly permissions?: SessionPermissions;
  /** Absent: nothing waits to be taken up. */
  readonly words?: readonly QueuedWords[];
  readonly jobs: readonly Job[];
  /** Jobs that a continuation has named already: one continuation per job (P18). */
  readonly namedJobs: readonly string[];
  readonly backgroundSince: number | null;
  /** Text questions in a row, without a tool call in between (G11). */
  readonly questions: number;
  readonly emptyAnswers: number;
  readonly progress: {
    /** Weak changes counted in a row; at most two reset the stagnation counter (G7). */
    readonly weakInRow: number;
    readonly weakCounted: boolean;
    /** The plan changed since the last continuation. */
    readonly planMoved: boolean;
    readonly workspaceMoved: boolean;
    /** The last continuation counted as stagnant, and the agent has not stopped since. Absent: no. */
    readonly continuationOpen?: boolean;
  };
  readonly work: {
    /** Calls of tools other than the todo tools. */
    readonly calls: number;
    /** Calls of tools that can write, ended. */
    readonly writes: number;
    /** Such calls that were seen to start; more than `writes`: one is running. */
    readonly started: number;
    readonly writesAtFingerprint: number;
    /** New workspace fingerprints seen. */
    readonly trees: number;
    readonly fingerprint: string | null;
  };
  readonly challenged: { readonly claims: boolean; readonly ends: boolean };
  readonly toolErrorTodo: string | null;
  /** Absent: nothing was delegated yet. */
  readonly delegation?: Delegation;
  readonly compacted: boolean;
  readonly overflows: number;
  readonly loopAlarms: number;
  readonly loopTold: boolean;
  readonly circuit: { readonly signature: string; readonly count: number } | null;
  readonly rateLimitedUntil: number | null;
  readonly usage: {
    /** Since when tokens, cost and time are counted: the last genuine human message. */
    readonly since: number;
    readonly tokens: number;
    readonly cost: number;
    readonly contextTokens: number | null;
    readonly contextLimit: number | null;
  };
  readonly goal: Readonly<Record<string, GoalCheck>>;
  readonly finalRun: FinalRun | null;
  /** The record of the plan was found to be damaged: nothing in it proves anything until the human speaks (V4). */
  readonly recordBroken: string | null;
  readonly checksOverdue: boolean;
  /** Told hosts: the host was busy since the last answer; a second idle without it is a duplicate (E4). */
  readonly activeSinceAnswer: boolean;
  readonly lastContinuationAt: number | null;
  /** The last few ids of human messages: a known id is an echo and never cancels anything (E2). */
  readonly humanMessageIds: readonly string[];
  /** The last stop attempt that was answered; `resume` takes it up again in a told host. */
  readonly lastStop: ParkedStop | null;
  readonly parked: ParkedStop | null;
  readonly timer: SessionTimer | null;
  readonly injection: Injection | null;
  readonly settled: { readonly outcome: Outcome; readonly reason: string; readonly at: number } | null;
  /** Absent: no hook has told us anything yet. */
  readonly trail?: HostTrail;
  /** The host's own list when it was last read; absent: it never was. */
  readonly hostList?: readonly HostTodo[];
  /** Hash of the last entry of the plan's ledger when the session was saved; null: it had none. */
  readonly ledgerHead?: string | null;
  /** Hash of all the rest, written by the engine with each save. */
  readonly seal?: string;
}

export interface State extends Session {
  /** In order: the array is the truth, and the ranks of the todos rise along it. */
  readonly plan: readonly Todo[];
}

export const unknownHost: SessionDescriptor = {
  host: 'unknown',
  instance: 'unknown',
  mode: 'asked',
  kind: 'unknown',
  parentId: null,
  directory: null,
  headless: true,
  immediate: false,
  everyAgentWrites: false,
  seesTools: true,
  tools: { pause: null, verify: null },
};

export const unknownAgent: AgentDescriptor = { name: null, canWrite: 'unknown', model: null, variant: null };

/** A session before anything happened. Without a descriptor it counts as read-only: unknown is never continued. */
export function createState(id: string, at: number): State {
  return {
    id,
    planId: id,
    createdAt: at,
    updatedAt: at,
    descriptor: unknownHost,
    agent: unknownAgent,
    policyHash: null,
    deleted: false,
    turn: null,
    epoch: 0,
    leftOver: null,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    latch: null,
    pause: null,
    waits: { recovering: false, compacting: false, permissions: [], questions: [] },
    jobs: [],
    namedJobs: [],
    backgroundSince: null,
    questions: 0,
    emptyAnswers: 0,
    progress: { weakInRow: 0, weakCounted: false, planMoved: false, workspaceMoved: false },
    work: { calls: 0, writes: 0, started: 0, writesAtFingerprint: 0, trees: 0, fingerprint: null },
    challenged: { claims: false, ends: false },
    toolErrorTodo: null,
    compacted: false,
    overflows: 0,
    loopAlarms: 0,
    loopTold: false,
    circuit: null,
    rateLimitedUntil: null,
    usage: { since: at, tokens: 0, cost: 0, contextTokens: null, contextLimit: null },
    goal: {},
    finalRun: null,
    recordBroken: null,
    checksOverdue: false,
    activeSinceAnswer: true,
    lastContinuationAt: null,
    humanMessageIds: [],
    lastStop: null,
    parked: null,
    timer: null,
    injection: null,
    settled: null,
    plan: [],
  };
}

export function openCount(counts: PlanCounts): number {
  return counts.pending + counts.inProgress;
}

export function planSize(counts: PlanCounts): number {
  return openCount(counts) + counts.completed + counts.cancelled + counts.blocked;
}

const noCounts = {
  pending: 0,
  inProgress: 0,
  completed: 0,
  cancelled: 0,
  blocked: 0,
  /** Open and dropped. */
  dropped: 0,
  /** Dropped and not yet named in a continuation. */
  unnamedDrops: 0,
  /** Completed with no check of its own. */
  uncovered: 0,
  /** Completed, own check not passed yet (claimed or running). */
  unverified: 0,
  running: 0,
  passed: 0,
  /** Completed, and a check of its own failed before it passed. */
  flaky: 0,
  /** Open again because a check failed. */
  failed: 0,
  /** Cancelled without a reason. */
  unexplained: 0,
  /** Cancelled although a check of its own would have to pass: someone's wish is unproved. */
  unproved: 0,
  /** Completed without any work since they were created (V4). */
  idleClaims: 0,
  /** Blocked or cancelled without any work since they were created (V4). */
  idleEnds: 0,
};

/** How many todos of the plan are in which state. */
export type PlanCounts = Readonly<typeof noCounts>;

/** One look at every todo: the rules ask for many of these, and once per stop attempt is enough. */
export function countPlan(plan: readonly Todo[]): PlanCounts {
  const counts = { ...noCounts };
  for (const todo of plan) {
    const { status, verification } = todo;
    if (verification === 'running') counts.running += 1;
    if (status === 'pending' || status === 'in_progress') {
      if (status === 'pending') counts.pending += 1;
      else counts.inProgress += 1;
      if (verification === 'failed') counts.failed += 1;
      if (todo.droppedAt === null) continue;
      counts.dropped += 1;
      if (todo.droppedNamedAt === null) counts.unnamedDrops += 1;
    } else if (status === 'completed') {
      counts.completed += 1;
      if (todo.checks.length === 0) counts.uncovered += 1;
      else if (verification === 'passed') counts.passed += 1;
      else counts.unverified += 1;
      if (todo.evidence.some(({ flaky }) => flaky)) counts.flaky += 1;
      if (todo.idleEnd) counts.idleClaims += 1;
    } else {
      if (status === 'blocked') counts.blocked += 1;
      else {
        counts.cancelled += 1;
        if (todo.reason === null) counts.unexplained += 1;
        if (todo.checks.length > 0) counts.unproved += 1;
      }
      if (todo.idleEnd) counts.idleEnds += 1;
    }
  }
  return counts;
}

/** T5: by priority, then what is in progress before what is pending, then in the plan's order. */
export function nextTodos(plan: readonly Todo[], howMany: number): Todo[] {
  const ranks: Todo[][] = priorities.flatMap(() => [[], []]);
  for (const todo of plan) {
    if (!isOpen(todo)) continue;
    const rank = ranks[priorities.indexOf(todo.priority) * 2 + (todo.status === 'in_progress' ? 0 : 1)];
    if (rank !== undefined && rank.length < howMany) rank.push(todo);
  }
  return ranks.flat().slice(0, howMany);
}

export function newTurn(id: string, startedAt: number, number = 1) {
  return {
    id,
    number,
    startedAt,
    /** Control is back with the human. A message sent before that joins the turn (T3). */
    ended: false,
    touchedPlan: false,
    touchedWorkspace: false,
    /** The human's message was on the list of go-on phrases: earlier todos count (T3). */
    goesOn: false,
    /** A stop was attempted in it; todos added later need work before they count (G7). */
    stopSeen: false,
  };
}

export function endTurn(state: State): State {
  return state.turn === null ? state : { ...state, turn: { ...state.turn, ended: true } };
}

/** Cancels a parked stop attempt with its timer; the epoch rises so that a timer already on its way is void. */
export function unpark(state: State): State {
  if (state.parked === null && state.timer === null) return state;
  return { ...state, parked: null, timer: null, epoch: state.epoch + 1 };
}

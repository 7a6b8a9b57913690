// The state of one session: counts and counters, never the list of todos, so that its size does not grow with
// the plan. Plain data, replaced and never mutated; stores keep it as one JSON value.
import type { Outcome } from './decision.ts';
import type {
  AgentDescriptor,
  Job,
  PermissionAnswer,
  PermissionSubject,
  SessionDescriptor,
  StopEnd,
  WorkerResult,
} from './events.ts';

export interface Turn {
  readonly id: string;
  readonly number: number;
  readonly startedAt: number;
  /** Control is back with the human. A message sent before that joins the turn (T3). */
  readonly ended: boolean;
  readonly touchedPlan: boolean;
  readonly touchedWorkspace: boolean;
  /** The human's message was on the list of go-on phrases: earlier todos count (T3). */
  readonly goesOn: boolean;
  /** A stop was attempted in it; todos added later need work before they count (G7). */
  readonly stopSeen: boolean;
}

/** How many rows of the plan are in which state; kept in step by plan/tally.ts. */
export interface PlanCounts {
  readonly pending: number;
  readonly inProgress: number;
  readonly completed: number;
  readonly cancelled: number;
  readonly blocked: number;
  /** Open and dropped. */
  readonly dropped: number;
  /** Dropped and not yet named in a continuation. */
  readonly unnamedDrops: number;
  /** Completed with no check of its own. */
  readonly uncovered: number;
  /** Completed, own check not passed yet (claimed or running). */
  readonly unverified: number;
  readonly running: number;
  readonly passed: number;
  /** Completed, and a check of its own failed before it passed. */
  readonly flaky: number;
  /** Open again because a check failed. */
  readonly failed: number;
  /** Cancelled without a reason. */
  readonly unexplained: number;
  /** Cancelled although a check of its own would have to pass: someone's wish is unproved. */
  readonly unproved: number;
  /** Completed without any work since they were created (V4). */
  readonly idleClaims: number;
  /** Blocked or cancelled without any work since they were created (V4). */
  readonly idleEnds: number;
}

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

export interface Session {
  readonly id: string;
  readonly planId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly descriptor: SessionDescriptor;
  readonly agent: AgentDescriptor;
  readonly policyHash: string | null;
  readonly deleted: boolean;
  readonly turn: Turn | null;
  /** Rises at each human message, latch, pause, cancelled countdown and injection; older timers are void. */
  readonly epoch: number;
  readonly counts: PlanCounts;
  readonly lastOrder: number;
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
  /** Hash of all the rest, written by the engine with each save: see engine/seal.ts. */
  readonly seal?: string;
}

export const noCounts: PlanCounts = {
  pending: 0,
  inProgress: 0,
  completed: 0,
  cancelled: 0,
  blocked: 0,
  dropped: 0,
  unnamedDrops: 0,
  uncovered: 0,
  unverified: 0,
  running: 0,
  passed: 0,
  flaky: 0,
  failed: 0,
  unexplained: 0,
  unproved: 0,
  idleClaims: 0,
  idleEnds: 0,
};

const unknownHost: SessionDescriptor = {
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

const unknownAgent: AgentDescriptor = { name: null, canWrite: 'unknown', model: null, variant: null };

/** A session before anything happened. Without a descriptor it counts as read-only: unknown is never continued. */
export function createSession(id: string, at: number): Session {
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
    counts: noCounts,
    lastOrder: 0,
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
  };
}

export function openCount(counts: PlanCounts): number {
  return counts.pending + counts.inProgress;
}

export function planSize(counts: PlanCounts): number {
  return openCount(counts) + counts.completed + counts.cancelled + counts.blocked;
}

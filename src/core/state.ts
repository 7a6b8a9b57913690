// One session with its whole plan, replaced and never mutated. What can be counted from
// the plan is not kept.
import type { CheckSpec } from './check-specs.ts';
import type { Outcome } from './decision.ts';
import type {
  AgentDescriptor,
  Asking,
  EventBase,
  EventOf,
  Job,
  PermissionAnswer,
  PermissionSubject,
  SessionDescriptor,
  SourceKind,
} from './events.ts';
import { isOpen, priorities, type Todo } from './todo.ts';

export type Turn = Readonly<ReturnType<typeof newTurn>>;
/** Zeroed only by a human message, progress, and first finals or passes (G6). */
export type Counters = Session['counters'];

export type GoalCheck = Readonly<typeof newGoalCheck>;
export const newGoalCheck = {
  state: 'none' as 'none' | 'running' | 'passed' | 'failed' | 'cannot-start',
  passedBefore: false,
  flaky: false,
  tail: null as string | null,
};

/**
 * Of the checks (V2). `overdue`: the agent was told to wait; its next stop takes it up if
 * nothing was written since. `claimsOnly`: todos were open, so it says nothing about the
 * goal.
 */
type FinalRun = {
  stop: string;
  ended: boolean;
  overdue: boolean;
  writes: number;
  claimsOnly: boolean;
};

/** Decided again when its cause of waiting ends. */
export type ParkedStop = Readonly<{
  eventId: string;
  cause: string;
  waitedUntil?: number;
}> &
  Pick<EventOf<'stop-attempted'>, 'at' | 'end' | 'question' | 'toolError'>;

type Pause = {
  by: 'human' | 'model' | 'rejection' | 'system';
  reason: string | null;
  at: number;
  /** The agent called `untildone stop` or `untildone pause`, and not `todo_pause`. */
  byCommand?: boolean;
};

/** Of our own agent, from the question until the call begins. */
export type PermissionRequest = Readonly<
  PermissionSubject & {
    requestId: string;
    askedAt: number;
    answer: PermissionAnswer | null;
  }
>;

type Permitted = Pick<PermissionSubject, 'tool' | 'pattern'>;

interface SessionPermissions {
  /** Whether a human was ever asked. */
  readonly hasAsked: boolean;
  readonly requests: readonly PermissionRequest[];
  readonly grants: readonly Readonly<
    Permitted & { remembered: 'session' | 'always'; at: number }
  >[];
  /** Not asked for again before the human speaks. */
  readonly refused: readonly Permitted[];
}

/** The last todo that went to a worker; only one works at a time (S4). */
export type Delegation = Omit<EventOf<'delegation-started'>, keyof EventBase | 'type'> & {
  readonly startedAt: number;
  /** null: it is at work, or the process died meanwhile. */
  readonly ended: Pick<EventOf<'delegation-ended'>, 'result' | 'sentence' | 'at'> | null;
};

export type SessionTimer = Frozen<{
  purpose: 'due' | 'resend';
  dueAt: number;
  epoch: number;
}>;

export type Injection = Readonly<{
  epoch: number;
  state: 'intended' | 'sent' | 'observed' | 'unanswered' | 'failed';
  attempts: number;
  at: number;
}>;

/**
 * The human's last message by the clock that files are stamped by; a session's own times
 * never run backwards.
 */
export const spokeAt = ({ clock, usage }: Pick<Session, 'clock' | 'usage'>) =>
  clock ?? usage.since;

export function isOnItsWay(injection: Injection | null): injection is Injection {
  return injection?.state === 'intended' || injection?.state === 'sent';
}

/**
 * Decided, but nobody has answered with it, and nothing has come since that makes it
 * void.
 */
export function isUnsaid({
  injection,
  epoch,
}: Pick<Session, 'injection' | 'epoch'>): boolean {
  return injection?.state === 'intended' && injection.epoch === epoch;
}

/**
 * The last stop: the hook that decides about it, and when a hook about it was last heard
 * of.
 */
type AnsweredStop = Omit<Asking, 'since'>;

/** Where the turn of a host stands whose hooks are each a process of their own. */
const noTrail = {
  promptId: null as string | null,
  /** Of the main agent; null: nothing yet. */
  last: null as SourceKind | null,
  /** Of the last tool call, if nothing came after it. */
  toolError: null as string | null,
  /** Since the main agent last called a tool or a prompt came. */
  stops: 0,
  stop: null as AnsweredStop | null,
};

export type HostTodo = Readonly<{
  key: string | null;
  title: string;
  /** The host's word; `gone`: it has left the list. */
  status: string;
  priority?: string | undefined;
}>;

type Progress = Readonly<{
  weakInRow: number;
  weakCounted: boolean;
  /** Since the last continuation, like workspaceMoved. */
  planMoved: boolean;
  workspaceMoved: boolean;
  /** The last continuation counted as stagnant; no stop since. */
  continuationOpen: boolean;
}>;

export const noProgress: Progress = {
  weakInRow: 0,
  weakCounted: false,
  planMoved: false,
  workspaceMoved: false,
  continuationOpen: false,
};

/** How the checks stood before the work on the goal began (V1). */
type Baseline = {
  /** With what only checks wrote since. */
  fingerprint: string | null;
  /** Calls that can write, ended until then. */
  writes: number;
  checks: Readonly<Record<string, 'passed' | 'failed' | 'cannot-start'>>;
};

/**
 * Checks that came with plans from other sessions: accepted there, and asked for by no
 * file here (V7).
 */
type Carried = {
  checks: Readonly<Record<string, CheckSpec>>;
  goalChecks: readonly string[];
};

type Frozen<T> = { readonly [Name in keyof T]: Frozen<T[Name]> };
export interface Session extends Frozen<ReturnType<typeof newSession>> {}

/**
 * A stored session (not the `Session` of `openSession`) and its whole plan, as one value.
 */
export interface State extends Session {
  /** Ranks rise along it. */
  readonly plan: readonly Todo[];
}

/**
 * Of a session that only keeps a plan for the next message in the host that is its
 * instance (V7).
 */
export const waitingHost = 'moved-plan';

/** Of sessions that programs open; those of `untildone run` are its own. */
export const libraryHost = 'library';

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

export const unknownAgent: AgentDescriptor = {
  name: null,
  canWrite: 'unknown',
  model: null,
  variant: null,
};

/**
 * The state before the first event. Without a descriptor a session counts as read-only:
 * unknown is never continued.
 */
export function createState(id: string, at: number): State {
  return { ...newSession(id, at), plan: [] };
}

/** Every field with its first value; the types come from here. */
function newSession(id: string, at: number) {
  return {
    id,
    planId: id,
    createdAt: at,
    updatedAt: at,
    descriptor: unknownHost,
    agent: unknownAgent,
    policyHash: null as string | null,
    deleted: false,
    closed: false,
    /** The first words that the human said (V11). */
    title: null as string | null,
    turn: null as Turn | null,
    /**
     * Rises at each human message, latch, pause, cancelled countdown and injection: older
     * timers are void.
     */
    epoch: 0,
    leftOver: null as { planId: string; open: number } | null,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    /** `movedTo`: by moving its plan there. */
    latch: null as { how: string; at: number; movedTo?: string } | null,
    pause: null as Pause | null,
    waits: {
      recovering: false,
      compacting: false,
      permissions: [] as readonly string[],
      questions: [] as readonly string[],
    },
    jobs: [] as readonly Job[],
    namedJobs: [] as readonly string[],
    backgroundSince: null as number | null,
    /** In a row, without a tool call in between (G11). */
    questions: 0,
    emptyAnswers: 0,
    progress: noProgress,
    work: {
      /** Of tools other than the todo tools. */
      calls: 0,
      /** Of tools that can write, ended. */
      writes: 0,
      /** Of those, begun; more than `writes`: one is running. */
      started: 0,
      writesAtFingerprint: 0,
      /** Those that the last look at the workspace came after. */
      writesSeen: 0,
      fingerprint: null as string | null,
      /** A call was told of, if only of a todo tool. */
      heard: false,
    },
    /**
     * At the human's last message: claims and work are counted from there (V4). Epoch 0:
     * nobody has spoken.
     */
    spoken: { epoch: 0, calls: 0, writes: 0, fingerprint: null as string | null },
    challenged: { claims: false, ends: false },
    toolErrorTodo: null as string | null,
    compacted: false,
    overflows: 0,
    loopAlarms: 0,
    loopTold: false,
    circuit: null as { signature: string; count: number } | null,
    rateLimitedUntil: null as number | null,
    usage: {
      since: at,
      tokens: 0,
      cost: 0,
      contextTokens: null as number | null,
      contextLimit: null as number | null,
    },
    /**
     * What the clock showed at the human's last message, where that is not `usage.since`
     * (P42).
     */
    clock: null as number | null,
    /** Said while the agent worked. */
    words: [] as readonly Readonly<{ messageId: string; text: string; at: number }>[],
    permissions: {
      hasAsked: false,
      requests: [],
      grants: [],
      refused: [],
    } as SessionPermissions,
    delegation: null as Delegation | null,
    trail: noTrail,
    hostList: [] as readonly HostTodo[],
    baseline: null as Baseline | null,
    carried: null as Carried | null,
    goal: {} as Readonly<Record<string, GoalCheck>>,
    finalRun: null as FinalRun | null,
    /** A damaged record proves nothing until the human speaks (V4). */
    recordBroken: null as string | null,
    checksOverdue: false,
    /**
     * Files that are ignored by now and were not at the human's message; they count all
     * the same (V2).
     */
    hidden: [] as readonly string[],
    /** Told hosts: a second idle without activity is a duplicate (E4). */
    activeSinceAnswer: true,
    lastContinuationAt: null as number | null,
    /** The last few: a known id is an echo and cancels nothing (E2). */
    humanMessageIds: [] as readonly string[],
    /** The last one answered; `resume` takes it up again in a told host. */
    lastStop: null as ParkedStop | null,
    parked: null as ParkedStop | null,
    timer: null as SessionTimer | null,
    injection: null as Injection | null,
    settled: null as { outcome: Outcome; reason: string; at: number } | null,
    /** Hash of the rest, written by the engine with each save. */
    seal: '',
  };
}

export function hasSpoken({ spoken }: Pick<Session, 'spoken'>): boolean {
  return spoken.epoch > 0;
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
  dropped: 0,
  unnamedDrops: 0,
  uncovered: 0,
  unverified: 0,
  running: 0,
  passed: 0,
  flaky: 0,
  failed: 0,
  unexplained: 0,
  /** Cancelled although it has checks. */
  unproved: 0,
  /**
   * Of the agent since the human's message; its own checks judge a todo that has any
   * (V4).
   */
  claims: 0,
  /** Blocked or cancelled with a reason, likewise. */
  ends: 0,
};

export type PlanCounts = Readonly<typeof noCounts>;

/** @param since the epoch of the human's message */
export function countPlan(plan: readonly Todo[], since = 0): PlanCounts {
  const counts = { ...noCounts };
  for (const todo of plan) {
    const { status, verification } = todo;
    const isSaid = todo.endedIn !== null && todo.endedIn >= since;
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
      if (todo.checks.length === 0) {
        counts.uncovered += 1;
        if (isSaid) counts.claims += 1;
      } else if (verification === 'passed') counts.passed += 1;
      else counts.unverified += 1;
      // The length first: thousands of calls would cost a third of a decision.
      if (todo.evidence.length > 0 && todo.evidence.some(({ flaky }) => flaky))
        counts.flaky += 1;
    } else {
      if (status === 'blocked') counts.blocked += 1;
      else {
        counts.cancelled += 1;
        if (todo.reason === null) counts.unexplained += 1;
        if (todo.checks.length > 0) counts.unproved += 1;
      }
      if (isSaid) counts.ends += 1;
    }
  }
  return counts;
}

/** T5: by priority, in progress before pending, then in the plan's order. */
export function nextTodos(plan: readonly Todo[], howMany: number): Todo[] {
  const ranks: Todo[][] = priorities.flatMap(() => [[], []]);
  for (const todo of plan) {
    if (!isOpen(todo)) continue;
    const rank =
      ranks[
        priorities.indexOf(todo.priority) * 2 + (todo.status === 'in_progress' ? 0 : 1)
      ];
    if (rank !== undefined && rank.length < howMany) rank.push(todo);
  }
  return ranks.flat().slice(0, howMany);
}

export function newTurn(id: string, startedAt: number, number = 1) {
  return {
    id,
    number,
    startedAt,
    /** A message before that joins the turn (T3). */
    ended: false,
    touchedPlan: false,
    touchedWorkspace: false,
    /** The human's message was a go-on phrase: earlier todos count (T3). */
    goesOn: false,
    stopSeen: false,
    /** It began with a plan that the checks on the goal had proved. */
    proved: false,
  };
}

/**
 * A turn that only asks something takes no proof away: nothing has moved since the checks
 * passed.
 */
export function isGoalProved({
  settled,
  turn,
}: Pick<Session, 'settled' | 'turn'>): boolean {
  if (settled !== null)
    return settled.outcome === 'done' && settled.reason === 'nothing-open';
  return turn?.proved === true && !turn.touchedPlan && !turn.touchedWorkspace;
}

/**
 * The outcome of such a turn does not change any more (V12). A stop attempt that waits
 * keeps its turn open.
 */
export function isTurnOver({ turn, parked }: Pick<Session, 'turn' | 'parked'>): boolean {
  return turn?.ended === true && parked === null;
}

/**
 * A stop (`aborted`) or a pause that came after the end of the turn changes nothing of
 * how the turn ended (V12).
 */
export function hadEndedOtherwise(
  session: Pick<Session, 'turn' | 'parked' | 'settled'>,
  outcome: 'aborted' | 'paused',
): boolean {
  return isTurnOver(session) && session.settled?.outcome !== outcome;
}

export function endTurn(state: State): State {
  return state.turn === null ? state : { ...state, turn: { ...state.turn, ended: true } };
}

/** The agent works on in a turn that had ended: it gets its outcome at its next stop. */
export function reopenTurn(state: State): State {
  const { turn } = state;
  return {
    ...state,
    turn: turn === null ? null : { ...turn, ended: false },
    settled: null,
  };
}

/** The epoch rises so that a timer on its way is void. */
export function cancelParked(state: State): State {
  return { ...state, parked: null, timer: null, epoch: state.epoch + 1 };
}

export function unpark(state: State): State {
  return state.parked === null && state.timer === null ? state : cancelParked(state);
}

/**
 * An asked host has the text with our answer; what happens next shows whether it took it.
 */
export function afterAnswer(
  { injection, descriptor }: State,
  now: 'observed' | 'unanswered',
) {
  const isOut = descriptor.mode === 'asked' && injection?.state === 'intended';
  return isOut ? { ...injection, state: now } : injection;
}

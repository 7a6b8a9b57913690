// The state of one session with its whole plan. A state is replaced and never mutated,
// and it keeps nothing that can be counted from the plan.
import type { CheckSpec } from './check-specs.ts';
import type { Outcome } from './decision.ts';
import type {
  AgentDescriptor,
  EventBase,
  EventOf,
  Job,
  PermissionAnswer,
  PermissionSubject,
  SessionDescriptor,
  SourceKind,
  StopQuestion,
} from './events.ts';
import { isOpen, priorities, type Todo } from './todo.ts';

/** One turn: from a message of the human until the agent may stop. */
export type Turn = Readonly<ReturnType<typeof newTurn>>;
/**
 * The counters of continuations. Only a human message, progress, first finals and first
 * passes set them back (G6).
 */
export type Counters = Session['counters'];

/** What is known about one check on the goal. */
export type GoalCheck = Readonly<typeof newGoalCheck>;
/** A check on the goal before its first result. */
export const newGoalCheck = {
  state: 'none' as 'none' | 'running' | 'passed' | 'failed' | 'cannot-start',
  passedBefore: false,
  flaky: false,
  tail: null as string | null,
};

/**
 * The last run of the checks before an outcome (V2). `overdue`: the agent was told to
 * wait, and its next stop takes the run up if nothing was written since. `claimsOnly`:
 * todos were open, so the run says nothing about the goal.
 */
type FinalRun = {
  stop: string;
  ended: boolean;
  overdue: boolean;
  writes: number;
  claimsOnly: boolean;
};

/** A stop attempt that waits. It is decided again when the cause of its wait ends. */
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

/** A request of our own agent, kept from the question until its call begins. */
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
  /** These are not asked for again before the human speaks. */
  readonly refused: readonly Permitted[];
}

/** The last todo that went to a worker; only one works at a time (S4). */
export type Delegation = Omit<EventOf<'delegation-started'>, keyof EventBase | 'type'> & {
  readonly startedAt: number;
  /** Null: the worker is at work, or the process died meanwhile. */
  readonly ended: Pick<EventOf<'delegation-ended'>, 'result' | 'sentence' | 'at'> | null;
};

/** When a parked stop is decided (`due`) or a text is sent again (`resend`). */
export type SessionTimer = Frozen<{
  purpose: 'due' | 'resend';
  dueAt: number;
  epoch: number;
}>;

/** How far the text of the last continuation has got. */
export type Injection = Readonly<{
  epoch: number;
  state: 'intended' | 'sent' | 'observed' | 'unanswered' | 'failed';
  attempts: number;
  at: number;
}>;

/**
 * When the human last spoke, by the clock that files are stamped with. The session's own
 * times may differ, because they never run backwards.
 */
export const spokeAt = ({ clock, usage }: Pick<Session, 'clock' | 'usage'>) =>
  clock ?? usage.since;

/** Whether the text has still to arrive: it is intended or sent. */
export function isOnItsWay(injection: Injection | null): injection is Injection {
  return injection?.state === 'intended' || injection?.state === 'sent';
}

/**
 * Whether a continuation was decided that no answer has carried yet, and nothing has made
 * it void since.
 */
export function isUnsaid({
  injection,
  epoch,
}: Pick<Session, 'injection' | 'epoch'>): boolean {
  return injection?.state === 'intended' && injection.epoch === epoch;
}

/**
 * The last stop: the hook that decides about it, and the time at which a hook about it
 * was last heard of.
 */
type AnsweredStop = Omit<StopQuestion, 'since'>;

/** Where the turn stands in a host whose hooks are separate processes. */
const noTrail = {
  promptId: null as string | null,
  /** What the main agent did last; null: nothing yet. */
  last: null as SourceKind | null,
  /** The error of the last tool call, if nothing came after that call. */
  toolError: null as string | null,
  /** Stops since the main agent last called a tool or a prompt came. */
  stops: 0,
  stop: null as AnsweredStop | null,
};

/** A todo in a list of the host, as it was last read. */
export type HostTodo = Readonly<{
  key: string | null;
  title: string;
  /** The host's word; `gone`: the todo has left the list. */
  status: string;
  priority?: string | undefined;
}>;

type Progress = Readonly<{
  weakInRow: number;
  weakCounted: boolean;
  /** Since the last continuation, like `workspaceMoved`. */
  planMoved: boolean;
  workspaceMoved: boolean;
  /** The last continuation counted as stagnant, and the agent has not stopped since. */
  continuationOpen: boolean;
}>;

/** The progress of a session whose human has just spoken. */
export const noProgress: Progress = {
  weakInRow: 0,
  weakCounted: false,
  planMoved: false,
  workspaceMoved: false,
  continuationOpen: false,
};

/** How the checks stood before the work on the goal began (V1). */
type Baseline = {
  /** The files at that time, with changes that only checks made since. */
  fingerprint: string | null;
  /** How many calls that can write had ended by then. */
  writes: number;
  checks: Readonly<Record<string, 'passed' | 'failed' | 'cannot-start'>>;
};

/**
 * Checks that came with plans from other sessions: a human accepted them there, and no
 * file here asks for them (V7).
 */
type Carried = {
  checks: Readonly<Record<string, CheckSpec>>;
  goalChecks: readonly string[];
};

type Frozen<T> = { readonly [Name in keyof T]: Frozen<T[Name]> };
/** A stored session without its plan; newSession() below has its fields. */
export interface Session extends Frozen<ReturnType<typeof newSession>> {}

/**
 * A stored session (not the `Session` of `openSession`) and its whole plan, as one value.
 */
export interface State extends Session {
  /** In the order of their ranks. */
  readonly plan: readonly Todo[];
}

/**
 * The host of a session that only keeps a moved plan. Its `instance` names the host whose
 * next message takes the plan (V7).
 */
export const waitingHost = 'moved-plan';

/**
 * The host of sessions that programs open; a session of `untildone run` has another one.
 */
export const libraryHost = 'library';

/** The host of a session about which nothing is known yet. */
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

/** The agent of a session about which nothing is known yet. */
export const unknownAgent: AgentDescriptor = {
  name: null,
  canWrite: 'unknown',
  model: null,
  variant: null,
};

/**
 * The state before the first event. A session without a descriptor counts as read-only,
 * because an unknown agent is never continued.
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
    /** The first words of the human (V11). */
    title: null as string | null,
    turn: null as Turn | null,
    /**
     * Rises at each human message, latch, pause, cancelled countdown and injection. A
     * timer with an older epoch is void.
     */
    epoch: 0,
    leftOver: null as { planId: string; open: number } | null,
    counters: { stagnant: 0, continuations: 0, total: 0 },
    /** `movedTo`: the human stopped the session by moving its plan there. */
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
    /** Questions in a row, without a tool call in between (G11). */
    questions: 0,
    emptyAnswers: 0,
    progress: noProgress,
    work: {
      /** Calls of tools other than the todo tools. */
      calls: 0,
      /** Calls of tools that can write, when they have ended. */
      writes: 0,
      /**
       * The same calls when they begin; if there are more than `writes`, one is running.
       */
      started: 0,
      writesAtFingerprint: 0,
      /** The number of `writes` at the last look at the workspace. */
      writesSeen: 0,
      fingerprint: null as string | null,
      /** A tool call was reported, if only of a todo tool. */
      heard: false,
    },
    /**
     * The values at the human's last message: claims and work are counted from there
     * (V4). Epoch 0: nobody has spoken.
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
     * The time of the clock at the human's last message, if it differs from `usage.since`
     * (P42).
     */
    clock: null as number | null,
    /** Messages that the human sent while the agent worked. */
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
    /** Why the record is damaged. It proves nothing until the human speaks (V4). */
    recordBroken: null as string | null,
    checksOverdue: false,
    /**
     * Files that are ignored by now and were not at the human's message. They count all
     * the same (V2).
     */
    hidden: [] as readonly string[],
    /** In told hosts, a second idle without activity in between is a duplicate (E4). */
    activeSinceAnswer: true,
    lastContinuationAt: null as number | null,
    /**
     * The ids of the last few messages: a known id is an echo and cancels nothing (E2).
     */
    humanMessageIds: [] as readonly string[],
    /** The last stop that was answered; `resume` takes it up again in a told host. */
    lastStop: null as ParkedStop | null,
    parked: null as ParkedStop | null,
    timer: null as SessionTimer | null,
    injection: null as Injection | null,
    settled: null as { outcome: Outcome; reason: string; at: number } | null,
    /** The hash of all other fields, written by the engine with each save. */
    seal: '',
  };
}

/** Whether a human has spoken in this session. */
export function hasSpoken({ spoken }: Pick<Session, 'spoken'>): boolean {
  return spoken.epoch > 0;
}

/** How many todos are open. */
export function openCount(counts: PlanCounts): number {
  return counts.pending + counts.inProgress;
}

/** How many todos the plan has. */
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
  /** Cancelled todos that have checks. */
  unproved: 0,
  /**
   * Todos without checks that the agent completed since the human's message; the others
   * are judged by their checks (V4).
   */
  claims: 0,
  /**
   * Todos that the agent blocked or cancelled with a reason since the human's message.
   */
  ends: 0,
};

/** The figures of a plan that rules and texts ask for. */
export type PlanCounts = Readonly<typeof noCounts>;

/**
 * Counts a plan.
 * @param since the epoch of the human's message
 */
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
      // The length is tested first: thousands of calls would cost a third of a decision.
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

/**
 * The next open todos: by priority, those in progress before pending ones, then in the
 * order of the plan (T5).
 */
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

/** A turn as it begins. */
export function newTurn(id: string, startedAt: number, number = 1) {
  return {
    id,
    number,
    startedAt,
    /** A message that comes before the end joins the turn (T3). */
    ended: false,
    touchedPlan: false,
    touchedWorkspace: false,
    /** The human's message was a go-on phrase: earlier todos count (T3). */
    goesOn: false,
    stopSeen: false,
    /** The turn began when the checks on the goal had proved the plan. */
    proved: false,
  };
}

/**
 * Whether the checks on the goal have proved the plan. A turn that only asks something
 * takes no proof away, because nothing has moved since the checks passed.
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
 * Whether the turn has ended, so that its outcome does not change any more (V12). A stop
 * attempt that waits keeps its turn open.
 */
export function isTurnOver({ turn, parked }: Pick<Session, 'turn' | 'parked'>): boolean {
  return turn?.ended === true && parked === null;
}

/**
 * Whether the turn had already ended with another outcome. A stop (`aborted`) or a pause
 * after that changes nothing about how the turn ended (V12).
 */
export function hadEndedOtherwise(
  session: Pick<Session, 'turn' | 'parked' | 'settled'>,
  outcome: 'aborted' | 'paused',
): boolean {
  return isTurnOver(session) && session.settled?.outcome !== outcome;
}

/** Marks the turn as ended. */
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

/**
 * Drops a waiting stop and its timer. The epoch rises, so that a timer on its way is
 * void.
 */
export function cancelParked(state: State): State {
  return { ...state, parked: null, timer: null, epoch: state.epoch + 1 };
}

/** Does the same as cancelParked(), but only if a stop or a timer waits. */
export function unparkStop(state: State): State {
  return state.parked === null && state.timer === null ? state : cancelParked(state);
}

/**
 * The injection after a further event. An asked host has the text with our answer, and
 * only the next event shows whether it took the text.
 */
export function afterAnswer(
  { injection, descriptor }: State,
  now: 'observed' | 'unanswered',
) {
  const isOut = descriptor.mode === 'asked' && injection?.state === 'intended';
  return isOut ? { ...injection, state: now } : injection;
}

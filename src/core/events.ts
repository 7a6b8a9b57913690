// Everything that can happen to a session, as data. Time and ids come inside the event, so that decide() needs
// neither a clock nor randomness. Adapters translate hosts' payloads into these; nothing here knows a host.
import type {
  HostCapReached,
  InjectionFailed,
  InjectionLost,
  InjectionObserved,
  InjectionSent,
  TimerFired,
} from './delivery-events.ts';
import type { EventBase } from './event-base.ts';
import type { Actor, Priority, TodoStatus } from './todo.ts';

export type HostMode = 'asked' | 'told';
/** `other`: a session of the host that is neither main nor subagent (titles, summaries …). */
export type SessionKind = 'main' | 'subagent' | 'other' | 'unknown';
export type Knowledge = 'yes' | 'no' | 'unknown';

/** What an adapter knows about a session and its host. */
export interface SessionDescriptor {
  readonly host: string;
  /** Which running instance of the host this session lives in; timers and outbox belong to its owner. */
  readonly instance: string;
  readonly mode: HostMode;
  readonly kind: SessionKind;
  readonly parentId: string | null;
  readonly directory: string | null;
  /** Nobody sits at a terminal: an unanswered question ends `paused` instead of waiting. */
  readonly headless: boolean;
  /** A told host that is gone if it is not answered at once: no countdown, no minimum interval. */
  readonly immediate: boolean;
  /** The host has no agents without write access, so that "unknown" need not be treated as read-only (G4). */
  readonly everyAgentWrites: boolean;
  /** The host reports tool calls; without them idle claims cannot be told from honest ones. */
  readonly seesTools: boolean;
  /** Names under which the model can call these tools here; null: it cannot, and texts must not name them. */
  readonly tools: {
    readonly pause: string | null;
    readonly verify: string | null;
    /** Hands a todo to the worker that it is for; absent: there are no workers here. */
    readonly delegate?: string | undefined;
  };
}

export interface AgentDescriptor {
  readonly name: string | null;
  readonly canWrite: Knowledge;
  readonly model: string | null;
  readonly variant: string | null;
}

export interface NewTodo {
  readonly id: string;
  readonly title: string;
  readonly context?: string | undefined;
  readonly completionCriteria?: string | undefined;
  readonly agentType?: string | undefined;
  readonly priority?: string | undefined;
  /** 1-based position in the plan; default: at the end. */
  readonly order?: number | undefined;
  readonly checks?: readonly string[] | undefined;
  readonly hostKey?: string | undefined;
  readonly status?: string | undefined;
}

export interface WrittenTodo {
  /** Our id or the host's; unknown ids fall back to the title. */
  readonly id?: string | undefined;
  readonly content: string;
  readonly status?: string | undefined;
  readonly priority?: string | undefined;
  readonly reason?: string | undefined;
  /** The id a new row gets if nothing matches. */
  readonly freshId: string;
}

export interface TodoChanges {
  readonly status?: TodoStatus | undefined;
  readonly reason?: string | undefined;
  readonly title?: string | undefined;
  readonly context?: string | undefined;
  readonly completionCriteria?: string | undefined;
  readonly priority?: Priority | undefined;
  readonly agentType?: string | undefined;
}

export type ToolAccess = 'read' | 'write' | 'todo' | 'unknown';
export type JobKind = 'shell' | 'subagent';

export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly description: string;
}

/** How the model's last step ended. Only `normal`, `length` and `empty` may be continued (G2). */
export type StopEnd =
  | 'normal'
  | 'length'
  | 'empty'
  | 'error'
  | 'cancelled'
  | 'refusal'
  | 'content-filter'
  | 'iteration-budget';

export interface SessionOpened extends EventBase {
  readonly type: 'session-opened';
  readonly descriptor: SessionDescriptor;
  readonly agent: AgentDescriptor | null;
}
/** The host process or window went away; the session itself can come back. */
export interface SessionClosed extends EventBase {
  readonly type: 'session-closed';
}
export interface SessionDeleted extends EventBase {
  readonly type: 'session-deleted';
}
export interface HumanSpoke extends EventBase {
  readonly type: 'human-spoke';
  readonly messageId: string | null;
  readonly text: string | null;
  /** Becomes the turn's id if this message starts one. */
  readonly turnId: string;
  readonly agent: AgentDescriptor | null;
  /** Workspace fingerprint at this moment, where one was taken: the baseline for progress. */
  readonly fingerprint: string | null;
  /** Filled in by the engine: the policy snapshot that is valid from here on (V2). */
  readonly policyHash: string | null;
  /** True: said while our own agent works; its loop takes the words up between two steps (T3). */
  readonly queued?: boolean | undefined;
}
/** Words that were queued stand in the conversation now. */
export interface WordsJoined extends EventBase {
  readonly type: 'words-joined';
  readonly messageId: string;
}
export interface HumanAborted extends EventBase {
  readonly type: 'human-aborted';
  readonly how: string;
}
export interface HumanPaused extends EventBase {
  readonly type: 'human-paused';
  readonly reason: string | null;
}
export interface HumanResumed extends EventBase {
  readonly type: 'human-resumed';
}
export interface ModelPaused extends EventBase {
  readonly type: 'model-paused';
  readonly reason: string;
}
/** The host is doing something: it turned busy, or an assistant message appeared. */
export interface ActivitySeen extends EventBase {
  readonly type: 'activity-seen';
}
export interface ToolStarted extends EventBase {
  readonly type: 'tool-started';
  readonly tool: string;
  readonly access: ToolAccess;
  /** The permission request that this call waited for; from here on the call has begun. */
  readonly requestId?: string | undefined;
}
export interface ToolEnded extends EventBase {
  readonly type: 'tool-ended';
  readonly tool: string;
  readonly access: ToolAccess;
  /** The error's text when the call failed. */
  readonly error: string | null;
}
export interface TodosCreated extends EventBase {
  readonly type: 'todos-created';
  readonly actor: Actor;
  readonly items: readonly NewTodo[];
}
export interface PlanWritten extends EventBase {
  readonly type: 'plan-written';
  readonly actor: Actor;
  readonly items: readonly WrittenTodo[];
}
export interface TodoUpdated extends EventBase {
  readonly type: 'todo-updated';
  readonly actor: Actor;
  readonly todoId: string;
  readonly changes: TodoChanges;
}
export interface TodoCompleted extends EventBase {
  readonly type: 'todo-completed';
  readonly actor: Actor;
  readonly todoId: string;
  readonly status: 'completed' | 'cancelled';
  readonly outcome: string;
}
/** How a worker's work on a todo ended. `interrupted`: by the human or by a crash, which is nobody's failure. */
export const workerResults = ['done', 'failed', 'timed-out', 'refused', 'interrupted'] as const;
export type WorkerResult = (typeof workerResults)[number];

/** The agent hands a todo to a worker and waits for it (S4). */
export interface DelegationStarted extends EventBase {
  readonly type: 'delegation-started';
  readonly todoId: string;
  /** The session of the worker. */
  readonly workerId: string;
  readonly agentType: string;
  /** The call by which it was delegated: after a crash its result is found by it. */
  readonly callId: string;
}
export interface DelegationEnded extends EventBase {
  readonly type: 'delegation-ended';
  readonly workerId: string;
  readonly result: WorkerResult;
  readonly sentence: string;
}
export interface CheckStarted extends EventBase {
  readonly type: 'check-started';
  /** null: a check of the goal. */
  readonly todoId: string | null;
  readonly check: string;
}
export interface CheckFinished extends EventBase {
  readonly type: 'check-finished';
  readonly todoId: string | null;
  readonly check: string;
  /** waiting: only a human can answer it, and none has. */
  readonly result: 'passed' | 'failed' | 'waiting';
  /** It failed first and passed when run once more: at best `claimed`. */
  readonly flaky: boolean;
  readonly tail: string | null;
  /** State of the check's files; null: unknown, or not the same before and after. */
  readonly fingerprint: string | null;
  /** It ran while the agent had stopped. */
  readonly final: boolean;
  /** Calls of writing tools that had ended when it was asked for; null: one was running. */
  readonly writes: number | null;
}
/** Someone wants the results of what is claimed or running (M8). */
export interface VerificationAsked extends EventBase {
  readonly type: 'verification-asked';
  /** null: all of them. */
  readonly todoId: string | null;
}
/** Every check of a stop attempt has been looked at, those that had gone stale too (V2). */
export interface FinalRunEnded extends EventBase {
  readonly type: 'final-run-ended';
  readonly stop: string;
  /** Files that say what is checked and were changed since the human's message: that counts from the next one. */
  readonly edited: readonly string[];
}
/** The rows of the plan and its ledger do not agree (V4). */
export interface RecordBroken extends EventBase {
  readonly type: 'record-broken';
  readonly sentence: string;
}
/** An asked host's deadline came before the checks ended. */
export interface ChecksOverdue extends EventBase {
  readonly type: 'checks-overdue';
}
export interface WorkspaceSeen extends EventBase {
  readonly type: 'workspace-seen';
  readonly fingerprint: string;
}
export interface StopAttempted extends EventBase {
  readonly type: 'stop-attempted';
  readonly end: StopEnd;
  /** The final text ends in a question to the human (G11). */
  readonly question: boolean;
  readonly fingerprint: string | null;
  /** Background work the host listed with the stop; null: it does not say, our own count holds. */
  readonly background: readonly Job[] | null;
  /** The last tool call before the stop failed with this error (P12). */
  readonly toolError: string | null;
}
export interface RecoveryStarted extends EventBase {
  readonly type: 'recovery-started';
}
export interface RecoveryEnded extends EventBase {
  readonly type: 'recovery-ended';
}
export interface CompactionStarted extends EventBase {
  readonly type: 'compaction-started';
}
export interface CompactionEnded extends EventBase {
  readonly type: 'compaction-ended';
  /** False when the context could not be made smaller. */
  readonly shrunk: boolean;
}
/** What a permission would allow: asked for by our own agent, which tells the model the answer itself. */
export interface PermissionSubject {
  readonly callId: string;
  readonly tool: string;
  /** The command or the path, as the human is shown it. */
  readonly subject: string;
  /** What a lasting answer would cover. */
  readonly pattern: string;
}
/** `withdrawn`: nobody waits for the answer any more. */
export const permissionAnswers = ['once', 'session', 'always', 'no', 'withdrawn'] as const;
export type PermissionAnswer = (typeof permissionAnswers)[number];

export interface PermissionAsked extends EventBase {
  readonly type: 'permission-asked';
  readonly requestId: string;
  /** Absent: a host asks, and knows itself what for. */
  readonly about?: PermissionSubject | undefined;
}
export interface PermissionAnswered extends EventBase {
  readonly type: 'permission-answered';
  readonly requestId: string;
  readonly granted: boolean;
  /** For how long it was said; absent: a host's answer. */
  readonly remembered?: PermissionAnswer | undefined;
}
export interface QuestionAsked extends EventBase {
  readonly type: 'question-asked';
  readonly requestId: string;
}
export interface QuestionAnswered extends EventBase {
  readonly type: 'question-answered';
  readonly requestId: string;
  readonly rejected: boolean;
}
export interface BackgroundStarted extends EventBase {
  readonly type: 'background-started';
  readonly job: Job;
}
export interface BackgroundEnded extends EventBase {
  readonly type: 'background-ended';
  readonly jobId: string;
}
export interface ErrorOccurred extends EventBase {
  readonly type: 'error-occurred';
  readonly kind: 'rate-limit' | 'overload' | 'overflow' | 'other';
  /** What makes two errors the same error. */
  readonly signature: string;
  readonly message: string;
  readonly retryAt: number | null;
}
export interface LoopAlarmed extends EventBase {
  readonly type: 'loop-alarmed';
  readonly pattern: string;
}
export interface UsageReported extends EventBase {
  readonly type: 'usage-reported';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly contextTokens: number | null;
  readonly contextLimit: number | null;
}
export type Event =
  | SessionOpened
  | SessionClosed
  | SessionDeleted
  | HumanSpoke
  | WordsJoined
  | HumanAborted
  | HumanPaused
  | HumanResumed
  | ModelPaused
  | ActivitySeen
  | ToolStarted
  | ToolEnded
  | TodosCreated
  | PlanWritten
  | TodoUpdated
  | TodoCompleted
  | DelegationStarted
  | DelegationEnded
  | CheckStarted
  | CheckFinished
  | VerificationAsked
  | FinalRunEnded
  | RecordBroken
  | ChecksOverdue
  | WorkspaceSeen
  | StopAttempted
  | RecoveryStarted
  | RecoveryEnded
  | CompactionStarted
  | CompactionEnded
  | PermissionAsked
  | PermissionAnswered
  | QuestionAsked
  | QuestionAnswered
  | BackgroundStarted
  | BackgroundEnded
  | ErrorOccurred
  | HostCapReached
  | LoopAlarmed
  | UsageReported
  | TimerFired
  | InjectionSent
  | InjectionFailed
  | InjectionObserved
  | InjectionLost;

export type EventType = Event['type'];

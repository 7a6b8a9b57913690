// What a run tells its watchers, one event at a time: the terminal prints them, `--json` writes them as NDJSON, the
// live view draws them. Plain data; text in it is as hostile as its source and is made safe by whoever shows it.
import type { Outcome, TextKind } from '../core/decision.ts';
import type { WorkerResult } from '../core/events.ts';
import type { Priority, TodoStatus, Verification } from '../core/todo.ts';

export interface TodoView {
  readonly id: string;
  readonly title: string;
  readonly status: TodoStatus;
  readonly priority: Priority;
  readonly verification: Verification;
  readonly dropped: boolean;
  readonly outcome: string | null;
  readonly reason: string | null;
}

export interface UsageView {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** null: the price of the model is not configured. */
  readonly cost: number | null;
}

/** Every event carries these. */
interface AgentEventBase {
  readonly at: number;
  readonly sessionId: string;
}

export interface RunStarted extends AgentEventBase {
  readonly type: 'run-started';
  readonly goal: string | null;
  readonly model: string;
  readonly directory: string;
  readonly resumed: boolean;
  /** How the workspace tools are permitted: ask, allow-list, read-only or auto. */
  readonly permissions: string;
}
export interface StepStarted extends AgentEventBase {
  readonly type: 'step-started';
  readonly step: number;
}
/** A piece of the agent's released answer. */
export interface TextReleased extends AgentEventBase {
  readonly type: 'text';
  readonly text: string;
}
/** Text that was held back because the agent goes on; never shown as an answer (I1). */
export interface TextHeldBack extends AgentEventBase {
  readonly type: 'text-held-back';
  readonly text: string;
}
/** A piece of text that is held while the decision is out; `text` or `text-held-back` follows. */
export interface TextHeld extends AgentEventBase {
  readonly type: 'text-held';
  readonly text: string;
}
export interface ToolCallStarted extends AgentEventBase {
  readonly type: 'tool-started';
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
}
export interface ToolCallEnded extends AgentEventBase {
  readonly type: 'tool-ended';
  readonly callId: string;
  readonly tool: string;
  readonly ok: boolean;
  /** First part of the output or the error's sentence. */
  readonly output: string;
  readonly milliseconds: number;
}
export interface PlanChanged extends AgentEventBase {
  readonly type: 'plan-changed';
  readonly todos: readonly TodoView[];
  readonly completed: number;
  readonly total: number;
}
/** The system sent the agent on: not a human message, and shown as what it is. */
export interface ContinuationSent extends AgentEventBase {
  readonly type: 'continuation';
  readonly textKind: TextKind;
  readonly level: number;
  readonly sentence: string;
  readonly text: string;
  /** Continuations since the human's message. */
  readonly number: number;
}
export interface Waiting extends AgentEventBase {
  readonly type: 'waiting';
  readonly reason: string;
  readonly sentence: string;
  readonly until: number | null;
}
export interface ErrorRetried extends AgentEventBase {
  readonly type: 'error';
  readonly kind: string;
  readonly sentence: string;
  /** When it is tried again; null: it is not. */
  readonly retryAt: number | null;
}
export interface Noticed extends AgentEventBase {
  readonly type: 'notice';
  readonly sentence: string;
}
/** A todo went to a worker. What the worker does comes as events with the worker's own session id. */
export interface WorkerStarted extends AgentEventBase {
  readonly type: 'worker-started';
  /** The session of the worker. */
  readonly workerId: string;
  readonly agentType: string;
  readonly todoId: string | null;
  readonly title: string;
}
export interface WorkerEnded extends AgentEventBase {
  readonly type: 'worker-ended';
  readonly workerId: string;
  readonly agentType: string;
  readonly todoId: string | null;
  readonly result: WorkerResult;
  readonly sentence: string;
  readonly milliseconds: number;
}
/** The agent wants to do what nobody allowed yet; the run waits for the human's answer (S7). */
export interface PermissionWanted extends AgentEventBase {
  readonly type: 'permission-asked';
  readonly requestId: string;
  readonly tool: string;
  /** The command or the path. */
  readonly subject: string;
  /** What an answer for longer than once would cover. */
  readonly pattern: string;
  readonly choices: readonly PermissionChoice[];
}
export type PermissionChoice = 'once' | 'session' | 'always' | 'no';
export interface PermissionSettled extends AgentEventBase {
  readonly type: 'permission-answered';
  readonly requestId: string;
  readonly granted: boolean;
  readonly remembered: PermissionChoice;
  /** Where it was answered: at the terminal of this run, or anywhere else. */
  readonly by: 'terminal' | 'elsewhere';
}
/** What the human said while the agent worked: first queued, then taken up between two steps (T3). */
export interface HumanSaid extends AgentEventBase {
  readonly type: 'human-message';
  readonly text: string;
  readonly state: 'queued' | 'joined';
}
/** The system runs a check of its own. */
export interface CheckBegan extends AgentEventBase {
  readonly type: 'check-started';
  readonly check: string;
  /** null: for the goal, or for several todos at once. */
  readonly todoId: string | null;
}
export interface CheckEnded extends AgentEventBase {
  readonly type: 'check-ended';
  readonly check: string;
  readonly todoId: string | null;
  /** waiting: only a human can answer it, and none has. */
  readonly result: 'passed' | 'failed' | 'waiting';
  readonly flaky: boolean;
  /** Why it did not pass. */
  readonly sentence: string;
  readonly milliseconds: number;
}
export interface UsageCounted extends AgentEventBase {
  readonly type: 'usage';
  readonly step: UsageView;
  readonly total: UsageView;
}
export interface Compacted extends AgentEventBase {
  readonly type: 'compacted';
  readonly messagesBefore: number;
  readonly messagesAfter: number;
}
export interface RunEnded extends AgentEventBase {
  readonly type: 'run-ended';
  readonly outcome: Outcome;
  readonly reason: string;
  readonly sentence: string;
  readonly exitCode: number;
  readonly todos: readonly TodoView[];
  /** Checks on the whole work that failed last, with the end of what they said. */
  readonly failedChecks: readonly { readonly check: string; readonly tail: string | null }[];
  /** Open todos of earlier turns that this one did not take up. */
  readonly leftOver: readonly string[];
  readonly continuations: readonly { readonly textKind: TextKind; readonly count: number }[];
  readonly steps: number;
  readonly toolCalls: number;
  readonly usage: UsageView;
  readonly milliseconds: number;
  /** The command that takes the session up again; empty: nothing of it is kept. */
  readonly resumeCommand: string;
}

export type AgentEvent =
  | RunStarted
  | StepStarted
  | TextReleased
  | TextHeldBack
  | TextHeld
  | ToolCallStarted
  | ToolCallEnded
  | PlanChanged
  | ContinuationSent
  | Waiting
  | ErrorRetried
  | Noticed
  | WorkerStarted
  | WorkerEnded
  | PermissionWanted
  | PermissionSettled
  | HumanSaid
  | CheckBegan
  | CheckEnded
  | UsageCounted
  | Compacted
  | RunEnded;

export type Emit = (event: AgentEvent) => void;

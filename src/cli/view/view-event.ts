// What the live view draws: the events of a run, and what only `attach` and the view itself can tell. Plain data.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { StateName } from '../describe-session.ts';

interface ViewEventBase {
  readonly at: number;
  readonly sessionId: string;
}

/** How a session stands in the store; told whenever that changed (`attach`). */
export interface SessionStateSeen extends ViewEventBase {
  readonly type: 'session-state';
  readonly host: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly directory: string | null;
  readonly state: StateName;
  /** The state as one sentence. */
  readonly words: string;
  /** Everything that holds the session up. */
  readonly waits: readonly string[];
  /** When the countdown or the wait ends by itself; null: nothing counts. */
  readonly until: number | null;
  /** When the running turn began; null: none runs. */
  readonly turnSince: number | null;
}

/** Time passed. */
interface Ticked {
  readonly type: 'tick';
  readonly at: number;
}

interface Resized {
  readonly type: 'resized';
  readonly columns: number;
  readonly rows: number;
}

/** The human's Ctrl-C, as it was understood. */
interface StopAsked {
  readonly type: 'stop-asked';
  readonly how: 'after-step' | 'now';
}

/** A check that only a human can answer is asked in the view; null: it was answered or given up. */
interface CheckQuestion {
  readonly type: 'check-question';
  readonly question: string | null;
}

/** A check that was begun and will not end (`attach`). */
interface CheckCancelled extends ViewEventBase {
  readonly type: 'check-cancelled';
  readonly check: string;
  readonly todoId: string | null;
}

/** What was asked for is no longer: the agent was stopped, or began a new turn. Nobody said no (`attach`). */
interface PermissionWithdrawn extends ViewEventBase {
  readonly type: 'permission-withdrawn';
  readonly requestId: string;
}

export type SessionEvent = AgentEvent | SessionStateSeen | CheckCancelled | PermissionWithdrawn;
export type ViewEvent = SessionEvent | Ticked | Resized | StopAsked | CheckQuestion;

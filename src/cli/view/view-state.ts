// Everything that the live view knows: plain data, replaced and never mutated. Bounded, however long a run is.

import type { PermissionChoice, TodoView, UsageView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import type { StateName } from '../describe-session.ts';

export interface CallView {
  readonly callId: string;
  /** null: a call of the run's own agent. */
  readonly workerId: string | null;
  readonly tool: string;
  readonly input: unknown;
  readonly startedAt: number;
  /** null: it runs. */
  readonly ended: { readonly ok: boolean; readonly output: string; readonly milliseconds: number } | null;
}

/** A check that runs. */
export interface CheckView {
  readonly check: string;
  readonly todoId: string | null;
  readonly startedAt: number;
}

export interface WorkerView {
  readonly workerId: string;
  readonly agentType: string;
  readonly title: string;
  readonly startedAt: number;
  readonly step: number;
}

export interface WaitView {
  readonly reason: string;
  readonly sentence: string;
  readonly until: number | null;
}

export interface PermissionView {
  readonly requestId: string;
  readonly tool: string;
  readonly subject: string;
  readonly pattern: string;
  readonly choices: readonly PermissionChoice[];
  readonly askedAt: number;
}

/** The line that the human writes. */
export interface InputView {
  readonly text: string;
  /** In UTF-16 units, at the boundary of a character. */
  readonly cursor: number;
  readonly typedAt: number;
}

export interface ViewState {
  /** `run`: this process runs the agent; `attach`: it looks at a session that runs elsewhere. */
  readonly kind: 'run' | 'attach';
  readonly now: number;
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly host: string | null;
  readonly startedAt: number | null;
  readonly step: number;
  readonly todos: readonly TodoView[];
  readonly completed: number;
  /** The first todo shown; null: the view follows the current one. */
  readonly scroll: number | null;
  /** Text that is held while the decision is out; its end, if it is long. */
  readonly held: string;
  /** The last calls, oldest first. */
  readonly calls: readonly CallView[];
  readonly isExpanded: boolean;
  readonly checks: readonly CheckView[];
  readonly workers: readonly WorkerView[];
  readonly wait: WaitView | null;
  readonly continuations: number;
  readonly usage: UsageView | null;
  readonly permissions: readonly PermissionView[];
  readonly checkQuestion: string | null;
  readonly input: InputView;
  /** Messages of the human that have not joined the turn yet. */
  readonly queued: number;
  readonly stopping: 'no' | 'after-step' | 'now';
  /** `attach`: how the session stands. */
  readonly session: {
    readonly state: StateName;
    readonly words: string;
    readonly waits: readonly string[];
  } | null;
  readonly outcome: Outcome | null;
}

export const emptyInput: InputView = { text: '', cursor: 0, typedAt: 0 };

export function createViewState(kind: ViewState['kind'], now: number): ViewState {
  return {
    kind,
    now,
    columns: 80,
    rows: 24,
    sessionId: null,
    model: null,
    host: null,
    startedAt: null,
    step: 0,
    todos: [],
    completed: 0,
    scroll: null,
    held: '',
    calls: [],
    isExpanded: false,
    checks: [],
    workers: [],
    wait: null,
    continuations: 0,
    usage: null,
    permissions: [],
    checkQuestion: null,
    input: emptyInput,
    queued: 0,
    stopping: 'no',
    session: null,
    outcome: null,
  };
}

// What the engine shall do after the transaction that decided. Core names it; the engine performs it.
import type { Todo } from './todo.ts';

/** Told hosts: put this text into the session. The key of delivery is session + epoch. */
export interface InjectCommand {
  readonly type: 'inject';
  readonly epoch: number;
  /** null: the same text again; the outbox has it. */
  readonly text: string | null;
}
/** Asked hosts: the answer to the stop attempt. `let-go` with a message tells the human why. */
export interface AnswerCommand {
  readonly type: 'answer';
  readonly answer: 'continue' | 'wait' | 'let-go';
  readonly epoch: number;
  readonly text: string | null;
  /** For the human; null: nothing worth saying. */
  readonly message: string | null;
  readonly dueAt: number | null;
}
export interface NotifyCommand {
  readonly type: 'notify';
  readonly level: 'info' | 'warning';
  readonly title: string;
  readonly message: string;
}
/** Run these checks; each result comes back as a `check-finished` event. */
export interface RunChecksCommand {
  readonly type: 'run-checks';
  readonly checks: readonly { readonly todoId: string | null; readonly check: string }[];
  /**
   * The stop attempt with nothing open that they are for: then what has gone stale is run again too, and
   * `final-run-ended` follows (V2). null: todos that were claimed.
   */
  readonly stop: string | null;
}
/** What a todo tool gives back to the model. */
export interface ReplyCommand {
  readonly type: 'reply';
  readonly reply: PlanReply;
}

export interface Refusal {
  /** Position in the input, where the input was a list. */
  readonly index: number | null;
  readonly code: string;
  readonly sentence: string;
}

export interface PlanReply {
  /** False when nothing at all was applied. */
  readonly applied: boolean;
  /** A whole-list write that equals the current list (M5). */
  readonly duplicate: boolean;
  readonly created: readonly Todo[];
  readonly changed: readonly Todo[];
  readonly refused: readonly Refusal[];
  /** Conflicts and notices for the model: same title twice, two in progress, duplicate write, dropped (T7, M5). */
  readonly notices: readonly string[];
}

export type Command = InjectCommand | AnswerCommand | NotifyCommand | RunChecksCommand | ReplyCommand;

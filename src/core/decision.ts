// What one event gives besides the next state: the decision on a stop attempt, and the commands that the engine
// performs after the transaction (G1, V8). Data only. The same words appear in hook answers, exit codes and docs.
import type { LedgerDraft } from './ledger.ts';
import type { Reason } from './rules.ts';
import type { State } from './state.ts';
import type { TextKind } from './texts.ts';
import type { Todo } from './todo.ts';

/** How a turn settles, with the exit code of `untildone run`. 2 is kept for wrong usage or configuration. */
export const exitCodes = {
  done: 0,
  claimed: 3,
  blocked: 4,
  stagnant: 5,
  exhausted: 6,
  paused: 7,
  aborted: 130,
  failed: 1,
} as const;
export type Outcome = keyof typeof exitCodes;
export const outcomes = Object.keys(exitCodes) as readonly Outcome[];

export type Answer = 'continue' | 'wait' | 'let-go';

/** A small record of what a rule looked at, kept so that `why` can explain the decision afterwards (V6). */
export type Inputs = Readonly<Record<string, string | number | boolean | null>>;

export interface Decision {
  readonly answer: Answer;
  /** Reason code: the name of the rule that answered, or `continue`. */
  readonly reason: Reason | 'continue';
  /** One sentence for people. */
  readonly sentence: string;
  readonly inputs: Inputs;
  /** How the turn settled; null while it goes on, for skips, and for waits. */
  readonly outcome: Outcome | null;
  readonly textKind: TextKind | null;
  /** 1 to 3: how firm the text was; null when none was sent. */
  readonly level: number | null;
  /** When a wait ends by itself; null when only an event ends it. */
  readonly dueAt: number | null;
  /** True in observe mode: this is what would have been answered (C2). */
  readonly observed: boolean;
  readonly epoch: number;
}

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
  readonly answer: Answer;
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

/** What one event does. A todo of the next state that is not the same object as before was changed. */
export interface Step {
  readonly state: State;
  readonly commands: readonly Command[];
  readonly decision: Decision | null;
  /** To be chained by the engine, in this order. */
  readonly ledger: readonly LedgerDraft[];
}

export function step(
  state: State,
  commands: readonly Command[] = [],
  ledger: readonly LedgerDraft[] = [],
): Step {
  return { state, commands, decision: null, ledger };
}

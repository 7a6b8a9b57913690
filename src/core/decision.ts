// What the system answered to a stop attempt, and how a turn settled (G1, V8).
// The same words appear in hook answers, exit codes, JSON, the command line and the docs.

export const outcomes = [
  'done',
  'claimed',
  'blocked',
  'stagnant',
  'exhausted',
  'paused',
  'aborted',
  'failed',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Exit codes of `untildone run`, by outcome. 2 is kept for wrong usage or configuration. */
export const exitCodes: Readonly<Record<Outcome, number>> = {
  done: 0,
  claimed: 3,
  blocked: 4,
  stagnant: 5,
  exhausted: 6,
  paused: 7,
  aborted: 130,
  failed: 1,
};

export type Answer = 'continue' | 'wait' | 'let-go';

/** Which text a continuation carries. The list in texts/pick-text.ts is ordered; this one is not. */
export type TextKind =
  | 'dropped-todos'
  | 'bulk-claim'
  | 'failed-check'
  | 'checks-running'
  | 'text-question'
  | 'output-limit'
  | 'iteration-budget'
  | 'tool-error'
  | 'empty-answer'
  | 'loop'
  | 'background-job'
  | 'after-compaction'
  | 'standard';

/** A small record of what a rule looked at, kept so that `why` can explain the decision afterwards (V6). */
export type Inputs = Readonly<Record<string, string | number | boolean | null>>;

export interface Decision {
  readonly answer: Answer;
  /** Reason code: the name of the rule that answered, or `continue`. */
  readonly reason: string;
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

// What one event leads to besides the next state: commands, a decision and ledger
// entries. The engine performs the commands after the transaction (G1, V8); nothing is
// performed here.
import type { Event, EventOf, EventType } from './events.ts';
import type { LedgerDraft } from './ledger.ts';
import type { Policy } from './policy.ts';
import type { Reason } from './rules.ts';
import type { State } from './state.ts';
import type { Continuation, TextKind } from './texts.ts';
import type { Todo } from './todo.ts';

/** How a turn can settle, with the exit code of `untildone run`; 2 is wrong usage. */
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
/** How the work settled. */
export type Outcome = keyof typeof exitCodes;
/** Every outcome. */
export const outcomes = Object.keys(exitCodes) as readonly Outcome[];

/** The kinds of answers to a stop attempt. */
export type Answer = 'continue' | 'wait' | 'let-go';
/** The figures that a rule looked at, for `why` (V6). */
export type Inputs = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The answer to one stop attempt: what was decided, by which rule, and on which numbers.
 */
export type Decision = Readonly<{
  answer: Answer;
  reason: Reason | 'continue';
  sentence: string;
  inputs: Inputs;
  /** Null: the turn goes on, waits, or is skipped. */
  outcome: Outcome | null;
  textKind: TextKind | null;
  level: number | null;
  /** When a wait ends by itself; null: only an event ends it. */
  dueAt: number | null;
  /** In observe mode: this would have been the answer (C2). */
  observed: boolean;
  epoch: number;
}>;

/**
 * What a human who looks elsewhere is told. `outcome` null: the agent waits for their
 * answer, by `approve` or in the host.
 */
export type Moment = Pick<Decision, 'outcome' | 'sentence'> & {
  readonly isApproval?: boolean;
};

/** What a human is told if the agent waits for an answer. */
export const waitsForAnswerSentence = 'The agent waits for your answer.';

/**
 * What to tell a human after a step; null: nothing. How a subagent ended is news for its
 * parent only.
 */
export function momentToTell(
  { descriptor: { kind } }: Pick<State, 'descriptor'>,
  events: readonly Event[],
  decisions: readonly Decision[],
): Moment | null {
  const ending = decisions.findLast(
    ({ outcome, observed }) => outcome !== null && !observed,
  );
  if (ending !== undefined) return kind === 'subagent' ? null : ending;
  const isApproval = events.some(
    (event) => event.type === 'check-finished' && event.result === 'waiting',
  );
  const isQuestion = (event: Event) =>
    event.type === 'wait-started' &&
    (event.wait.kind === 'permission' || event.wait.kind === 'question');
  return isApproval || events.some(isQuestion)
    ? { outcome: null, sentence: waitsForAnswerSentence, isApproval }
    : null;
}

/** `said`: the parts that the text of a continuation was made of. */
type Words = Readonly<{ text: string | null; said?: Continuation }>;

/**
 * For told hosts: send this text. Session and epoch are the key of the delivery. `text`
 * null: send the text in the outbox again.
 */
export type InjectCommand = Words & Readonly<{ type: 'inject'; epoch: number }>;

/** For asked hosts: answer the stop. */
export type AnswerCommand = Pick<Decision, 'answer' | 'epoch' | 'dueAt'> &
  Words &
  Readonly<{ type: 'answer'; message: string | null }>;

/** Start these checks. */
export type RunChecksCommand = Readonly<{
  type: 'run-checks';
  checks: readonly Readonly<{ todoId: string | null; check: string }>[];
  /**
   * The stop attempt that asks: stale checks run again too, and `final-run-ended` follows
   * (V2). Null: todos were claimed.
   */
  stop: string | null;
}>;

/** Why an item was refused; `index` null: the whole change. */
export type Refusal = Readonly<{ index: number | null; code: string; sentence: string }>;

/** What a change of the plan led to, for its author. */
export type PlanReply = Readonly<{
  applied: boolean;
  /** The written list equals the current one (M5). */
  duplicate: boolean;
  created: readonly Todo[];
  changed: readonly Todo[];
  refused: readonly Refusal[];
  /** Statuses and priorities that we do not know; `notices` has them too. */
  unknownWords: readonly string[];
  notices: readonly string[];
}>;

/** What the engine has to do after a step. */
export type Command =
  | InjectCommand
  | AnswerCommand
  | RunChecksCommand
  | Readonly<{
      type: 'notify';
      level: 'info' | 'warning';
      title: string;
      message: string;
    }>
  | Readonly<{ type: 'reply'; reply: PlanReply }>;

/** What one event leads to. A todo that is the same object as before did not change. */
export type Step = Readonly<{
  state: State;
  commands: readonly Command[];
  decision: Decision | null;
  ledger: readonly LedgerDraft[];
}>;

/** A step without a decision. */
export function step(
  state: State,
  commands: Step['commands'] = [],
  ledger: Step['ledger'] = [],
): Step {
  return { state, commands, decision: null, ledger };
}

/** Joins two steps; `second` must have begun with the state that `first` ended with. */
export function joinSteps(first: Step, second: Step): Step {
  return {
    state: second.state,
    commands: [...first.commands, ...second.commands],
    decision: second.decision ?? first.decision,
    ledger: [...first.ledger, ...second.ledger],
  };
}

/**
 * What each event does to a session; most events only change its state. The settings are
 * those of the session's agent.
 */
export type Reducers = {
  readonly [Type in EventType]: (
    state: State,
    event: EventOf<Type>,
    policy: Policy,
  ) => State | Step;
};

/** Types a part of the table by its keys. */
export function byEvent<Type extends EventType>(
  part: Pick<Reducers, Type>,
): Pick<Reducers, Type> {
  return part;
}

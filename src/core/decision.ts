// What one event gives besides the next state. Commands are performed after the
// transaction (G1, V8).
import type { Event, EventOf, EventType } from './events.ts';
import type { LedgerDraft } from './ledger.ts';
import type { Policy } from './policy.ts';
import type { Reason } from './rules.ts';
import type { State } from './state.ts';
import type { Continuation, TextKind } from './texts.ts';
import type { Todo } from './todo.ts';

/** How a turn settles, with the exit code of `untildone run`; 2 is wrong usage. */
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
export const outcomes = Object.keys(exitCodes) as readonly Outcome[];

export type Answer = 'continue' | 'wait' | 'let-go';
/** What a rule looked at, for `why` (V6). */
export type Inputs = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The answer to one stop attempt: what was decided, by which rule, and on which numbers.
 */
export type Decision = Readonly<{
  answer: Answer;
  reason: Reason | 'continue';
  sentence: string;
  inputs: Inputs;
  /** null: the turn goes on, waits, or is skipped. */
  outcome: Outcome | null;
  textKind: TextKind | null;
  level: number | null;
  /** When a wait ends by itself; null: only by an event. */
  dueAt: number | null;
  /** It would have been answered so (C2). */
  observed: boolean;
  epoch: number;
}>;

/**
 * Of what a human is told who looks elsewhere. `outcome` null: the agent waits for their
 * answer, by `approve` or in the host.
 */
export type Moment = Pick<Decision, 'outcome' | 'sentence'> & {
  readonly isApproval?: boolean;
};

export const askedSentence = 'The agent waits for your answer.';

/** Null: nothing of that kind. How a subagent ended is news for its parent only. */
export function momentToTell(
  { descriptor: { kind } }: Pick<State, 'descriptor'>,
  events: readonly Event[],
  decisions: readonly Decision[],
): Moment | null {
  const ended = decisions.findLast(
    ({ outcome, observed }) => outcome !== null && !observed,
  );
  if (ended !== undefined) return kind === 'subagent' ? null : ended;
  const isApproval = events.some(
    (event) => event.type === 'check-finished' && event.result === 'waiting',
  );
  const isQuestion = (event: Event) =>
    event.type === 'wait-started' &&
    (event.wait.kind === 'permission' || event.wait.kind === 'question');
  return isApproval || events.some(isQuestion)
    ? { outcome: null, sentence: askedSentence, isApproval }
    : null;
}

/** `said`: of what the text of a continuation was made. */
type Words = Readonly<{ text: string | null; said?: Continuation }>;

/**
 * Told hosts. The key of delivery is session + epoch. Without a text: the same again,
 * from the outbox.
 */
export type InjectCommand = Words & Readonly<{ type: 'inject'; epoch: number }>;

/** Asked hosts. */
export type AnswerCommand = Pick<Decision, 'answer' | 'epoch' | 'dueAt'> &
  Words &
  Readonly<{ type: 'answer'; message: string | null }>;

export type RunChecksCommand = Readonly<{
  type: 'run-checks';
  checks: readonly Readonly<{ todoId: string | null; check: string }>[];
  /**
   * Of a stop attempt: stale ones are run again too, then comes `final-run-ended` (V2).
   * null: todos were claimed.
   */
  stop: string | null;
}>;

export type Refusal = Readonly<{ index: number | null; code: string; sentence: string }>;

export type PlanReply = Readonly<{
  applied: boolean;
  /** The list written equals the current one (M5). */
  duplicate: boolean;
  created: readonly Todo[];
  changed: readonly Todo[];
  refused: readonly Refusal[];
  /** Of statuses and priorities that nobody knows; notices too. */
  unknownWords: readonly string[];
  notices: readonly string[];
}>;

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

/** A todo that is not the same object as before was changed. */
export type Step = Readonly<{
  state: State;
  commands: readonly Command[];
  decision: Decision | null;
  ledger: readonly LedgerDraft[];
}>;

export function step(
  state: State,
  commands: Step['commands'] = [],
  ledger: Step['ledger'] = [],
): Step {
  return { state, commands, decision: null, ledger };
}

/** `second` must have begun with the state that `first` ended with. */
export function joinSteps(first: Step, second: Step): Step {
  return {
    state: second.state,
    commands: [...first.commands, ...second.commands],
    decision: second.decision ?? first.decision,
    ledger: [...first.ledger, ...second.ledger],
  };
}

/**
 * What each event does to a session; most only change its state. The settings are those
 * of its agent.
 */
export type Reducers = {
  readonly [Type in EventType]: (
    state: State,
    event: EventOf<Type>,
    policy: Policy,
  ) => State | Step;
};

/** A part of the table, typed by its keys. */
export function byEvent<Type extends EventType>(
  part: Pick<Reducers, Type>,
): Pick<Reducers, Type> {
  return part;
}

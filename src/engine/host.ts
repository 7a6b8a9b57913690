// What the engine may ask of the world around it, and the rows that checks and our own
// agent keep. Adapters decide nothing, and must not throw for an outcome that is
// expected.
import type { CheckResult, CheckSpec } from '../core/check-specs.ts';
import type { Command, RunChecksCommand } from '../core/decision.ts';
import type { Event, EventOf } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import type { Session, State } from '../core/state.ts';

/** Tells the time and wakes us; tests use a simulated clock. */
export interface Clock {
  /** Returns milliseconds since 1970. Must not throw. */
  now(): number;
  /**
   * Calls back once, not before `at`. Must not keep the process alive. Returns a function
   * that cancels.
   */
  wake(at: number, callback: () => void): () => void;
}

/** Makes ids for events and rows. */
export interface Identifiers {
  /** Returns a new UUID, version 7; never the same one twice. */
  next(): string;
}

/** One continuation on its way to a host. */
export interface OutgoingText {
  /** Session id and epoch: it names the same continuation, however often it is sent. */
  readonly key: string;
  readonly session: Session;
  readonly epoch: number;
  readonly text: string;
}

/**
 * A host that only tells us when a session idles, and that we can send texts to:
 *
 * ```ts
 * const outgoing = { key: 's1:4', session, epoch: 4, text };
 * await host.inject(outgoing); // { taken: true }: the host has the text
 * await host.find(outgoing); // 'present'
 * ```
 *
 * No method may wait for the agent to end its turn, or decide whether a text is due.
 */
export interface ToldHost {
  /**
   * Hands the text to the host. It may be called again with the same key; a rejection
   * counts as a refusal. Must settle within seconds, since other sessions wait.
   */
  inject(
    outgoing: OutgoingText,
  ): Promise<{ taken: true } | { taken: false; error: string }>;
  /**
   * Looks for the text in the host. `absent` also if the host holds it without ever
   * acting on it, and `inject` makes the host act without doubling it. `unknown`: the
   * host cannot tell.
   */
  find(outgoing: OutgoingText): Promise<'present' | 'absent' | 'unknown'>;
  /** Tells whether no turn of the session runs. */
  isIdle(sessionId: string): Promise<boolean>;
  /**
   * Reads the host's todo list of this moment, as an event (G5); null: it cannot be read.
   */
  readPlan(session: State): Promise<Event | null>;
  /** Shows a notice. Without a duration it is a word about a turn's end. */
  notify(
    session: Session,
    notice: Omit<Extract<Command, { type: 'notify' }>, 'type'> & {
      readonly durationMs?: number;
    },
  ): Promise<void>;
}

/**
 * Runs checks and reports each result as an event; must not throw because a check fails.
 * For a stop attempt (`stop`), checks whose result is outdated are run again too.
 */
export interface Checker {
  run(
    session: State,
    request: Pick<RunChecksCommand, 'checks' | 'stop'>,
    report: (event: Event) => Promise<void>,
  ): Promise<void>;
}

/**
 * The todo and the session that a check is run for, as of the moment when it was asked
 * for; `todoId` null: the goal.
 */
export type CheckAsker = Pick<
  EventOf<'check-finished'>,
  'sessionId' | 'todoId' | 'final' | 'writes'
>;

/** What the run of a check found. */
export interface CheckFinding extends CheckResult {
  /** True: the check failed first, and passed when it was run again. */
  readonly flaky: boolean;
  /** The fingerprint of the check's files after the run; null: none could be taken. */
  readonly after: string | null;
  /** The fingerprint of all files after the run. */
  readonly tree: string | null;
}

/**
 * One run of a check in the queue. It serves everyone who asked for the same check on the
 * same files before it ended.
 */
export type CheckRun = Readonly<{
  id: string;
  key: string;
  directory: string;
  spec: CheckSpec;
  /** Files that do not belong to the check, such as the plan file. */
  exclude: readonly string[];
  /** What was ignored at the human's message of the first asker, and when that was. */
  rules?: (Policy['ignoreRules'] & Readonly<{ since: number }>) | undefined;
  /** The fingerprint that the run was asked about; null: none could be taken. */
  before: string | null;
  state: 'asked' | 'running' | 'finished' | 'cancelled';
  askers: readonly CheckAsker[];
  askedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  finding: CheckFinding | null;
}>;

/** A check's result on the record; `human`: a human answered. */
export interface EvidenceRow
  extends CheckResult,
    Pick<CheckAsker, 'sessionId' | 'todoId'> {
  readonly flaky: boolean;
  readonly fingerprint: string | null;
  readonly human?: true;
}

/**
 * The kind of a message. A worker's `human` is the agent that sent it. `held`: an answer
 * that was held back. `summary`: it stands for all messages before it.
 */
export type MessageKind =
  | 'human'
  | 'agent'
  | 'tools'
  | 'held'
  | 'continuation'
  | 'note'
  | 'summary';

/** A message that our own agent keeps, so that it can go on after a crash. */
export type MessageRow = Readonly<{
  /** Counts from 1 in each session; the store gives it. */
  sequence: number;
  sessionId: string;
  turnId: string | null;
  at: number;
  kind: MessageKind;
  body: string;
}>;

/**
 * A tool call of our own agent. It is kept from before the call starts until the messages
 * of its step are written.
 */
export type CallRow = Readonly<{
  sessionId: string;
  callId: string;
  stepId: string;
  tool: string;
  /** Only a call that reads may be made again after a crash. */
  readOnly: boolean;
  input: string;
  startedAt: number;
  /** Null: how the call ended is not known. */
  result: string | null;
  endedAt: number | null;
}>;

// What the engine may ask of the world around it, and the rows that checks and our own
// agent keep. Adapters decide nothing and throw for no expected outcome.
import type { CheckResult, CheckSpec } from '../core/check-specs.ts';
import type { Command, RunChecksCommand } from '../core/decision.ts';
import type { Event, EventOf } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import type { Session, State } from '../core/state.ts';

/** The time, and wake-ups; tests give a simulated one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls back once, not before `at`; must not keep the process alive. Returns a cancel
   * function.
   */
  wake(at: number, callback: () => void): () => void;
}

export interface Identifiers {
  /** A new UUID, version 7. */
  next(): string;
}

export interface OutgoingText {
  /** Session id and epoch: the same continuation, however often it is sent. */
  readonly key: string;
  readonly session: Session;
  readonly epoch: number;
  readonly text: string;
}

export interface ToldHost {
  /**
   * May be called again with the same key; a rejection is a refusal. Must settle within
   * seconds: others wait.
   */
  inject(
    outgoing: OutgoingText,
  ): Promise<{ taken: true } | { taken: false; error: string }>;
  /**
   * `absent` also if the host holds it without ever acting on it, and `inject` makes it
   * act without doubling it.
   */
  find(outgoing: OutgoingText): Promise<'present' | 'absent' | 'unknown'>;
  isIdle(sessionId: string): Promise<boolean>;
  /** The host's list of this moment as an event (G5); null: it cannot be read. */
  readPlan(session: State): Promise<Event | null>;
  /** Without a duration: a word about a turn's end. */
  notify(
    session: Session,
    notice: Omit<Extract<Command, { type: 'notify' }>, 'type'> & {
      readonly durationMs?: number;
    },
  ): Promise<void>;
}

/**
 * Runs checks. Each result is reported as an event. For a stop attempt (`stop`) what has
 * gone stale is run again too.
 */
export interface Checker {
  run(
    session: State,
    request: Pick<RunChecksCommand, 'checks' | 'stop'>,
    report: (event: Event) => Promise<void>,
  ): Promise<void>;
}

/** For whom a check is run, as of when it was asked for. */
export type CheckAsker = Pick<
  EventOf<'check-finished'>,
  'sessionId' | 'todoId' | 'final' | 'writes'
>;

export interface CheckFinding extends CheckResult {
  /** It failed first and passed then. */
  readonly flaky: boolean;
  /** The fingerprint; null: none could be taken. */
  readonly after: string | null;
  /** The same of all files, whichever the check is about. */
  readonly tree: string | null;
}

/**
 * One run serves everyone who asked for the same check on the same files before it ended.
 */
export type CheckRun = Readonly<{
  id: string;
  key: string;
  directory: string;
  spec: CheckSpec;
  /** No files of the check, such as the plan file. */
  exclude: readonly string[];
  /** What was ignored at the message of whoever asked first, and when that was. */
  rules?: (Policy['ignoreRules'] & Readonly<{ since: number }>) | undefined;
  /** The fingerprint that it was asked about; null: none could be taken. */
  before: string | null;
  state: 'asked' | 'running' | 'finished' | 'cancelled';
  askers: readonly CheckAsker[];
  askedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  finding: CheckFinding | null;
}>;

export interface EvidenceRow
  extends CheckResult,
    Pick<CheckAsker, 'sessionId' | 'todoId'> {
  readonly flaky: boolean;
  readonly fingerprint: string | null;
  readonly human?: true;
}

/**
 * To a worker, the agent that sent it is the human. held: an answer that was held back.
 * summary: of all before it.
 */
export type MessageKind =
  | 'human'
  | 'agent'
  | 'tools'
  | 'held'
  | 'continuation'
  | 'note'
  | 'summary';

/** What our own agent keeps of a conversation, to go on after a crash. */
export type MessageRow = Readonly<{
  /** From 1 in each session; given by the store. */
  sequence: number;
  sessionId: string;
  turnId: string | null;
  at: number;
  kind: MessageKind;
  body: string;
}>;

/** A tool call of our own agent, from before it starts until its step is written down. */
export type CallRow = Readonly<{
  sessionId: string;
  callId: string;
  stepId: string;
  tool: string;
  /** Only calls that read may be made again after a crash. */
  readOnly: boolean;
  input: string;
  startedAt: number;
  /** Null: nothing is known of its end. */
  result: string | null;
  endedAt: number | null;
}>;

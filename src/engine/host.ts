// What the engine may ask of the world around it: time and identity, the host that a session runs in, and whoever runs
// checks; with the rows that the queue of checks and our own agent keep. An adapter implements these and decides
// nothing. No method may throw for an expected outcome; a rejection counts as a failed send.
import type { CheckResult, CheckSpec } from '../core/check-specs.ts';
import type { RunChecksCommand } from '../core/decision.ts';
import type { Event } from '../core/events.ts';
import type { Session, State } from '../core/state.ts';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, not before `at`. Must not keep the process alive by itself. Returns a cancel function. */
  wake(at: number, callback: () => void): () => void;
}

export interface Identifiers {
  /** A new UUID (v7: ordered by time, so that rows stay clustered). */
  next(): string;
}

export interface OutgoingText {
  /** session id + epoch: the same key is the same continuation, however often it is sent. */
  readonly key: string;
  readonly session: Session;
  readonly epoch: number;
  readonly text: string;
}

export interface ToldHost {
  /**
   * Puts the text into the session; a refusal carries a sentence. Must settle within seconds, not when the turn ends:
   * what is due in other sessions waits for it. May be called again with the same key if nothing came of it.
   */
  inject(
    outgoing: OutgoingText,
  ): Promise<{ readonly taken: true } | { readonly taken: false; readonly error: string }>;
  /**
   * Does the host show this continuation? `unknown` where it cannot be looked up. `absent` also for one that it holds
   * and will never act on, if `inject` with the same key makes it act without doubling the text.
   */
  find(outgoing: OutgoingText): Promise<'present' | 'absent' | 'unknown'>;
  isIdle(sessionId: string): Promise<boolean>;
  /** The host's own list as an event, read at the moment of acting (G5); null where it cannot be read. */
  readPlan(session: State): Promise<Event | null>;
  notify(
    session: Session,
    notice: { level: 'info' | 'warning'; title: string; message: string },
  ): Promise<void>;
}

/**
 * Runs checks outside any transaction; each result comes back through `report` as an event. For a stop attempt
 * (`stop` is not null) it also runs again what has gone stale, and ends with `final-run-ended`. Must not throw.
 */
export interface Checker {
  run(
    session: State,
    request: Pick<RunChecksCommand, 'checks' | 'stop'>,
    report: (event: Event) => Promise<void>,
  ): Promise<void>;
}

/** For whom a check is run. */
export interface CheckAsker {
  readonly sessionId: string;
  /** null: for the goal. */
  readonly todoId: string | null;
  /** The agent had stopped when it was asked for. */
  readonly final: boolean;
  /** Calls of writing tools that had ended then; null: one was running. */
  readonly writes: number | null;
}

/** What came of a check, its second try included. */
export interface CheckFinding extends CheckResult {
  /** It failed first and passed when it was run once more. */
  readonly flaky: boolean;
  /** State of the files that the check depends on, when it was asked for and after it; null: it could not be taken. */
  readonly before: string | null;
  readonly after: string | null;
}

/** One run serves everyone who asked for the same check on the same files while it was waiting or running. */
export interface CheckRun {
  readonly id: string;
  /** Check, folder and state of the workspace as one hash: equal keys are the same question. */
  readonly key: string;
  readonly directory: string;
  readonly spec: CheckSpec;
  /** Paths that do not count as files of the check, such as the plan file. */
  readonly exclude: readonly string[];
  /** State of its files when it was asked for; absent in rows of 0.1.0, null: unknown. */
  readonly before?: string | null;
  readonly state: 'asked' | 'running' | 'finished' | 'cancelled';
  readonly askers: readonly CheckAsker[];
  readonly askedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly finding: CheckFinding | null;
}

/** What the system saw, kept for people: one row for each check that was run for a session. */
export interface EvidenceRow extends CheckResult {
  readonly sessionId: string;
  readonly todoId: string | null;
  readonly flaky: boolean;
  readonly fingerprint: string | null;
  /** A human's answer: a check with the same name that a machine ran earlier is none. */
  readonly human?: true;
}

/**
 * human: said by a person or, to a worker, by the agent that sent it. agent, tools: one step's answer and results.
 * held: an answer that was held back, kept for the model. continuation, note: said by the system. summary: stands for
 * everything before it.
 */
export type MessageKind = 'human' | 'agent' | 'tools' | 'held' | 'continuation' | 'note' | 'summary';

/** What our own agent keeps of a conversation, so that a run goes on after a crash; the body is a JSON text. */
export interface MessageRow {
  /** Counts from 1 in each session; given by the store. */
  readonly sequence: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly at: number;
  readonly kind: MessageKind;
  readonly body: string;
}

/** A tool call of our own agent, from before it starts until its step is written down. */
export interface CallRow {
  readonly sessionId: string;
  readonly callId: string;
  /** The step that made the call; its messages are written when it ends. */
  readonly stepId: string;
  readonly tool: string;
  /** Only calls that read may be made again after a crash. */
  readonly readOnly: boolean;
  readonly input: string;
  readonly startedAt: number;
  /** null: it was started and nothing is known of its end. */
  readonly result: string | null;
  readonly endedAt: number | null;
}

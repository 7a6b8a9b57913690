// The queue of checks, part of the store port: what was asked for, who waits for it, and what was seen. One run serves
// everyone who asked for the same check on the same state of the workspace while it was waiting or running.
import type { CheckResult, CheckSpec } from '../core/check-spec.ts';
import type { Awaitable } from './store.ts';

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
export interface CheckVerdict extends CheckResult {
  /** It failed first and passed when it was run once more. */
  readonly flaky: boolean;
  /** State of the files that the check depends on, when it was asked for and after it; null: it could not be taken. */
  readonly before: string | null;
  readonly after: string | null;
}

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
  readonly verdict: CheckVerdict | null;
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

export interface CheckQueueReader {
  checkRun(id: string): Awaitable<CheckRun | null>;
  /** Asked or running in this folder, in the order in which they were asked for. */
  activeCheckRuns(directory: string): Awaitable<CheckRun[]>;
  /** Newest first. */
  evidence(sessionId: string, limit: number): Awaitable<EvidenceRow[]>;
}

export interface CheckQueueWriter {
  /** Writes the run, new or known. */
  saveCheckRun(run: CheckRun): Awaitable<void>;
  addEvidence(row: EvidenceRow): Awaitable<void>;
}

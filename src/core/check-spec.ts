// What a check is: a condition that the system runs to prove a todo or the goal (V1). Pure descriptions; running them
// is the business of src/checks. A shell line can only come from a human: agents propose argv or a name (V3).

interface CheckBase {
  /** Unique within a policy; what todos, evidence and messages name it by. */
  readonly id: string;
  /** Files whose change makes the evidence stale; empty: the whole workspace. */
  readonly files: readonly string[];
  readonly timeoutMs: number;
}

export interface CommandCheck extends CheckBase {
  readonly kind: 'command';
  /** argv, or one shell line that a human wrote. */
  readonly command: readonly string[] | { readonly shell: string };
  /** Relative to the workspace. */
  readonly directory: string | null;
  readonly expectExit: number;
  /** A pattern that the output must match, besides the exit status. */
  readonly expectOutput: string | null;
  /** Names of environment variables that the command gets besides the harmless ones. */
  readonly environment: readonly string[];
}

export interface FileCheck extends CheckBase {
  readonly kind: 'file';
  readonly path: string;
  readonly expect: 'exists' | 'absent' | { readonly matches: string };
}

export interface HttpCheck extends CheckBase {
  readonly kind: 'http';
  readonly url: string;
  readonly expectStatus: number;
  readonly expectBody: string | null;
  /** Only loopback unless the human says otherwise. */
  readonly anyHost: boolean;
}

export interface HumanCheck extends CheckBase {
  readonly kind: 'human';
  readonly question: string;
}

/** The id of the check that the system makes from `protect`. */
export const protectedPathsId = 'protected paths';

/** Paths that must be as they were at the human's message. Made by the system from `protect`. */
export interface ProtectedCheck extends CheckBase {
  readonly kind: 'protected';
  /** Key in the store of what stood there then. */
  readonly baseline: string;
}

export type CheckSpec = CommandCheck | FileCheck | HttpCheck | HumanCheck | ProtectedCheck;

/** What the system saw when it ran a check once. */
export interface CheckResult {
  readonly check: string;
  readonly result: 'passed' | 'failed';
  /** In words for people and models: the command, what was expected, what came. */
  readonly sentence: string;
  readonly exitCode: number | null;
  readonly milliseconds: number;
  /** The end of the output, capped, secrets masked. */
  readonly tail: string;
  /** It was ended because its time was over. */
  readonly timedOut: boolean;
  readonly at: number;
}

// How much one tool call may read, print, run and wait. Every number protects the model's context or the
// human's machine; each tool says in its answer when one of them cut something.

export interface WorkspaceLimits {
  /** Lines that read_file returns when the model names no limit. */
  readonly readLines: number;
  /** Characters that any one answer may hold; a command's output keeps its head and its tail. */
  readonly outputCharacters: number;
  /** Characters of one line; minified files have lines of megabytes. */
  readonly lineCharacters: number;
  /** Bytes of a file that edit_file and grep take into memory. */
  readonly fileBytes: number;
  /** Names that list_directory and glob return. */
  readonly entries: number;
  /** Names that one walk looks at before it gives up; above it the answer says so. */
  readonly walkedEntries: number;
  readonly grepMatches: number;
  /** Time of a whole grep, the pattern included: long enough for a big tree, short for a hopeless pattern. */
  readonly grepMs: number;
  readonly commandMs: number;
  readonly maxCommandMs: number;
  /** From SIGTERM to SIGKILL. Too short loses what a program would still have written. */
  readonly endGraceMs: number;
  readonly runningJobs: number;
  /** How long read_job may wait for something new. */
  readonly maxJobWaitMs: number;
}

export const defaultLimits: WorkspaceLimits = {
  readLines: 2000,
  outputCharacters: 30_000,
  lineCharacters: 2000,
  fileBytes: 4_000_000,
  entries: 500,
  walkedEntries: 200_000,
  grepMatches: 200,
  grepMs: 10_000,
  commandMs: 120_000,
  maxCommandMs: 1_800_000,
  endGraceMs: 2000,
  runningJobs: 8,
  maxJobWaitMs: 30_000,
};

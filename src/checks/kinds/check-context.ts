// What a check is run with, and what every kind of check answers.

export interface CheckContext {
  /** The workspace. */
  readonly directory: string;
  /** Ends the check; what it answers then is no evidence. */
  readonly signal: AbortSignal;
  /** The environment of this process: commands get a short list of it, and its secrets are masked. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Marks the processes of a command as beneath this session, so that none of them can approve anything. */
  readonly session?: string;
  /** What stood under protected paths at the human's message, by its key; null: nothing is kept under it. */
  readonly readBaseline?: (key: string) => Promise<string | null>;
}

/** What one kind saw. Sentence and tail are plain text, and no secret of the environment stands in them. */
export interface Observation {
  readonly passed: boolean;
  readonly sentence: string;
  readonly tail: string;
  readonly exitCode?: number | null;
  readonly timedOut?: boolean;
}

/** How long a pattern may be matched; an honest one needs microseconds. */
export const matchMs = 2000;

// Time and identity, so that tests can simulate both.

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

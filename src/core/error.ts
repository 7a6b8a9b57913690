// The one error class, for broken promises such as a full disk, and the value for a
// refusal. Programs may match `code`.

/** What went wrong, for programs; the message is for people. */
export type ErrorCode =
  | 'store-newer'
  | 'store-older'
  | 'store-corrupt'
  | 'store-full'
  | 'store-read-only'
  | 'store-busy'
  | 'store-unavailable'
  | 'unknown-event'
  | 'invalid-event'
  | 'invalid-config'
  | 'unknown-session'
  | 'session-taken'
  | 'usage';

/** Every error that this package throws on purpose: a stable `code`, and one sentence. */
export class UntildoneError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UntildoneError';
    this.code = code;
  }
}

/** A refusal in one sentence: an expected outcome, and no error. */
export type Refusal = Readonly<{ ok: false; error: string }>;

/** Makes a refusal. */
export function refuse(error: string): Refusal {
  return { ok: false, error };
}

/** The message of an error, or of anything else that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

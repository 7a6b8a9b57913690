// The one error class, and the value for what is simply refused. Expected outcomes are values; the error is for broken
// promises (a damaged store, a full disk). `code` is stable and may be matched; `message` is a sentence for people.

export type ErrorCode =
  | 'store-newer'
  | 'store-corrupt'
  | 'store-full'
  | 'store-read-only'
  | 'store-busy'
  | 'store-unavailable'
  | 'unknown-event'
  | 'invalid-event'
  | 'invalid-config'
  | 'unknown-session'
  | 'usage';

export class UntildoneError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UntildoneError';
    this.code = code;
  }
}

export interface Refusal {
  readonly ok: false;
  readonly error: string;
}

export function refuse(error: string): Refusal {
  return { ok: false, error };
}

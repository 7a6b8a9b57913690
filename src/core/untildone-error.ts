// The one error class. Expected outcomes are values; this is for broken promises (a damaged store, a full disk).
// `code` is stable and may be matched; `message` is a sentence for people and may change.

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

// Turns what the driver and the file system throw into UntildoneError: a stable code and a sentence that says
// what to do. It never hides the cause, and it never guesses that a damaged store might be fine.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ErrorCode, UntildoneError } from '../../core/untildone-error.ts';

/** SQLite's primary result codes; the low byte of an extended one. */
const codes: Readonly<Record<number, ErrorCode>> = {
  3: 'store-read-only', // PERM
  5: 'store-busy', // BUSY
  6: 'store-busy', // LOCKED
  8: 'store-read-only', // READONLY
  11: 'store-corrupt', // CORRUPT
  13: 'store-full', // FULL
  14: 'store-unavailable', // CANTOPEN
  15: 'store-busy', // PROTOCOL: lost a race for WAL locks, which is worth another try
  26: 'store-corrupt', // NOTADB
};

/** Extended codes of IOERR that say more than "an I/O error". */
const extendedCodes: Readonly<Record<number, ErrorCode>> = {
  522: 'store-corrupt', // IOERR_SHORT_READ: the file is shorter than it says
  4874: 'store-full', // IOERR_SHMSIZE: no room for the shared index of the WAL
  8458: 'store-corrupt', // IOERR_CORRUPTFS
};

const systemCodes: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'store-read-only',
  EPERM: 'store-read-only',
  EROFS: 'store-read-only',
  ENOSPC: 'store-full',
  EDQUOT: 'store-full',
};

const sentences: Readonly<Partial<Record<ErrorCode, string>>> = {
  'store-busy': 'is locked by another process that does not let go; end that process and try again.',
  'store-corrupt':
    'is damaged; move it (with its -wal and -shm files) out of the way, or put a backup in its place.',
  'store-full':
    'cannot grow because the disk is full; free some space and try again. Nothing was half-written.',
  'store-read-only':
    'cannot be written; give yourself write access to it and its directory, or set UNTILDONE_HOME.',
  'store-unavailable': 'cannot be used; see the cause, or set UNTILDONE_HOME to another directory.',
};

interface DriverError {
  /** Node: SQLite's extended result code. */
  readonly errcode?: unknown;
  /** Bun: the same. File system errors: a negative number. */
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

export function toStoreError(error: unknown, path: string): UntildoneError {
  if (error instanceof UntildoneError) return error;
  const code = refine(codeOf(error), path);
  const detail = String((error as DriverError | null)?.message ?? error);
  return new UntildoneError(code, `The store at ${path} ${sentences[code]} (${detail})`, error);
}

export function isBusy(error: unknown): boolean {
  return error instanceof UntildoneError ? error.code === 'store-busy' : codeOf(error) === 'store-busy';
}

function codeOf(error: unknown): ErrorCode {
  const { errcode, errno, code } = (error ?? {}) as DriverError;
  const result = typeof errcode === 'number' ? errcode : errno;
  if (typeof result === 'number' && result > 0) {
    return extendedCodes[result] ?? codes[result & 0xff] ?? 'store-unavailable';
  }
  if (error instanceof SyntaxError) return 'store-corrupt';
  return (typeof code === 'string' && systemCodes[code]) || 'store-unavailable';
}

/** SQLite says only "unable to open" when it may not create the files that stand beside the database. */
function refine(code: ErrorCode, path: string): ErrorCode {
  if (code !== 'store-unavailable') return code;
  try {
    accessSync(nearestDirectory(path), constants.W_OK);
    return code;
  } catch (error) {
    // It cannot be written; its own error says why, and if that says nothing new the code stays what it was.
    const reason = (error as DriverError).code;
    return (typeof reason === 'string' && systemCodes[reason]) || code;
  }
}

/** Where the path begins to be missing: making a directory in a read-only place says only "no such directory". */
function nearestDirectory(path: string): string {
  let place = dirname(path);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

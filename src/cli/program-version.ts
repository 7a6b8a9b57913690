// The version of this program, as the build wrote it in.

/** A run from source has no published version. */
declare const UNTILDONE_VERSION: string | undefined;

export const programVersion: string =
  typeof UNTILDONE_VERSION === 'string' ? UNTILDONE_VERSION : '0.0.0-source';

// Sentences for the errors of the file system that a model can cause and can act on.

export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not possible: a part of it is a file, not a folder',
  EISDIR: 'is a folder, not a file',
  EEXIST: 'exists already',
  EACCES: 'may not be accessed: permission denied',
  EPERM: 'may not be changed: operation not permitted',
  ELOOP: 'runs through symbolic links that form a loop or changed meanwhile',
  ENAMETOOLONG: 'is too long for the file system',
  ENOSPC: 'could not be written: the disk is full',
  EROFS: 'could not be written: the file system is read-only',
  EMFILE: 'could not be opened: too many open files; try again',
};

export function explainFileError(error: unknown, shown: string): string {
  const code = errorCode(error);
  return `${shown} ${sentences[code] ?? `could not be used (${code})`}.`;
}

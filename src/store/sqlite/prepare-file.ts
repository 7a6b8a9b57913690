// Makes the place for a store before SQLite opens it: directory 0700, file 0600, since plans may hold secrets.
// It never opens a file that exists: closing it again would drop the locks that this process holds on it.
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UntildoneError } from '../../core/untildone-error.ts';
import { makeFolder } from '../../engine/make-folder.ts';
import { toStoreError } from './store-errors.ts';

export function prepareFile(path: string): void {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) {
      throw new UntildoneError(
        'store-unavailable',
        `The store at ${path} is a directory; name a file instead.`,
      );
    }
    if (found) return;
    makeFolder(dirname(path), 0o700);
    createFile(path);
  } catch (error) {
    throw toStoreError(error, path);
  }
}

function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process created it in this very moment: it is there, which is all that was wanted.
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  }
}

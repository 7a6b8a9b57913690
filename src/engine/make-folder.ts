// Makes a folder and those above it that are missing. Node's own way never ends where a file system says that the
// folder above does not exist although it does (/proc): here every folder is tried once.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws what the file system said where a folder cannot be made. */
export function makeFolder(path: string, mode: number): void {
  const missing: string[] = [];
  for (let folder = path; !isThere(folder); folder = dirname(folder)) {
    missing.unshift(folder);
    if (dirname(folder) === folder) break;
  }
  for (const folder of missing) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Safe: another process made it in the meantime, and that is all we wanted.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** A file in the way counts as there: what comes next fails with the right word for it. */
function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

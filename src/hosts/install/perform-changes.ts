// Carries out planned changes of files: all of them, or, when one fails, none. The record of a file is written before
// the file, so that a crash between the two leaves a record that matches nothing and an uninstall that takes out keys.
import type { FileChange } from './file-change.ts';
import { dropRecord, type FileRecord, saveRecord } from './install-record.ts';
import { errorCode, removeEmptyFolders, replaceSettingsFile } from './settings-file.ts';

/** Null: done. Else a sentence, and every file is as it was. */
export function performChanges(changes: readonly FileChange[], stateDirectory: string): string | null {
  const done: FileChange[] = [];
  for (const change of changes) {
    const problem = performOne(change, stateDirectory);
    done.push(change);
    if (problem === null) continue;
    for (const earlier of done.toReversed()) undo(earlier, stateDirectory);
    return `${change.shownPath} ${problem}. Nothing was changed.`;
  }
  return null;
}

function performOne(change: FileChange, stateDirectory: string): string | null {
  try {
    // A record that goes is kept until the file is back as it was.
    if (change.recordAfter !== null) saveRecord(stateDirectory, change.recordAfter);
  } catch (error) {
    // Safe: the file was not touched yet.
    return `cannot be changed, because its backup cannot be written to ${stateDirectory} (${errorCode(error)})`;
  }
  const problem = change.after === change.before ? null : replaceSettingsFile(change);
  if (problem !== null) return problem;
  if (change.after === null) removeEmptyFolders(change.recordBefore?.folders ?? []);
  if (change.recordAfter === null) dropRecord(stateDirectory, change.path);
  return null;
}

function undo(change: FileChange, stateDirectory: string): void {
  const { path, before, after, isPrivate, recordBefore, recordAfter } = change;
  // Of the one that failed nothing was written; then the text is not `after`, and this does nothing.
  if (after !== before) replaceSettingsFile({ path, before: after, after: before, isPrivate });
  if (before === null) removeEmptyFolders(recordAfter?.folders ?? []);
  restoreRecord(stateDirectory, path, recordBefore);
}

function restoreRecord(stateDirectory: string, path: string, record: FileRecord | null): void {
  try {
    if (record === null) dropRecord(stateDirectory, path);
    else saveRecord(stateDirectory, record);
  } catch {
    // Safe: a record that does not match its file only means that uninstalling goes by what it recognises.
  }
}

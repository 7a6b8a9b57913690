// Where a hook says what went wrong when it let the agent go without deciding: one line of JSON in the state
// directory, beside the store that may be the very thing that is broken. Never environment values, never payloads.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { escapeJsonLine, oneLine } from '../../core/safe-text.ts';
import { makeFolder } from '../../engine/make-folder.ts';

const hookLogName = 'hook.log';

/** Some thousand lines; an older half is kept beside it. */
const mostBytes = 1_048_576;

export interface HookFailure {
  readonly at: number;
  readonly host: string;
  readonly hook: string | null;
  readonly sessionId: string | null;
  readonly code: string;
  readonly message: string;
}

export function appendFailure(directory: string, failure: HookFailure): void {
  const path = join(directory, hookLogName);
  try {
    makeFolder(directory, 0o700);
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > mostBytes) renameSync(path, `${path}.1`);
    const line = JSON.stringify({ ...failure, message: oneLine(failure.message, 500) });
    appendFileSync(path, `${escapeJsonLine(line)}\n`, { mode: 0o600 });
  } catch {
    // The directory itself cannot be written: there is no place left to say so, and the agent must not suffer.
  }
}

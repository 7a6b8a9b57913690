// Files that are ours from the first byte to the last, such as a plugin file. They are known by their first line: a file
// of the same name that a person wrote is neither overwritten nor taken away.
import type { Edited, WholeEdit } from './edit.ts';

/** The beginning of every such file, in whatever version. */
export const wholeFileMark = '// Written by untildone';

/** Of several installs in one file the last one counts. */
export function applyWholeEdits(text: string, edits: readonly WholeEdit[]): Edited {
  if (text !== '' && !isOurs(text)) {
    return { ok: false, sentence: 'is there already, and untildone did not write it' };
  }
  return { ok: true, text: edits.at(-1)?.text ?? text, kept: [] };
}

export function removeWholeEdits(text: string, edits: readonly WholeEdit[]): Edited {
  return { ok: true, text: edits.length > 0 && isOurs(text) ? '' : text, kept: [] };
}

function isOurs(text: string): boolean {
  return text.startsWith(wholeFileMark);
}

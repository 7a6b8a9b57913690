// The text of a file with the edits that an install wants in it, whatever its format: put in, taken out, recognised.
// It reads and writes no file.
import type { Edit, Edited, JsonEdit, KeyPath, LineEdit, WholeEdit } from './edit.ts';
import { hasJsonPath, isPlainJson } from './json-document.ts';
import { applyJsonEdits, removeJsonEdits } from './json-edits.ts';
import { applyLineEdits, removeLineEdits } from './line-edits.ts';
import { applyWholeEdits, removeWholeEdits } from './whole-edits.ts';

/** A file of a host, with what an install wants in it. */
export interface FileTarget {
  readonly path: string;
  readonly format: 'json' | 'lines' | 'whole';
  /** Nobody else writes into it: it goes as soon as nothing of ours is left in it. */
  readonly isOurs?: true;
  /** The host reads plain JSON only and ignores a file with comments as a whole. */
  readonly refusesComments?: true;
  /** Only its owner may read it, should it be made. */
  readonly isPrivate?: true;
  readonly edits: readonly Edit[];
}

/** Those that change the file as it is without us. */
export function ownEdits(original: string | null, target: FileTarget, host: string): Edit[] {
  return target.edits.filter((edit) => {
    const applied = applyEdits(original ?? '', [edit], target, host);
    return applied.ok && applied.text !== (original ?? '');
  });
}

export function applyEdits(
  text: string,
  edits: readonly Edit[],
  { format }: FileTarget,
  host: string,
): Edited {
  switch (format) {
    case 'json':
      return applyJsonEdits(text, edits as readonly JsonEdit[], host);
    case 'lines':
      return applyLineEdits(text, edits as readonly LineEdit[]);
    case 'whole':
      return applyWholeEdits(text, edits as readonly WholeEdit[]);
  }
}

/** @param original what says whether an emptied object was there before us; undefined: nobody knows, and it goes */
export function removeEdits(
  text: string,
  edits: readonly Edit[],
  { format }: FileTarget,
  host: string,
  original: string | null | undefined,
): Edited {
  if (format === 'lines') return removeLineEdits(text, edits as readonly LineEdit[]);
  if (format === 'whole') return removeWholeEdits(text, edits as readonly WholeEdit[]);
  const mayEmpty = (path: KeyPath) =>
    original === undefined || original === null || !hasJsonPath(original, path);
  return removeJsonEdits(text, edits as readonly JsonEdit[], host, mayEmpty);
}

/** A hook command, a key with our name, our package pinned: signs that no person would have written by chance. */
export function hasOurMark(text: string, target: FileTarget, host: string): boolean {
  const marks = target.isOurs ? target.edits : target.edits.filter(isMark);
  const bare = removeEdits(text, marks, target, host, text);
  return bare.ok && bare.text !== text;
}

function isMark(edit: Edit): boolean {
  return edit.kind === 'hook' || edit.kind === 'package' || (edit.kind === 'member' && edit.named === true);
}

export function notesOn(target: FileTarget, text: string, kept: readonly Edit[]): string[] {
  const notes = kept.flatMap((edit) =>
    edit.kind === 'member'
      ? [
          `${target.path} keeps its own value of "${edit.path.join('.')}"; ours would be ${JSON.stringify(edit.value)}.`,
        ]
      : [],
  );
  const isIgnored = target.refusesComments && !isPlainJson(text);
  return isIgnored
    ? [
        ...notes,
        `${target.path} has comments or trailing commas, and the host ignores such a file as a whole: take them out.`,
      ]
    : notes;
}

/** Nothing but an empty object, or nothing at all. */
export function isBare(text: string): boolean {
  return /^\uFEFF?\s*(?:\{\s*\})?\s*$/.test(text);
}

// What one file becomes by installing or uninstalling: the text before and after, and the record to keep. It decides
// and writes nothing. A file that nobody edited since goes back byte for byte; else only what is ours is taken out.
import { isDeepStrictEqual } from 'node:util';
import type { Edit } from './edit.ts';
import { type FileRecord, type Install, isSameInstall, readRecord } from './install-record.ts';
import { hashText, readSettingsFile, whyNotWritable } from './settings-file.ts';
import {
  applyEdits,
  type FileTarget,
  hasOurMark,
  isBare,
  notesOn,
  ownEdits,
  removeEdits,
} from './target-text.ts';

export interface FileChange {
  /** As the target names it. */
  readonly shownPath: string;
  /** Behind links. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly isPrivate: boolean;
  readonly recordBefore: FileRecord | null;
  /** Null: nothing of ours is left in the file. */
  readonly recordAfter: FileRecord | null;
  /** Sentences for people. */
  readonly notes: readonly string[];
}

export type PlannedChange =
  | { readonly ok: true; readonly change: FileChange }
  | { readonly ok: false; readonly problem: string };

type Identity = Omit<Install, 'edits'>;

export function planInstall(target: FileTarget, identity: Identity, stateDirectory: string): PlannedChange {
  const file = readSettingsFile(target.path);
  if (!file.ok) return problem(target, file.sentence);
  const record = readRecord(stateDirectory, file.path);
  const standing = standingOf(file.text, record, target, identity);
  if (!standing.ok) return problem(target, standing.sentence);
  const { original, start, isRebuilt, installs, stale } = standing;
  const cleared = removeEdits(start, stale, target, identity.host, original);
  if (!cleared.ok) return problem(target, cleared.sentence);
  // In the order of the record, so that installing once more gives the same text. What a person took out of an
  // edited file of another install is not put back. Of whole texts the newest counts.
  const wanted =
    isRebuilt && target.format !== 'whole'
      ? installs.flatMap((install) => (isSameInstall(install, identity) ? target.edits : install.edits))
      : target.edits;
  const next = applyEdits(cleared.text, wanted, target, identity.host);
  if (!next.ok) return problem(target, next.sentence);
  const owned = ownEdits(original, target, identity.host);
  const mine = { ...identity, edits: owned };
  const installsAfter = installs
    .map((install) => (isSameInstall(install, identity) ? mine : install))
    .filter(({ edits }) => edits.length > 0);
  const after = next.text === '' && file.text === null ? null : next.text;
  const notWritable = after === file.text ? null : whyNotWritable(file.path);
  if (notWritable !== null) return problem(target, notWritable);
  const recordAfter = {
    path: file.path,
    original,
    writtenHash: hashText(next.text),
    folders: record?.original === null && file.text !== null ? record.folders : file.missingFolders,
    installs: installsAfter,
  };
  return {
    ok: true,
    change: {
      ...describeChange(target, file, after),
      ...{ recordBefore: record, recordAfter: installsAfter.length === 0 ? null : recordAfter },
      notes: notesOn(target, next.text, next.kept),
    },
  };
}

export function planUninstall(target: FileTarget, identity: Identity, stateDirectory: string): PlannedChange {
  const file = readSettingsFile(target.path);
  if (!file.ok) return problem(target, file.sentence);
  const record = readRecord(stateDirectory, file.path);
  const others = record?.installs.filter((install) => !isSameInstall(install, identity)) ?? [];
  const mine = record?.installs.find((install) => isSameInstall(install, identity));
  const after =
    file.text === null ? null : withoutInstall(file.text, record, mine, others, target, identity.host);
  if (after !== null && typeof after !== 'string') return problem(target, after.sentence);
  const notWritable = after === file.text ? null : whyNotWritable(file.path);
  if (notWritable !== null) return problem(target, notWritable);
  const isOver = record === null || others.length === 0 || after === null;
  return {
    ok: true,
    change: {
      ...describeChange(target, file, after),
      recordBefore: record,
      recordAfter: isOver ? null : { ...record, writtenHash: hashText(after), installs: others },
      notes: [],
    },
  };
}

/** What becomes of the file, apart from our record of it. */
function describeChange(
  target: FileTarget,
  file: { readonly path: string; readonly text: string | null },
  after: string | null,
) {
  return {
    shownPath: target.path,
    path: file.path,
    before: file.text,
    after,
    isPrivate: target.isPrivate === true,
  };
}

/** Null: the file goes. */
function withoutInstall(
  text: string,
  record: FileRecord | null,
  mine: Install | undefined,
  others: readonly Install[],
  target: FileTarget,
  host: string,
): string | null | { readonly sentence: string } {
  if (record !== null && hashText(text) === record.writtenHash) {
    if (others.length === 0) return record.original;
    const rebuilt = applyEdits(
      record.original ?? '',
      others.flatMap(({ edits }) => edits),
      target,
      host,
    );
    return rebuilt.ok ? rebuilt.text : rebuilt;
  }
  // Without a record, what we would add is taken out where our own mark shows that it was us who added it.
  const edits = mine?.edits ?? (hasOurMark(text, target, host) ? target.edits : []);
  const left = removeEdits(text, edits, target, host, record === null ? undefined : record.original);
  if (!left.ok) return left;
  const isMadeByUs = target.isOurs === true || record?.original === null;
  return isBare(left.text) && isMadeByUs && others.length === 0 ? null : left.text;
}

type Standing =
  | {
      readonly ok: true;
      /** Without anything of ours. */
      readonly original: string | null;
      /** What the new text is made from. */
      readonly start: string;
      /** It is made from the original: nobody edited the file. */
      readonly isRebuilt: boolean;
      /** All installs in the file, this one among them. */
      readonly installs: readonly Install[];
      /** Of an earlier install of ours, and no longer wanted. */
      readonly stale: readonly Edit[];
    }
  | { readonly ok: false; readonly sentence: string };

function standingOf(
  text: string | null,
  record: FileRecord | null,
  target: FileTarget,
  identity: Identity,
): Standing {
  const mine: Install = { ...identity, edits: target.edits };
  if (text === null) {
    return { ok: true, original: null, start: '', isRebuilt: true, installs: [mine], stale: [] };
  }
  const recorded = record?.installs ?? [];
  const earlier = recorded.find((install) => isSameInstall(install, identity));
  const installs = earlier === undefined ? [...recorded, mine] : recorded;
  if (record !== null && hashText(text) === record.writtenHash) {
    const { original } = record;
    return { ok: true, original, start: original ?? '', isRebuilt: true, installs, stale: [] };
  }
  // Edited since, or never ours, or the record is lost and only our mark in the file tells.
  const isOurs = record === null && hasOurMark(text, target, identity.host);
  const known = isOurs ? target.edits : recorded.flatMap(({ edits }) => edits);
  const bare = removeEdits(text, known, target, identity.host, record === null ? undefined : record.original);
  if (!bare.ok) return bare;
  const stale = (earlier?.edits ?? []).filter((old) => !target.edits.some((edit) => replaces(edit, old)));
  // A file that was made for us and holds nothing else is not a person's, whoever rewrote it since.
  const isMadeByUs = target.isOurs === true || record?.original === null;
  const original = isBare(bare.text) && isMadeByUs ? null : bare.text;
  return { ok: true, original, start: text, isRebuilt: false, installs, stale };
}

/** Equal, or put in the old one's very place. */
function replaces(edit: Edit, old: Edit): boolean {
  if (isDeepStrictEqual(edit, old)) return true;
  if (edit.kind === 'whole') return old.kind === 'whole';
  if (edit.kind === 'line' || old.kind === 'line' || old.kind === 'whole') return false;
  if (!isDeepStrictEqual(edit.path, old.path)) return false;
  const takesPlaceOf =
    edit.kind === 'hook' || edit.kind === 'package' || (edit.kind === 'member' && edit.named);
  return takesPlaceOf === true && edit.kind === old.kind;
}

function problem({ path }: FileTarget, sentence: string): PlannedChange {
  return { ok: false, problem: `${path} ${sentence}.` };
}
